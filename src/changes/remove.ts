import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { changeTree, type MutationScope } from "../disk/scope.ts";
import { removeEntry, removeVerified } from "../disk/set-aside.ts";
import { sweepWithFolders } from "../disk/sweep.ts";
import { flushFolder } from "../disk/write.ts";
import { refuse } from "../errors.ts";
import { readEntries } from "../files/entries.ts";
import { ignoreMissing, isMissing } from "../files/ignore-missing.ts";
import { type TreeVisitor, walkTree } from "../files/tree-walk.ts";
import type { Entry, FilesConfig } from "../files/types.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, Jail, JailedPath, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { holdsMount } from "../jail/mounts.ts";
import { runAtOnce } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { requireRevision, requireRevisionAt } from "./expected-revision.ts";
import { withPathLock } from "./path-lock.ts";
import { allowedOnly, requireNothingDenied, type TreeOperation } from "./require-allowed.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";

export interface RemoveOptions {
  readonly recursive: boolean;
  /** Whether to check everything and remove nothing. Default: false. */
  readonly dryRun?: boolean;
  /** The revision that the removed file must have. Throws revision-mismatch otherwise. */
  readonly expectedRevision?: string | undefined;
  /** Gets each entry in a folder that is to go, before anything of it does. */
  readonly onEntry?: ((entry: Entry) => void) | undefined;
}

export interface Removal extends RemoveOptions {
  readonly path: string;
}

/** Implements `Files.remove`. */
export async function removePath(ctx: Disk, removal: Removal, requester: Requester): Promise<boolean> {
  const { path } = removal;
  try {
    const target = { path, ...asRemoved };
    await withPathLock(ctx, target, requester.deadline, (place) =>
      removeAt(ctx, removal, { place, requester }),
    );
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The options for admitting a path whose entry is to be removed. */
export const asRemoved = { changes: "tree", lastLink: "stay" } as const;

/** Implements `Files.unlink`. */
export function unlinkPath(ctx: Disk, removal: Removal, requester: Requester): Promise<void> {
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
  /** Detects mounts. Default: asks the system. */
  readonly holdsMount?: typeof holdsMount | undefined;
}

async function removeAt(ctx: Disk, removal: Removal, locked: LockedPlace): Promise<void> {
  const { folder, name, stats } = locked.place;
  const scope = { mutations: ctx.mutations, requester: locked.requester };
  const { expectedRevision: expected } = removal;
  requireExpected(locked.place, expected, ctx.config);
  if (removal.dryRun) return await requireRemovable(ctx.jail, removal, locked);
  if (expected !== undefined) await removeExpected(ctx, locked, expected);
  else if (!stats!.isDirectory()) removeEntry(scope, folder, { raw: name, kind: kindOf(stats!) ?? "other" });
  else if (removal.recursive) await removeTree(scope, ctx.jail, { ...locked, ...removal });
  else await removeEmpty(scope, folder, name);
  if (ctx.config.fsync) await flushFolder(folder);
}

/** Throws for the base, and for a file that differs from the expected one. */
export function requireExpected(
  place: ResolvedPath,
  expected: string | undefined,
  config: FilesConfig,
): void {
  if (place.name === ".") throw refuse.baseIsKept();
  if (expected !== undefined) requireRevision(place, expected, config);
}

/** Throws the errors of the removal that can be foreseen. */
export async function requireRemovable(jail: Jail, removal: Removal, locked: LockedPlace): Promise<void> {
  const { place, requester, holdsMount } = locked;
  const { folder, name, stats } = place;
  const { path, recursive, onEntry } = removal;
  if (stats!.isDirectory()) {
    using inside = folder.child(name);
    using slice = createWalkSlice(requester);
    if (recursive)
      await requireRemovableTree(
        { jail, path, deadline: requester.deadline, slice, onEntry },
        { folder, inside, holdsMount },
      );
    else if (runAtOnce(readEntries(inside)).some((entry) => !jail.isTemporary(entry.name)))
      throw refuse.notEmpty(path);
  }
  requireWritableFolder(folder, path);
}

async function removeExpected(
  { mutations, editLock }: Disk,
  { place, requester }: LockedPlace,
  expected: string,
): Promise<void> {
  const verify = (at: JailedPath) => requireRevisionAt(at, { path: place.requested, expected });
  const { folder, name: raw } = place;
  await editLock({ folder, deadline: requester.deadline }, () =>
    removeVerified({ mutations, requester }, folder, { raw, kind: "file", verify }),
  );
}

async function removeTree(
  scope: MutationScope,
  jail: Jail,
  { path, place, requester, onEntry }: Removal & LockedPlace,
): Promise<void> {
  const { folder, name } = place;
  using inside = folder.child(name);
  using slice = createWalkSlice(requester);
  const whole = { jail, path, deadline: requester.deadline, slice, onEntry };
  const operation = await requireRemovableTree(whole, { folder, inside });
  try {
    await changeTree(scope, { kind: "remove", path: place.path, entry: "dir" }, async (steps) => {
      await removeInside(steps, operation, inside);
      ignoreMissing(() => removeEntry(steps, folder, { raw: name, kind: "dir" }));
    });
  } catch (error) {
    throw errnoOf(error) === "ENOTEMPTY" ? refuse.refilled(path) : error;
  }
}

/** A folder that is to be removed, and the one that contains it. */
interface OpenedTree extends Pick<LockedPlace, "holdsMount"> {
  readonly folder: Folder;
  readonly inside: Folder;
}

/** Throws if anything inside must not be removed. */
async function requireRemovableTree(
  whole: TreeOperation,
  { folder, inside, holdsMount: holds = holdsMount }: OpenedTree,
): Promise<TreeOperation> {
  const isMounted = holds(inside);
  const operation = { ...whole, device: isMounted === undefined ? folder.lstat(".").dev : undefined };
  await requireNothingDenied(operation, inside);
  if (isMounted) throw refuse.holdsMount(whole.path);
  return operation;
}

/** Removes a folder that looks empty to a caller, since it contains only leftovers of killed processes. */
async function removeEmpty(scope: MutationScope, folder: Folder, name: string): Promise<void> {
  const entry = { raw: name, kind: "dir" } as const;
  try {
    removeEntry(scope, folder, entry);
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY") throw error;
    using inside = folder.child(name);
    await sweepWithFolders(scope, { folder: inside, entries: runAtOnce(readEntries(inside)) });
    inside.close();
    removeEntry(scope, folder, entry);
  }
}

/** Removes everything in the folder. A link is removed as a link. */
function removeInside(steps: MutationScope, operation: TreeOperation, inside: Folder): Promise<void> {
  const visitor: TreeVisitor = {
    // This check is repeated, since a denied entry may have been put there later.
    ...allowedOnly(operation),
    postorder: ({ folder, entry }) => ignoreMissing(() => removeEntry(steps, folder, entry)),
  };
  return walkTree({ ...operation, visitor }, inside);
}
