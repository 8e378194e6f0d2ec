import { Refusal, refuse } from "../errors.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, Jail, Name, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { holdsMount } from "../jail/mounts.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { runAtOnce, runInSlices, type TimeSlice } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { readEntries } from "./entries.ts";
import { changeTree, type MutationScope, removeEntry } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { withPathLock } from "./path-lock.ts";
import { sweepFolder } from "./sweep.ts";
import type { Entry, FilesContext } from "./types.ts";
import { flushFolder } from "./write.ts";

export interface RemoveOptions {
  readonly recursive: boolean;
}

interface Removal extends RemoveOptions {
  readonly path: string;
}

/** See `Files.remove`. */
export async function removePath(
  ctx: FilesContext,
  removal: Removal,
  requester: Requester,
): Promise<boolean> {
  const { path } = removal;
  try {
    await withPathLock(ctx, { path, changes: "tree", lastLink: "stay" }, requester.deadline, (place) =>
      removeAt(ctx, removal, { place, requester }),
    );
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** See `Files.unlink`. */
export function unlinkPath(ctx: FilesContext, removal: Removal, requester: Requester): Promise<void> {
  return withPathLock(
    ctx,
    { path: removal.path, changes: "tree", lastLink: "bare" },
    requester.deadline,
    (place) => removeAt(ctx, removal, { place, requester }),
  );
}

interface LockedPlace {
  readonly place: ResolvedPath;
  readonly requester: Requester;
}

async function removeAt(ctx: FilesContext, removal: Removal, locked: LockedPlace): Promise<void> {
  const { folder, name, stats } = locked.place;
  const scope = { mutations: ctx.mutations, requester: locked.requester };
  if (name === ".") throw refuse.baseIsKept();
  if (!stats!.isDirectory()) removeEntry(scope, folder, { raw: name, kind: kindOf(stats!) ?? "other" });
  else if (removal.recursive) await removeTree(scope, ctx.jail, { ...locked, ...removal });
  else removeEmpty(scope, folder, name);
  if (ctx.config.fsync) await flushFolder(folder);
}

async function removeTree(
  scope: MutationScope,
  jail: Jail,
  { path, place, requester }: Removal & LockedPlace,
): Promise<void> {
  const { folder, name } = place;
  using inside = folder.child(name);
  const isMounted = holdsMount(inside);
  const device = isMounted === undefined ? folder.lstat(".").dev : undefined;
  using slice = createWalkSlice(requester);
  const { deadline } = requester;
  const operation: TreeOperation = { jail, path, deadline, slice, device, entries: 0 };
  await requireNothingDenied(operation, inside, 1);
  if (isMounted) throw refuse.holdsMount(path);
  await changeTree(scope, { kind: "remove", path: place.path, entry: "dir" }, async (steps) => {
    await removeInside(steps, operation, inside);
    unlessGone(() => removeEntry(steps, folder, { raw: name, kind: "dir" }));
  });
}

/** A folder that holds nothing but what a killed process left looks empty to a caller, and so it is removed. */
function removeEmpty(scope: MutationScope, folder: Folder, name: string): void {
  const entry = { raw: name, kind: "dir" } as const;
  try {
    removeEntry(scope, folder, entry);
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY") throw error;
    using inside = folder.child(name);
    sweepFolder(scope, { folder: inside, entries: runAtOnce(readEntries(inside)) });
    inside.close();
    removeEntry(scope, folder, entry);
  }
}

/** One call that goes through a tree. */
export interface TreeOperation {
  readonly jail: Jail;
  readonly path: string;
  readonly deadline: Deadline;
  readonly slice: TimeSlice;
  /** No folder may lie on another device than this; undefined where any may. */
  readonly device?: number | undefined;
  /** Entries met so far. */
  entries: number;
}

/** Each level holds a descriptor. */
const maxDepth = 256;

/**
 * Throws when anything in the folder, however deep, is denied or on a device that it must not be on. Nothing is removed
 * before this has read every folder.
 */
export async function requireNothingDenied(
  operation: TreeOperation,
  folder: Folder,
  depth: number,
): Promise<void> {
  if (depth > maxDepth) throw refuse.tooDeep(operation.path, maxDepth);
  if (operation.device !== undefined && folder.lstat(".").dev !== operation.device)
    throw refuse.holdsMount(operation.path);
  for (const { name, raw, kind } of await readUnlessGone(operation, folder)) {
    await yieldToEventLoop(operation);
    requireAllowed(operation, folder, name);
    if (kind !== "dir") continue;
    using child = enterUnlessGone(operation, folder, raw);
    if (child !== undefined) await requireNothingDenied(operation, child, depth + 1);
  }
}

/** Removes everything in the folder. A link is removed as a link. */
async function removeInside(scope: MutationScope, operation: TreeOperation, folder: Folder): Promise<void> {
  for (const entry of await readUnlessGone(operation, folder)) {
    await yieldToEventLoop(operation);
    // Again: it may have been put there since.
    requireAllowed(operation, folder, entry.name);
    if (entry.kind === "dir") {
      using child = enterUnlessGone(operation, folder, entry.raw);
      if (child !== undefined) await removeInside(scope, operation, child);
    }
    unlessGone(() => removeEntry(scope, folder, entry));
  }
}

async function readUnlessGone({ slice }: TreeOperation, folder: Folder): Promise<Entry[]> {
  try {
    return await runInSlices(readEntries(folder), slice);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** What someone else removes meanwhile is no reason to stop. */
function unlessGone<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || isAbsent(error)) return undefined;
    throw error;
  }
}

/** A pseudo file system that is mounted inside is as good as denied: nothing around it may be removed either. */
function enterUnlessGone({ path }: TreeOperation, folder: Folder, name: Name): Folder | undefined {
  try {
    return unlessGone(() => folder.child(name));
  } catch (error) {
    throw errnoOf(error) === "ENODEV" ? refuse.absent(path, "denied") : error;
  }
}

const isAbsent = (error: unknown): boolean => error instanceof Refusal && error.reason === "missing";

/** Temporary files are in nobody's way: they go with their folder. */
export function requireAllowed({ jail, path }: TreeOperation, folder: Folder, name: string): void {
  if (!jail.isTemporary(name) && jail.deniesIn(folder, name)) throw refuse.absent(path, "denied");
}

const entriesPerLook = 256;

/** Lets other calls run when the time slice is used up, and ends the operation when its time is up. */
export async function yieldToEventLoop(operation: TreeOperation): Promise<void> {
  if (operation.slice.isDue) await operation.slice.yieldIfDue();
  if (++operation.entries % entriesPerLook === 0) operation.deadline.check();
}
