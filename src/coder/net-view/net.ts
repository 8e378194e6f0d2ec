/** The difference between the tree after a checkpoint, or at a place in the feed, and the tree on disk. */
import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import type { Cause, FeedChange } from "../../filesystem/feed/change.ts";
import type { Feed } from "../../filesystem/feed/feed.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import type { RecordedState } from "../../filesystem/journal/frame.ts";
import { isAsRecorded } from "../../filesystem/journal/is-as-recorded.ts";
import { type JournalRecord, readRecords } from "../../filesystem/journal/read-record.ts";
import { rewind } from "../../filesystem/journal/rewind.ts";
import { type CurrentTree, type RewoundEntry, RewoundTree } from "../../filesystem/journal/rewound-tree.ts";
import { isShown } from "../checkpoints/recorded-paths.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import { areEqual, diskView, type EntryThen, type NetDifference, nothing } from "./file-diff.ts";
import { filesBelow, maxFilesBelow } from "./files-below.ts";

/** The changes between then and now. */
export interface NetChanges {
  /** The changes, ordered so that a patch can make them. */
  readonly changes: readonly NetDifference[];
  /** The records of the calls that made them, by number. */
  readonly records: ReadonlyMap<number, JournalRecord>;
  /** The new folders with more files than are among the changes. */
  readonly incomplete: ReadonlySet<string>;
}

interface Since {
  /** The number of the last record that is older. */
  readonly checkpoint: number;
  /** The changes of the feed since then. */
  readonly events: readonly FeedChange[];
}

/**
 * Finds each path that differs, once. In a folder that another program has made, it leaves out files that
 * are hidden. Throws the errno error of reading the journal.
 */
export async function findNetChanges(
  { checkpoint, events }: Since,
  context: CoderContext,
  isHidden: (path: string, isFolder: boolean) => boolean,
): Promise<NetChanges> {
  const { journal, jail, feed } = context;
  const disk = diskView(context);
  const tree = new RewoundTree(disk);
  const records = new Map<number, JournalRecord>();
  const left = new Map<string, LeftByRecord>();
  const pause = pauseOf(context);
  if (journal !== undefined)
    for await (const record of readRecords(journal, { pause })) {
      if (record.seq <= checkpoint) break;
      records.set(record.seq, record);
      for (const { path, after } of record.steps.toReversed())
        if (!left.has(path)) left.set(path, { state: after.state, seq: record.seq });
      await rewind(tree, record, { source: journal, isShown: (step) => isShown(step, jail), pause });
    }
  const found = new Net({ tree, disk, left, feed });
  for (const [path, entry] of tree.entries) {
    found.addEarlier(path, entry);
    await pause();
  }
  for (const { path, now, seqs } of found.mergedFolders)
    for (const file of await filesBelow(now, context)) {
      const inside = file.slice(now.length);
      found.addInside(`${path}${inside}`, { now: file, seqs });
    }
  for (const [path, seqs] of tree.created) found.addCreated(path, seqs);
  await found.addEvents(events, pause);
  for (const folder of found.newFolders()) {
    if (isHidden(folder, true)) continue;
    const files = await filesBelow(folder, context, { leavesOutIgnored: true });
    await found.addFilesIn(
      folder,
      files.filter((file) => !isHidden(file, false)),
      pause,
    );
    if (files.length >= maxFilesBelow) found.incomplete.add(folder);
  }
  const changes = [];
  for (const change of await found.changes(pause))
    changes.push(
      change.kind === "moved" && change.after.state.kind === "dir"
        ? { ...change, inside: await found.unchangedIn(change, context) }
        : change,
    );
  return { changes, records, incomplete: found.incomplete };
}

/** Changes of a path that no record has. */
interface Unrecorded {
  /** The first change, whose number the content before it is kept under. */
  readonly first: FeedChange;
  /** The kind of a folder above that was made or moved there before: nothing, or other files, were in it. */
  readonly above: NewFolder["kind"] | undefined;
  /** Whether something was there before the first. */
  readonly wasThere: boolean;
  /** The path before, if it was moved. */
  readonly from: string | undefined;
  readonly causes: readonly Cause[];
}

