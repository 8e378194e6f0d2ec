/** The difference between the tree after a checkpoint, or at a place in the feed, and the tree on disk. */
import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { Cause, FeedChange } from "../../filesystem/feed/change.ts";
import { ancestorsOf } from "../../filesystem/jail/backend.ts";
import { type JournalRecord, readRecords } from "../../filesystem/journal/read-record.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import { Credit } from "./credit.ts";
import { areEqual, diskView, type EntryThen, type NetDifference, nothing } from "./file-diff.ts";
import { filesBelow, maxFilesBelow } from "./files-below.ts";
import { rewindHistory } from "./history.ts";
import { leavesBelow } from "./leaves-below.ts";
import { type CurrentTree, type RewoundEntry, RewoundTree } from "./rewound-tree.ts";

/** The changes between then and now. */
export interface NetChanges {
  /** The changes, ordered so that a patch can make them. */
  readonly changes: readonly NetDifference[];
  /** The records of the calls that made them, by number. */
  readonly records: ReadonlyMap<number, JournalRecord>;
  /** The new folders with more files than are among the changes. */
  readonly incomplete: ReadonlySet<string>;
}

export interface Since {
  /** The number of the last record that is older. */
  readonly checkpoint: number;
  /** The changes of the feed since then. */
  readonly events: readonly FeedChange[];
  /** The paths at or below which changes are missing from these, `.` for all. */
  readonly gaps: readonly string[];
}

/**
 * Finds each path that differs, once. In a folder that another program has made, it leaves out entries that
 * are hidden. Throws the errno error of reading the journal.
 */
export async function findNetChanges(
  { checkpoint, events, gaps }: Since,
  context: CoderContext,
  isHidden: (path: string, isFolder: boolean) => boolean,
): Promise<NetChanges> {
  const { journal } = context;
  const pause = pauseOf(context);
  const checkTime = () => context.deadline.check();
  const records = new Map<number, JournalRecord>();
  if (journal !== undefined)
    for await (const record of readRecords(journal, { pause })) {
      if (record.seq <= checkpoint) break;
      records.set(record.seq, record);
    }
  const disk = diskView(context);
  const tree = new RewoundTree(disk, pause);
  await rewindHistory(tree, { events, records }, context);
  const found = new Net(tree, disk);
  for (const [path, entry] of tree.entries) {
    found.addEarlier(path, entry);
    await pause();
  }
  for (const { path, now, credit } of found.mergedFolders)
    for (const inside of [...(await filesBelow(now, context)), ...(await leavesBelow(now, context))]) {
      found.addInside(`${path}${inside.slice(now.length)}`, { now: inside, credit });
      await pause();
    }
  for (const [path, credit] of tree.created) {
    found.addCreated(path, credit);
    await pause();
  }
  for (const [folder, credit] of await runInSlices(found.newFolders(), createTimeSlice(), checkTime)) {
    if (isHidden(folder, true)) continue;
    const files = await filesBelow(folder, context, { leavesOutIgnored: true });
    for (const file of files) {
      if (!isHidden(file, false)) found.addUnseen(file, credit);
      await pause();
    }
    const leaves = await leavesBelow(folder, context, isHidden);
    for (const leaf of leaves) {
      found.addUnseen(leaf, credit);
      await pause();
    }
    if (Math.max(files.length, leaves.length) >= maxFilesBelow) found.incomplete.add(folder);
  }
  const changes = [];
  for (const one of await found.changes()) {
    const change = isDoubtful(one, gaps) ? { ...one, isDoubtful: true, unknown: one.unknown ?? lost } : one;
    changes.push(
      change.kind === "moved" && change.after.state.kind === "dir"
        ? { ...change, inside: await found.unchangedIn(change, context) }
        : change,
    );
    await pause();
  }
  return { changes, records, incomplete: found.incomplete };
}

const lost = "some changes are not known, and so is what it was before";

/**
 * Returns whether an entry that others made, removed or moved may have been there before as it is now, since
 * changes that were lost may have done the opposite.
 */
function isDoubtful({ kind, path, from = path, others }: NetDifference, gaps: readonly string[]): boolean {
  if (kind === "modified" || others.length === 0) return false;
  const isIn = (folder: string) => (one: string) => one === folder || one.startsWith(`${folder}/`);
  return gaps.some((gap) => gap === "." || [path, from].some(isIn(gap)));
}

