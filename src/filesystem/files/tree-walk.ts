/**
 * A walk through a tree on disk, depth first and by handles, in the terms of fts(3): each entry is visited in
 * preorder, before its contents, and in postorder, after them. One folder per level is held open on the way.
 */

import type { Deadline } from "../../base/scheduling/deadline.ts";
import { runInSlices, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Folder } from "../jail/folder.ts";
import { readEntries, type WantsEntry } from "./entries.ts";
import type { Entry } from "./types.ts";

/** An entry that a walk has reached. */
export interface Visit<Held extends Disposable = Disposable> {
  /** The folder that contains it. */
  readonly folder: Folder;
  readonly entry: Entry;
  /** The number of folders above it, up to the one where the walk began: 1 for entries of that. */
  readonly level: number;
  /** The result of `preorder` for the folder that contains it. */
  readonly parent: Held | undefined;
}

/** The actions of a walk. Any error ends it, and is rethrown by it. */
export interface TreeVisitor<Held extends Disposable = Disposable> {
  /** Receives each folder once it is held, before it is read. */
  onEnter?(folder: Folder): void;
  /** If present, the walk passes over entries that it does not want. */
  readonly wants?: WantsEntry;
  /** Returns a value to hold until the postorder visit, when it is disposed of. */
  preorder?(visit: Visit<Held>): Held | undefined | Promise<Held | undefined>;
  /**
   * Returns the folder to descend into, which the walk closes. If absent, the walk descends into every
   * folder.
   */
  open?(visit: Visit<Held>, held: Held | undefined): Folder | undefined;
  postorder?(visit: Visit<Held>, held: Held | undefined): void | Promise<void>;
  /** Receives each folder once everything in it was visited, with the value held for it. */
  onLeave?(folder: Folder, held: Held | undefined): void | Promise<void>;
  /**
   * Receives the errno error of a folder that cannot be opened, or the refusal of one that cannot be read. If
   * it returns, the folder counts as empty. If absent, the error ends the walk.
   */
  onUnreadable?(error: unknown): void;
  /** Called for a folder below `maxDepth` levels, which is not entered. */
  onTooDeep?(): void;
}

export interface TreeWalk<Held extends Disposable = Disposable> {
  readonly slice: TimeSlice;
  readonly deadline?: Deadline | undefined;
  readonly visitor: TreeVisitor<Held>;
  /** Maximum levels of folders, including the one where the walk begins. */
  readonly maxDepth?: number;
}

/** Maximum levels of folders that a walk enters by default. Each holds a descriptor. */
export const defaultMaxDepth = 256;

/**
 * Visits everything in `folder`, sorted by the bytes of the names. The folder itself is not visited, and
 * stays open.
 */
export async function walkTree<Held extends Disposable>(
  walk: TreeWalk<Held>,
  folder: Folder,
  held?: Held,
): Promise<void> {
  await walkFolder({ ...walk, entries: 0 }, { folder, level: 1, parent: held });
}

interface Progress<Held extends Disposable> extends TreeWalk<Held> {
  /** The number of entries visited so far. */
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
  await walk.visitor.onLeave?.(position.folder, position.parent);
}

const entriesPerDeadlineCheck = 256;

async function visitEntry<Held extends Disposable>(walk: Progress<Held>, visit: Visit<Held>): Promise<void> {
  const { visitor } = walk;
  using held = await visitor.preorder?.(visit);
  await descend(walk, visit, held);
  if (visitor.postorder === undefined) return;
  // A walk leaves many nested folders one after the other, and each may take long.
  if (walk.slice.isDue) await walk.slice.yieldIfDue();
  await visitor.postorder(visit, held);
}

async function descend<Held extends Disposable>(
  walk: Progress<Held>,
  visit: Visit<Held>,
  held: Held | undefined,
): Promise<void> {
  using folder = openOrNone(walk, visit, held);
  if (folder === undefined) return;
  const { maxDepth = defaultMaxDepth, visitor } = walk;
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
  { visitor, slice }: Pick<TreeWalk, "slice"> & { visitor: UnreadableHandler & Pick<TreeVisitor, "wants"> },
  folder: Folder,
): Promise<Entry[]> {
  try {
    return await runInSlices(readEntries(folder, visitor.wants), slice);
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