/** A folder that another program has made, or moved to a path. */
interface NewFolder {
  /** Whether the path was free, so that nothing was in it. */
  readonly kind: "created" | "replaced";
  readonly cause: Cause;
}

/** An entry of the earlier tree, and its path now. */
interface Moved {
  readonly path: string;
  readonly now: string;
  readonly seqs: readonly number[];
}

interface LeftByRecord {
  readonly state: RecordedState;
  /** The number of the record. */
  readonly seq: number;
}

interface NetSources {
  readonly tree: RewoundTree;
  readonly disk: CurrentTree;
  /** The state that the newest record of each path has left there. */
  readonly left: ReadonlyMap<string, LeftByRecord>;
  readonly feed: Pick<Feed, "knownBefore">;
}

class Net {
  readonly #tree: RewoundTree;
  readonly #disk: CurrentTree;
  readonly #left: ReadonlyMap<string, LeftByRecord>;
  /** The changes by their current paths, or the earlier ones of removed entries. */
  readonly #changes = new Map<string, NetDifference>();
  /** The new folders with more files than were listed. */
  readonly incomplete = new Set<string>();
  /** The folders that were moved to the path of another one, or whose earlier path has one now. */
  readonly mergedFolders: Moved[] = [];
  /** The earlier paths of the changes. */
  readonly #earlier = new Map<string, string>();
  /** Paths that other programs and commands changed. */
  readonly #events = new Map<string, Unrecorded>();
  /** The paths of earlier changes of the feed that the journal has. */
  readonly #recorded = new Set<string>();
  /** The folders that these changes made or removed. */
  readonly #recordedFolders = new Set<string>();
  /** The paths of entries whose earlier content a change of the feed has put on record. */
  readonly #kept = new Set<string>();
  /** The earlier paths of entries that records have moved, by the current ones. */
  readonly #movedTo = new Map<string, string>();
  /** The earlier paths by those after the events so far; `undefined` if no earlier entry is known there. */
  readonly #movedSoFar = new Map<string, string | undefined>();
  /** The earlier paths of entries that another program changed too, and whose state before was found. */
  readonly #isKnownBefore = new Set<string>();
  /** The files that another program removed from a path before a record moved another one there. */
  readonly #freed = new Map<string, EntryThen | "unknown">();
  /** Folders that another program has made, or moved to a path. */
  readonly #newFolders = new Map<string, NewFolder>();

  readonly #feed: Pick<Feed, "knownBefore">;

  constructor({ tree, disk, left, feed }: NetSources) {
    this.#tree = tree;
    this.#disk = disk;
    this.#left = left;
    this.#feed = feed;
    for (const [path, { kind, now }] of tree.entries)
      if (kind === "disk" && now !== undefined && now !== path) this.#movedTo.set(now, path);
  }