/** An entry of the earlier tree, and its path now. */
interface Moved {
  readonly path: string;
  readonly now: string;
  readonly credit: Credit;
}

class Net {
  readonly #tree: RewoundTree;
  readonly #disk: CurrentTree;
  /** The changes by their current paths, or the earlier ones of removed entries. */
  readonly #changes = new Map<string, NetDifference>();
  /** The new folders with more files than were listed. */
  readonly incomplete = new Set<string>();
  /** The folders that were moved to the path of another one, or whose earlier path has one now. */
  readonly mergedFolders: Moved[] = [];
  /** The earlier paths of the changes. */
  readonly #earlier = new Set<string>();

  constructor(tree: RewoundTree, disk: CurrentTree) {
    this.#tree = tree;
    this.#disk = disk;
  }

  /** Adds the change of an entry of the earlier tree. */
  addEarlier(path: string, { kind, now = path, credit }: RewoundEntry): void {
    if (kind === "absent") return;
    if (now === path || this.#after(now).state.kind === "absent") this.#compareAt(path, credit);
    else if (this.#isPlainMove(path, now)) this.#addMoved(path, now, { credit });
    else {
      if (this.#before(path).state.kind === "dir") this.mergedFolders.push({ path, now, credit });
      for (const end of [path, now]) this.#compareAt(end, credit);
    }
  }

  /** Adds an entry that was moved with a folder whose contents have to be compared one by one. */
  addInside(path: string, { now, credit }: Omit<Moved, "path">): void {
    if (this.#earlier.has(path) || this.#tree.entryAt(path).now !== now) return;
    // Another file had the path, or may have had it, and its change describes the current entry.
    if (this.#changes.has(now) || this.#tree.entryAt(now).kind === "unsure") this.#compareAt(path, credit);
    else if (this.#isPlainMove(path, now)) this.#addMoved(path, now, { credit, isAlone: true });
    else for (const end of [path, now]) this.#compareAt(end, credit);
  }

  /**
   * Adds an entry that did not exist before. Skips it if only the folder above is known to be another one.
   */
  addCreated(path: string, credit: Credit): void {
    const isUnsure = this.#tree.entryAt(path).kind === "unsure" && credit.seqs.length === 0;
    if (!isUnsure && this.#changes.get(path)?.from === undefined) this.#compareAt(path, credit);
  }

  /** Adds an entry of a new folder that no record and no change of the feed has. */
  addUnseen(path: string, credit: Credit): void {
    if (!this.#changes.has(path)) this.#compareAt(path, credit);
  }

  /** Finds the folders that other programs have made and that are still there, without those inside. */
  *newFolders(): Steps<(readonly [path: string, credit: Credit])[]> {
    const made = new Map<string, Credit>();
    for (const [path, credit] of this.#tree.created) {
      if (this.#isMadeByOthers(path, credit)) made.set(path, credit);
      yield;
    }
    const outermost: (readonly [path: string, credit: Credit])[] = [];
    for (const [path, credit] of made) {
      if (!ancestorsOf(path).some((folder) => made.has(folder))) outermost.push([path, credit]);
      yield;
    }
    return outermost;
  }

  #isMadeByOthers(path: string, { others }: Credit): boolean {
    if (others.length === 0) return false;
    const { kind } = this.#tree.entryAt(path);
    return kind !== "unknown" && kind !== "unsure" && this.#disk.state(path).kind === "dir";
  }

  /** Returns whether nothing else had the path now, or has the earlier path. */
  #isPlainMove(path: string, now: string): boolean {
    return this.#after(path).state.kind === "absent" && !this.#wasThere(now);
  }

  #wasThere = (path: string): boolean =>
    this.#tree.isUnknown(path) || this.#before(path).state.kind !== "absent";

  #addMoved(
    from: string,
    path: string,
    { credit, isAlone = false }: { readonly credit: Credit; readonly isAlone?: boolean },
  ): void {
    const [before, after] = [this.#before(from), this.#after(path)];
    // Another program may have changed the files in a folder while it moved that.
    const isUnseen = credit.others.length > 0 && (isAlone || after.state.kind === "dir");
    const unknown = this.#unknownAt(from) ?? (isUnseen ? notKept(credit.others) : undefined);
    const { seqs, others } = credit;
    const change = { path, from, before, after, seqs, others, unknown };
    if (isAlone || !this.#isMovedAlong(from, path)) this.#add({ kind: "moved", ...change });
    else if (unknown !== undefined || !areEqual(before, after)) this.#add({ kind: "modified", ...change });
  }

  /** Adds the difference at a path, if any. */
  #compareAt(path: string, credit: Credit): void {
    const [before, after] = [this.#before(path), this.#after(path)];
    const unknown = this.#unknownAt(path);
    const [wasThere, isThere] = [this.#wasThere(path), after.state.kind !== "absent"];
    const isNothing = !wasThere && !isThere;
    if (isNothing || (unknown === undefined && areEqual(before, after))) return;
    const { seqs, others } = credit.and(creditOf(this.#changes.get(path)));
    const change = { path, before, after, seqs, others, unknown };
    if (wasThere || this.#tree.isUnsure(path))
      this.#add({ kind: isThere ? "modified" : "deleted", ...change });
    else this.#add({ kind: "created", ...change });
  }

  /** Returns the reason why the earlier state of a path is unknown, if it is. */
  #unknownAt(path: string): string | undefined {
    const entry = this.#tree.entryAt(path);
    if (entry.kind !== "unknown" && entry.kind !== "unsure") return undefined;
    const { others } = entry.credit;
    const isReplaced = entry.kind === "unknown" && entry.isFolder && this.#disk.state(path).kind === "dir";
    return isReplaced && others.length > 0 ? `${whoOf(others)} ${replaced}` : notKept(others);
  }

  /** Returns the changes, ordered so that a patch can make them one by one. */
  async changes(): Promise<NetDifference[]> {
    const placed = [...this.#changes.values()].map((change) => ({ change, place: placeOf(change) }));
    const sorted = mergeSort(placed, (one, other) => one.place < other.place);
    return (await runInSlices(sorted, createTimeSlice())).map(({ change }) => change);
  }

  /** Returns the files in a moved folder that have no change of their own, relative to it. */
  async unchangedIn({ path }: NetDifference, context: CoderContext): Promise<string[]> {
    const inside = await filesBelow(path, context);
    return inside.filter((file) => !this.#changes.has(file)).map((file) => file.slice(path.length + 1));
  }

  /** Returns whether an entry has another path only because a folder above it was moved. */
  #isMovedAlong(path: string, now: string): boolean {
    const [parent, parentNow] = [parentOf(path), parentOf(now)];
    const isNamed = path.slice(parent.length) === now.slice(parentNow.length);
    return isNamed && parent !== parentNow && this.#tree.entryAt(parent).now === parentNow;
  }

  #add(change: NetDifference): void {
    this.#changes.set(change.path, change);
    if (change.from !== undefined) this.#earlier.add(change.from);
  }

  #before(path: string): EntryThen {
    const entry = this.#tree.entryAt(path);
    if (entry.kind === "unknown") return entry.isFolder ? someFolder : nothing;
    return { state: this.#tree.state(path), content: () => this.#tree.contentAt(path) };
  }

  #after = (path: string): EntryThen => ({
    state: this.#disk.state(path),
    content: () => this.#disk.read(path),
  });
}

const creditOf = (change: NetDifference | undefined): Credit | undefined =>
  change && new Credit(change.seqs, change.others);

/** A removed folder whose mode is not kept. */
const someFolder: EntryThen = { state: { kind: "dir", mode: 0o755 }, content: () => undefined };

/** Returns the reason why a change has no diff: its causes without a record, or else the journal. */
function notKept(causes: readonly Cause[]): string {
  if (causes.length === 0) return "the journal does not keep what it was";
  return `${whoOf(causes)} changed it, and what it was before is not kept`;
}

const replaced = "put it in place of another one, so every file in it may differ";

const whoOf = (causes: readonly Cause[]): string =>
  causes.some(({ by }) => by === "external") ? "another program" : "a command";

/** Returns the place of a change among others: deletions make room for moves, and both for the rest. */
export const placeOf = ({ kind, from, path }: Pick<NetDifference, "kind" | "from" | "path">): string =>
  `${kind === "deleted" ? 0 : from === undefined ? 2 : 1} ${path}`;

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
