/** The difference between the tree after a checkpoint, or at a place in the feed, and the tree on disk. */
import type { Cause, FeedChange } from "../../filesystem/feed/change.ts";
import type { RecordedState } from "../../filesystem/journal/frame.ts";
import { isAsRecorded } from "../../filesystem/journal/is-as-recorded.ts";
import { type JournalRecord, readRecords } from "../../filesystem/journal/read-record.ts";
import { rewind } from "../../filesystem/journal/rewind.ts";
import { type CurrentTree, type RewoundEntry, RewoundTree } from "../../filesystem/journal/rewound-tree.ts";
import { isShown } from "../checkpoints/recorded-paths.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import { areEqual, diskView, type EntryThen, type NetDifference, nothing } from "./file-diff.ts";
import { filesBelow } from "./files-below.ts";

/** The changes between then and now. */
export interface NetChanges {
  /** The changes, ordered so that a patch can make them. */
  readonly changes: readonly NetDifference[];
  /** The records of the calls that made them, by number. */
  readonly records: ReadonlyMap<number, JournalRecord>;
}

interface Since {
  /** The number of the last record that is older. */
  readonly checkpoint: number;
  /** The changes of the feed since then. */
  readonly events: readonly FeedChange[];
}

/** Finds each path that differs, once. Throws the errno error of reading the journal. */
export async function findNetChanges(
  { checkpoint, events }: Since,
  context: CoderContext,
): Promise<NetChanges> {
  const { journal, jail } = context;
  const disk = diskView(context);
  const tree = new RewoundTree(disk);
  const records = new Map<number, JournalRecord>();
  const left = new Map<string, RecordedState>();
  const pause = pauseOf(context);
  if (journal !== undefined)
    for await (const record of readRecords(journal, { pause })) {
      if (record.seq <= checkpoint) break;
      records.set(record.seq, record);
      for (const { path, after } of record.steps.toReversed())
        if (!left.has(path)) left.set(path, after.state);
      await rewind(tree, record, { source: journal, isShown: (step) => isShown(step, jail), pause });
    }
  const found = new Net(tree, disk, left);
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
  for (const event of events) found.addEvent(event);
  const changes = [];
  for (const change of found.changes())
    changes.push(
      change.kind === "moved" && change.after.state.kind === "dir"
        ? { ...change, inside: await found.unchangedIn(change, context) }
        : change,
    );
  return { changes, records };
}

/** Changes of a path that no record has. */
interface Unrecorded {
  /** Whether something was there before the first. */
  readonly wasThere: boolean;
  /** The path before, if it was moved. */
  readonly from: string | undefined;
  readonly causes: readonly Cause[];
}

/** An entry of the earlier tree, and its path now. */
interface Moved {
  readonly path: string;
  readonly now: string;
  readonly seqs: readonly number[];
}

class Net {
  readonly #tree: RewoundTree;
  readonly #disk: CurrentTree;
  /** The state of each path that the newest record has left. */
  readonly #left: ReadonlyMap<string, RecordedState>;
  /** The changes by their current paths, or the earlier ones of removed entries. */
  readonly #changes = new Map<string, NetDifference>();
  /** The folders that were moved to the path of another one, or whose earlier path has one now. */
  readonly mergedFolders: Moved[] = [];
  /** The earlier paths of the changes. */
  readonly #earlier = new Map<string, string>();
  /** Paths that other programs and commands changed. */
  readonly #events = new Map<string, Unrecorded>();

  constructor(tree: RewoundTree, disk: CurrentTree, left: ReadonlyMap<string, RecordedState>) {
    this.#tree = tree;
    this.#disk = disk;
    this.#left = left;
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
    if (this.#changes.has(now) || this.#tree.entryAt(path).now !== now) return;
    if (this.#isPlainMove(path, now)) this.#addMoved(path, now, { seqs, isAlone: true });
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

  /** Notes a change of the feed, in order, unless the journal has it. */
  addEvent({ path, from, kind, cause, isGap = false, isFolder }: FeedChange): void {
    if (isGap || (isFolder && kind === "modified")) return;
    const isCall = cause.by === "call" && cause.checkpoint !== undefined;
    const known = this.#changes.get(path) ?? this.#changes.get(this.#earlier.get(path) ?? "");
    // Calls of another process are external events here, and in the journal too.
    const left = this.#left.get(path);
    const isRecorded = left !== undefined && isAsRecorded(left, this.#disk.state(path), false);
    if (known !== undefined && !isCall && !isRecorded)
      this.#changes.set(known.path, { ...known, others: [...known.others, cause] });
    if (known !== undefined || isCall || isRecorded) return;
    const earlier = this.#events.get(from ?? path);
    const wasThere = earlier?.wasThere ?? kind !== "created";
    const causes = [...(earlier?.causes ?? []), cause];
    if (from !== undefined) this.#events.set(from, { wasThere, from: undefined, causes });
    this.#events.set(path, {
      causes,
      wasThere: from === undefined ? wasThere : false,
      from: from === undefined ? earlier?.from : (earlier?.from ?? (wasThere ? from : undefined)),
    });
  }

  /** Returns the changes, ordered so that a patch can make them one by one. */
  changes(): NetDifference[] {
    for (const [path, event] of this.#events) this.#addUnrecorded(path, event);
    return [...this.#changes.values()].sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  }

  /** Returns the files in a moved folder that have no change of their own, relative to it. */
  async unchangedIn({ path }: NetDifference, context: CoderContext): Promise<string[]> {
    const inside = await filesBelow(path, context);
    return inside.filter((file) => !this.#changes.has(file)).map((file) => file.slice(path.length + 1));
  }

  #addUnrecorded(path: string, { wasThere, from, causes }: Unrecorded) {
    const after = this.#after(path);
    const isThere = after.state.kind !== "absent";
    const isMoved = isThere && from !== undefined && this.#after(from).state.kind === "absent";
    const isMovedAway = [...this.#events.values()].some((event) => event.from === path);
    const known = { path, before: nothing, after, seqs: [], others: causes };
    const who = causes.some(({ by }) => by === "external") ? "another program" : "a command";
    const unknown = `${who} changed it, and what it was before is not kept`;
    if (isMoved) this.#add({ ...known, kind: "moved", from, unknown });
    else if (isThere && wasThere) this.#add({ ...known, kind: "modified", unknown });
    else if (isThere) this.#add({ ...known, kind: "created" });
    else if (wasThere && !isMovedAway) this.#add({ ...known, kind: "deleted", unknown });
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

/** Returns the place of a change among others: deletions make room for moves, and both for the rest. */
export const placeOf = ({ kind, from, path }: Pick<NetDifference, "kind" | "from" | "path">): string =>
  `${kind === "deleted" ? 0 : from === undefined ? 2 : 1} ${path}`;

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