  /** Adds the change of an entry of the earlier tree. */
  addEarlier(path: string, { kind, now = path, seqs }: RewoundEntry): void {
    if (kind === "absent") return;
    if (now === path || this.#after(now).state.kind === "absent") this.#compareAt(path, seqs);
    else if (this.#isPlainMove(path, now)) this.#addMoved(path, now, { seqs });
    else {
      if (this.#before(path).state.kind === "dir") this.mergedFolders.push({ path, now, seqs });
      for (const end of [path, now]) this.#compareAt(end, seqs);
    }
  }

  /** Adds a file that was moved with a folder whose contents have to be compared one by one. */
  addInside(path: string, { now, seqs }: Omit<Moved, "path">): void {
    if (this.#earlier.has(path) || this.#tree.entryAt(path).now !== now) return;
    // Another file had the path, and its change says what the path has now.
    if (this.#changes.has(now)) this.#compareAt(path, seqs);
    else if (this.#isPlainMove(path, now)) this.#addMoved(path, now, { seqs, isAlone: true });
    else for (const end of [path, now]) this.#compareAt(end, seqs);
  }

  /** Adds an entry that did not exist. */
  addCreated(path: string, seqs: readonly number[]): void {
    if (this.#changes.get(path)?.from === undefined) this.#compareAt(path, seqs);
  }

  /** Returns whether nothing else had the path now, or has the earlier path. */
  #isPlainMove(path: string, now: string): boolean {
    return [this.#after(path), this.#before(now)].every(({ state }) => state.kind === "absent");
  }

  #addMoved(
    from: string,
    path: string,
    { seqs, isAlone = false }: { readonly seqs: readonly number[]; readonly isAlone?: boolean },
  ): void {
    const [before, after] = [this.#before(from), this.#after(path)];
    const change = { path, from, before, after, seqs, others: [], unknown: this.#unknownAt(from) };
    if (isAlone || !this.#isMovedAlong(from, path)) this.#add({ kind: "moved", ...change });
    else if (!areEqual(before, after)) this.#add({ kind: "modified", ...change });
  }

  /** Adds the difference at a path, if any. */
  #compareAt(path: string, seqs: readonly number[]): void {
    const [before, after] = [this.#before(path), this.#after(path)];
    const unknown = this.#unknownAt(path);
    if (unknown === undefined && areEqual(before, after)) return;
    const [wasThere, isThere] = [before, after].map(({ state }) => state.kind !== "absent");
    const all = [...new Set([...(this.#changes.get(path)?.seqs ?? []), ...seqs])];
    const change = { path, before, after, seqs: all, others: [], unknown };
    if (wasThere || unknown !== undefined) this.#add({ kind: isThere ? "modified" : "deleted", ...change });
    else this.#add({ kind: "created", ...change });
  }

  #unknownAt = (path: string): string | undefined =>
    this.#tree.isUnknown(path) ? "the journal does not keep what it was" : undefined;

  /** Notes the changes of the feed that the journal does not have, in order. */
  async addEvents(events: readonly FeedChange[], pause: () => Promise<void>): Promise<void> {
    const own = new Set(events.flatMap(({ cause }) => (cause.by === "call" ? (cause.checkpoint ?? []) : [])));
    for (const event of events) {
      await pause();
      const { path, from, kind, cause, isGap = false, isFolder } = event;
      if (isGap || (isFolder && kind === "modified")) continue;
      if (cause.by !== "call" || cause.checkpoint === undefined) {
        this.#addUnlessRecorded(event, own);
        // A folder that is made there later is another one.
        const gone = kind === "deleted" ? path : from;
        if (isFolder && gone !== undefined) this.#newFolders.set(gone, { kind: "replaced", cause });
      } else {
        this.#followMove(event);
        for (const one of from === undefined ? [path] : [path, from]) {
          if (!this.#isRecorded(one)) this.#changeInNewFolder({ ...event, path: one });
          this.#recorded.add(one);
          if (isFolder && kind !== "moved") this.#recordedFolders.add(one);
        }
      }
    }
  }

  /**
   * Notes the earlier path of an entry that a record has moved, as long as no record has its content. The
   * next one that has it may have the content that another program wrote in between.
   */
  #followMove({ path, from, isFolder }: FeedChange): void {
    if (isFolder) return;
    const isKept = from === undefined || this.#kept.delete(from);
    const earlier = from === undefined ? undefined : (this.#movedSoFar.get(from) ?? from);
    if (from !== undefined) this.#movedSoFar.set(from, undefined);
    if (isKept) this.#kept.add(path);
    this.#movedSoFar.set(path, isKept ? undefined : earlier);
  }

  /** Changes the earlier state of an entry in a folder that was not there, or was a different one. */
  #changeInNewFolder(event: FeedChange): void {
    const { path } = event;
    const folder = this.#newFolderAbove(path);
    const at = this.#earlier.get(path) ?? path;
    const known = this.#changes.get(at);
    if (folder === undefined || known === undefined) return;
    this.#changes.set(at, { ...known, others: [...known.others, folder.cause] });
    this.#changeBefore(at, { ...event, kind: folder.kind === "created" ? "created" : "modified" });
  }

  #addUnlessRecorded(event: FeedChange, own: ReadonlySet<number>): void {
    const { path, from, isOverOther = false, cause } = event;
    const found = this.#changes.get(path) ?? this.#changes.get(this.#earlier.get(path) ?? "");
    const left = this.#left.get(path);
    const isOwn = found?.seqs.every((seq) => own.has(seq)) ?? (left !== undefined && own.has(left.seq));
    if (event.isFolder && event.kind !== "created") this.#loseBelow(event);
    if (this.#isRecorded(path)) this.#changeMoved(event);
    if (from !== undefined && this.#isRecorded(from)) this.#changeMoved({ ...event, path: from });
    // Calls of another process are external events here, and in the journal too.
    if (left !== undefined && !isOwn && isAsRecorded(left.state, this.#disk.state(path), false)) return;
    const known = found && this.#changes.get(found.path);
    if (known !== undefined) {
      this.#changes.set(known.path, { ...known, others: [...known.others, cause] });
      if (isOwn && !this.#isRecorded(path)) this.#changeBefore(known.path, event);
      if (from !== undefined && !this.#isRecorded(from))
        this.#addEvent({ ...event, path: from, kind: "deleted" });
    } else if (from !== undefined && isOverOther) {
      const { isFolder, seq } = event;
      this.#addUnlessRecorded({ path: from, kind: "deleted", isFolder, cause, seq }, own);
      this.#addUnlessRecorded({ path, kind: "modified", isFolder, cause, seq }, own);
    } else if (from !== undefined) this.#addMove(event, from);
    else if (!this.#isRecorded(path)) this.#addEvent(event);
    else if (!this.#isKnownBefore.has(path)) {
      this.#compareAt(path, []);
      const compared = this.#changes.get(path);
      if (compared === undefined) return;
      this.#changes.set(path, { ...compared, others: [cause] });
      this.#changeInNewFolder(event);
    }
  }

  /** Returns whether an earlier change of the feed is that of a record about this path. */
  #isRecorded(path: string): boolean {
    if (this.#recorded.has(path)) return true;
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
      if (this.#recordedFolders.has(path.slice(0, slash))) return true;
    return false;
  }

  /**
   * Notes that another program moved or removed a folder: later records name entries in it, or entries that
   * were moved into it are gone.
   */
  #loseBelow({ path, from = path, cause }: FeedChange): void {
    for (const known of [...this.#changes.values()]) {
      const { path: now, from: then = now, others } = known;
      const entry = this.#tree.entryAt(then);
      const place = this.#isRecorded(then) ? (entry.kind === "disk" ? entry.now : undefined) : then;
      if (![path, from].some((folder) => place?.startsWith(`${folder}/`))) continue;
      const all = [...others, cause];
      this.#changes.set(now, { ...known, others: all, unknown: notKept(all) });
    }
  }

  /** Changes the earlier state of an entry that another program changed before the first record about it. */
  #changeBefore(at: string, { path, kind, seq, isFolder, isOverOther = false }: FeedChange): void {
    const known = this.#changes.get(at)!;
    const isFile = [known.before, known.after].every(({ state }) => state.kind !== "dir") && !isFolder;
    if (!isFile || this.#isKnownBefore.has(path)) return;
    if (path !== (known.from ?? known.path)) {
      // Another program had freed the path before a record moved this entry there.
      if (path === known.path && kind !== "created" && !this.#freed.has(path))
        this.#freed.set(path, this.#knownBefore(path, seq) ?? "unknown");
      return;
    }
    this.#isKnownBefore.add(path);
    const seen = this.#newFolderAbove(path) ? undefined : this.#knownBefore(path, seq);
    const isThere = known.after.state.kind !== "absent";
    this.#changes.delete(at);
    if (seen === undefined && (kind === "created" || (kind === "moved" && !isOverOther))) {
      if (isThere) this.#addInPlace({ ...known, from: undefined });
      return;
    }
    if (seen !== undefined && known.from === undefined && areEqual(seen, known.after)) return;
    const change = isThere ? (known.from === undefined ? "modified" : "moved") : "deleted";
    this.#add({
      ...known,
      kind: change,
      before: seen ?? nothing,
      unknown: seen ? undefined : notKept(known.others),
    });
  }

  /** Adds the change of an entry that did not exist: it is new, or replaces the one that had its path. */
  #addInPlace(change: Omit<NetDifference, "kind" | "before">): void {
    const freed = this.#freed.get(change.path);
    if (freed === undefined) this.#add({ ...change, kind: "created", before: nothing });
    else if (freed === "unknown")
      this.#add({ ...change, kind: "modified", before: nothing, unknown: notKept(change.others) });
    else if (!areEqual(freed, change.after)) this.#add({ ...change, kind: "modified", before: freed });
  }

  /** Changes the content before of an entry that another program changed after a record had moved it. */
  #changeMoved({ path, seq, cause }: FeedChange): void {
    const from = this.#movedSoFar.has(path) ? this.#movedSoFar.get(path) : this.#movedTo.get(path);
    const at = from === undefined ? undefined : (this.#earlier.get(from) ?? from);
    const known = at === undefined ? undefined : this.#changes.get(at);
    const isOfEntry = from !== undefined && (known?.from ?? known?.path) === from;
    if (!isOfEntry || known?.before.state.kind !== "file" || this.#isKnownBefore.has(from)) return;
    this.#isKnownBefore.add(from);
    const seen = this.#knownBefore(path, seq);
    const before = seen ?? known.before;
    this.#add({ ...known, before, unknown: seen ? known.unknown : notKept([...known.others, cause]) });
  }

  /** Adds a move by another program. */
  #addMove(event: FeedChange, from: string): void {
    const { path, cause } = event;
    const recorded = this.#isRecorded(from) ? this.#changes.get(from) : undefined;
    if (recorded?.kind === "deleted" && recorded.from === undefined) {
      this.#changes.delete(from);
      const others = [...recorded.others, cause];
      this.#add({ ...recorded, kind: "moved", path, from, after: this.#after(path), others });
    } else if (this.#isRecorded(from)) this.#addEvent({ ...event, kind: "created" });
    else this.#addEvent(event, from);
  }

  #addEvent(event: FeedChange, from?: string): void {
    const { path, kind, cause, isFolder } = event;
    const earlier = this.#events.get(from ?? path);
    const above = earlier?.above ?? this.#newFolderAbove(from ?? path)?.kind;
    const wasThere = earlier?.wasThere ?? (kind !== "created" && above !== "created");
    const causes = [...(earlier?.causes ?? []), cause];
    const first = earlier?.first ?? event;
    if (isFolder && kind !== "deleted")
      this.#newFolders.set(path, {
        kind: kind === "created" && !earlier?.wasThere ? "created" : "replaced",
        cause,
      });
    if (from === undefined) {
      this.#events.set(path, { first, above, causes, wasThere, from: earlier?.from });
      return;
    }
    const replaced = this.#events.get(path);
    this.#events.set(from, { first, above, wasThere, from: undefined, causes });
    const origin = earlier?.from ?? (wasThere ? from : undefined);
    // An entry that did not exist replaces what was at its path.
    if (origin === undefined && replaced !== undefined)
      this.#events.set(path, { ...replaced, causes: [...replaced.causes, cause] });
    else this.#events.set(path, { first, above, causes, wasThere: false, from: origin });
  }

  /** Returns the folder above that another program has made or moved there, if any. */
  #newFolderAbove(path: string): NewFolder | undefined {
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const folder = this.#newFolders.get(path.slice(0, slash));
      if (folder !== undefined) return folder;
    }
    return undefined;
  }

  /** Returns the folders that other programs have made and that are still there, without those inside. */
  newFolders(): string[] {
    return [...this.#events].flatMap(([path, { wasThere, from, above }]) => {
      const isMade = this.#newFolders.get(path)?.kind === "created" && from === undefined;
      const isNew = isMade && !wasThere && above === undefined;
      return isNew && this.#after(path).state.kind === "dir" ? [path] : [];
    });
  }

  /**
   * Adds the files in a folder that another program has made. The feed has those that were made after the
   * worker had listed the folder.
   */
  async addFilesIn(folder: string, files: readonly string[], pause: () => Promise<void>): Promise<void> {
    const { first } = this.#events.get(folder)!;
    for (const path of files) {
      await pause();
      const isKnown = this.#events.has(path) || this.#changes.has(path) || this.#isRecorded(path);
      if (!isKnown) this.#addEvent({ ...first, path, kind: "created", isFolder: false });
    }
  }

  /** Returns the changes, ordered so that a patch can make them one by one. */
  async changes(pause: () => Promise<void>): Promise<NetDifference[]> {
    const movedAway = new Set([...this.#events.values()].map(({ from }) => from));
    for (const [path, event] of this.#events) {
      this.#addUnrecorded(path, event, movedAway.has(path));
      await pause();
    }
    const placed = [...this.#changes.values()].map((change) => ({ change, place: placeOf(change) }));
    const sorted = mergeSort(placed, (one, other) => one.place < other.place);
    return (await runInSlices(sorted, createTimeSlice())).map(({ change }) => change);
  }

  /** Returns the files in a moved folder that have no change of their own, relative to it. */
  async unchangedIn({ path }: NetDifference, context: CoderContext): Promise<string[]> {
    const inside = await filesBelow(path, context);
    return inside.filter((file) => !this.#changes.has(file)).map((file) => file.slice(path.length + 1));
  }

  #addUnrecorded(
    path: string,
    { first, above, wasThere, from, causes }: Unrecorded,
    isMovedAway: boolean,
  ): void {
    const after = this.#after(path);
    const isThere = after.state.kind !== "absent";
    const isMoved = isThere && from !== undefined && this.#after(from).state.kind === "absent";
    const isKept = (wasThere || isMoved) && above === undefined;
    const seen = isKept ? this.#knownBefore(first.from ?? first.path, first.seq) : undefined;
    const before = seen ?? (first.isFolder && !isThere ? someFolder : nothing);
    const known = { path, before, after, seqs: [], others: causes };
    const unknown = seen ? undefined : notKept(causes);
    if (isMoved) this.#add({ ...known, kind: "moved", from, unknown });
    else if (isThere && wasThere && seen && areEqual(seen, after)) return;
    else if (isThere && wasThere) this.#add({ ...known, kind: "modified", unknown });
    else if (isThere)
      this.#add({ ...known, kind: "created", unknown: above === "replaced" ? unknown : undefined });
    else if (wasThere && !isMovedAway) this.#add({ ...known, kind: "deleted", unknown });
  }

  /** Returns the file that a change ended, if a call had read or written it. */
  #knownBefore(path: string, seq: number): EntryThen | undefined {
    const seen = this.#feed.knownBefore(path, seq);
    if (seen === undefined) return undefined;
    const { content, mode } = seen;
    return {
      state: { kind: "file", mode, revision: revisionOfBytes([content]) },
      content: () => content,
    };
  }

  /** Returns whether an entry has another path only because a folder above it was moved. */
  #isMovedAlong(path: string, now: string): boolean {
    const [parent, parentNow] = [parentOf(path), parentOf(now)];
    const isNamed = path.slice(parent.length) === now.slice(parentNow.length);
    return isNamed && parent !== parentNow && this.#tree.entryAt(parent).now === parentNow;
  }

  #add(change: NetDifference): void {
    this.#changes.set(change.path, change);
    if (change.from !== undefined) this.#earlier.set(change.from, change.path);
  }

  #before = (path: string): EntryThen => ({
    state: this.#tree.state(path),
    content: () => this.#tree.contentAt(path),
  });

  #after = (path: string): EntryThen => ({
    state: this.#disk.state(path),
    content: () => this.#disk.read(path),
  });
}

/** A removed folder whose mode is not kept. */
const someFolder: EntryThen = { state: { kind: "dir", mode: 0o755 }, content: () => undefined };

/** Returns the reason why a change by another program or a command has no diff. */
function notKept(causes: readonly Cause[]): string {
  const who = causes.some(({ by }) => by === "external") ? "another program" : "a command";
  return `${who} changed it, and what it was before is not kept`;
}

/** Returns the place of a change among others: deletions make room for moves, and both for the rest. */
export const placeOf = ({ kind, from, path }: Pick<NetDifference, "kind" | "from" | "path">): string =>
  `${kind === "deleted" ? 0 : from === undefined ? 2 : 1} ${path}`;

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
