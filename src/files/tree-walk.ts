/**
 * A walk through a tree on disk, depth first and by handles, in the terms of fts(3): each entry is visited in preorder,
 * before what is in it, and in postorder, after that. Of the folders on the way one per level is held open.
 */
import type { Folder } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { runInSlices, type TimeSlice } from "../scheduling/time-slice.ts";
import { readEntries } from "./entries.ts";
import type { Entry } from "./types.ts";

/** An entry that a walk has come to. */
export interface Visit<Held extends Disposable = Disposable> {
  /** The folder that it is in. */
  readonly folder: Folder;
  readonly entry: Entry;
  /** Folders above it, up to the one where the walk began: 1 for what is in that. */
  readonly level: number;
  /** What `preorder` returned for the folder that it is in. */
  readonly parent: Held | undefined;
}

/** What a walk does. Whatever throws ends it, and is thrown by it. */
export interface TreeVisitor<Held extends Disposable = Disposable> {
  /** Gets each folder once it is held, and before it is read. */
  onEnter?(folder: Folder): void;
  /** Returns what is held until the postorder visit, and disposed of then. */
  preorder?(visit: Visit<Held>): Held | undefined | Promise<Held | undefined>;
  /** The folder to descend into, which the walk closes. Without this the walk descends into every folder. */
  open?(visit: Visit<Held>, held: Held | undefined): Folder | undefined;
  postorder?(visit: Visit<Held>, held: Held | undefined): void | Promise<void>;
  /**
   * Gets the errno error of a folder that cannot be opened, or the refusal of one that cannot be read. When it returns,
   * nothing is in that folder. Without this the error ends the walk.
   */
  onUnreadable?(error: unknown): void;
  /** A folder below `maxDepth` levels is not entered. */
  onTooDeep?(): void;
}

export interface TreeWalk<Held extends Disposable = Disposable> {
  readonly slice: TimeSlice;
  readonly deadline?: Deadline | undefined;
  readonly visitor: TreeVisitor<Held>;
  /** Levels of folders, that where the walk begins counted. */
  readonly maxDepth?: number;
}

/** Levels of folders that a walk enters unless it says otherwise: each holds a descriptor. */
export const usualMaxDepth = 256;

/** Visits everything in `folder`, sorted by the bytes of the names; the folder itself is not visited, and stays open. */
export async function walkTree<Held extends Disposable>(
  walk: TreeWalk<Held>,
  folder: Folder,
  held?: Held,
): Promise<void> {
  await walkFolder({ ...walk, entries: 0 }, { folder, level: 1, parent: held });
}

interface Progress<Held extends Disposable> extends TreeWalk<Held> {
  /** Entries visited so far. */
  entries: number;
}

async function walkFolder<Held extends Disposable>(
  walk: Progress<Held>,
  position: Omit<Visit<Held>, "entry">,
): Promise<void> {
  walk.visitor.onEnter?.(position.folder);
  for (const entry of await readOrNone(walk, position.folder)) {
    if (walk.slice.isDue) await walk.slice.yieldIfDue();
    if (++walk.entries % entriesPerDeadlineCheck === 0) walk.deadline?.check();
    await visitEntry(walk, { ...position, entry });
  }
}

const entriesPerDeadlineCheck = 256;

async function visitEntry<Held extends Disposable>(walk: Progress<Held>, visit: Visit<Held>): Promise<void> {
  const { visitor } = walk;
  using held = await visitor.preorder?.(visit);
  await descend(walk, visit, held);
  await visitor.postorder?.(visit, held);
}

async function descend<Held extends Disposable>(
  walk: Progress<Held>,
  visit: Visit<Held>,
  held: Held | undefined,
): Promise<void> {
  using folder = openOrNone(walk, visit, held);
  if (folder === undefined) return;
  const { maxDepth = usualMaxDepth, visitor } = walk;
  if (visit.level >= maxDepth) visitor.onTooDeep?.();
  else await walkFolder(walk, { folder, level: visit.level + 1, parent: held });
}

function openOrNone<Held extends Disposable>(
  { visitor }: TreeWalk<Held>,
  visit: Visit<Held>,
  held: Held | undefined,
): Folder | undefined {
  try {
    if (visitor.open !== undefined) return visitor.open(visit, held);
    return visit.entry.kind === "dir" ? visit.folder.child(visit.entry.raw) : undefined;
  } catch (error) {
    ignoreUnreadable(visitor, error);
    return undefined;
  }
}

async function readOrNone(
  { visitor, slice }: Pick<TreeWalk, "slice"> & { visitor: UnreadableHandler },
  folder: Folder,
): Promise<Entry[]> {
  try {
    return await runInSlices(readEntries(folder), slice);
  } catch (error) {
    ignoreUnreadable(visitor, error);
    return [];
  }
}

type UnreadableHandler = Pick<TreeVisitor, "onUnreadable">;

function ignoreUnreadable(visitor: UnreadableHandler, error: unknown): void {
  if (visitor.onUnreadable === undefined) throw error;
  visitor.onUnreadable(error);
}
