/** The verbs of a pending tree that give names and take them away. */

import { type Copying, copiedPaths, requireCopyable } from "../changes/copy.ts";
import { requireTreeCopyable } from "../changes/copy-tree.ts";
import { admitNewFolder, type Making } from "../changes/make-folder.ts";
import { type Moving, movedPaths, requireMovable, requireWritableEnds } from "../changes/move.ts";
import { refuseMove } from "../changes/move-errors.ts";
import { asRemoved, type Removal, requireExpected, requireRemovable } from "../changes/remove.ts";
import { requireWritableFolder } from "../changes/require-writable-folder.ts";
import type { Relation } from "../changes/same-entry.ts";
import { splitLast } from "../disk/hold-folder.ts";
import type { Requester } from "../disk/mutation.ts";
import { isMissing } from "../files/ignore-missing.ts";
import { digestOfTree } from "../files/tree-digest.ts";
import { pathIn } from "../jail/backend.ts";
import type { Folder } from "../jail/folder.ts";
import { temporaryName } from "../jail/temporary.ts";
import { newFolder, type PendingPlace } from "./pending-changes.ts";
import { admitPending, type PendingContext } from "./pending-context.ts";
import type { PendingFolder } from "./pending-folder.ts";

/** Like `Files.remove`, in the pending tree. */
export async function removePending(
  pending: PendingContext,
  removal: Removal,
  requester: Requester,
): Promise<boolean> {
  try {
    using place = admitPending(pending, { path: removal.path, ...asRemoved });
    requireExpected(place, removal.expectedRevision, pending.config);
    const holdsMount = (folder: Folder) => (folder as PendingFolder).holdsMount();
    await requireRemovable(pending.jail, removal, { place, requester, holdsMount });
    await pending.rememberTree(place, requester);
    pending.changes.remove(place, removal.expectedRevision);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

interface PendingEnds {
  readonly source: PendingPlace;
  readonly target: PendingPlace;
}

/** Like `Files.move`, in the pending tree. */
export async function movePending(
  pending: PendingContext,
  moving: Moving,
  requester: Requester,
): Promise<boolean> {
  const [from, to] = movedPaths(moving);
  using source = admitPending(pending, from);
  using target = admitPending(pending, to);
  const ends = { source, target };
  const relation = await requireMovable(pending, moving, { ...ends, requester });
  if (relation === "same") return false;
  requireWritableEnds(moving, ends);
  await pending.rememberTree(source, requester);
  if (relation === "apart" && source.stats!.isDirectory() && isToOtherRoot(pending, ends))
    await moveTreeAcross(pending, moving, { ...ends, requester });
  else moveAdmitted(pending, moving, { ...ends, relation });
  return true;
}

/** Copies the folder, and removes the old one if it has not changed. */
async function moveTreeAcross(
  pending: PendingContext,
  { from }: Moving,
  { source, target, requester }: PendingEnds & { readonly requester: Requester },
): Promise<void> {
  const { folder, name } = source;
  // Its contents will be those that earlier changes leave, which a current digest cannot match.
  if (!folder.isOnDisk(name)) throw refuseMove.changedInTransaction(from);
  await requireTreeCopyable(pending, from, { source, target, requester });
  const { changes } = pending;
  const { outer, name: origin } = splitLast(folder.originOf(name));
  using onDisk = changes.disk.folder(outer);
  const digest = await digestOfTree({ folder: onDisk, name: origin }, requester);
  changes.copy(source, target);
  changes.removeTree(source, digest);
}

/** Makes a move that has been checked. */
export function moveAdmitted(
  pending: PendingContext,
  moving: Moving,
  { relation, ...ends }: PendingEnds & { readonly relation: Relation },
): void {
  const { source, target } = ends;
  const { changes } = pending;
  if (relation === "respelled") respell(pending, ends);
  else if (relation === "linked") changes.remove(source);
  else if (isCrossing(pending, ends)) moveAcross(pending, moving, ends);
  else {
    if (target.stats !== undefined) changes.remove(target);
    changes.rename(source, target);
  }
}

/** Renames in two steps, because the file system takes the two spellings for one. */
function respell({ changes }: PendingContext, { source, target }: PendingEnds): void {
  const { folder, stats } = source;
  const name = temporaryName();
  const third = { folder, name, path: pathIn(folder.path, name), stats, newFolders: [] };
  changes.rename(source, third);
  const path = pathIn(target.folder.path, target.sentName);
  changes.rename(third, { folder: target.folder, name: target.sentName, path, newFolders: [] });
}

const isToOtherRoot = ({ jail }: PendingContext, { source, target }: PendingEnds): boolean =>
  jail.rootOf(source.path) !== jail.rootOf(target.path);

/**
 * Returns whether a move cannot be a rename, which works neither across file systems nor between folders that
 * cannot be held at once.
 */
const isCrossing = (pending: PendingContext, { source, target }: PendingEnds): boolean =>
  isToOtherRoot(pending, { source, target }) ||
  source.folder.device !== target.folder.device ||
  (pending.jail.backend === "current-directory" &&
    (source.folder.path !== target.folder.path || target.newFolders.length > 0));

/** Copies a file or a link, and removes the old one. */
function moveAcross({ changes }: PendingContext, { from }: Moving, { source, target }: PendingEnds): void {
  const { stats, folder, name } = source;
  const isOneFolder = source.folder.device === target.folder.device;
  if (!stats!.isFile() && !stats!.isSymbolicLink())
    throw refuseMove.cannotCross(from, isOneFolder ? "folder" : "file system");
  const entry = stats!.isFile()
    ? changes.copies.copyFile(folder, name, { keepsTimes: true })
    : changes.copies.copyLeaf(folder, name);
  if (target.stats === undefined) changes.place(target, entry);
  else changes.exchange(target, entry);
  changes.remove(source);
}

/** Like `Files.copy`, in the pending tree. */
export async function copyPending(
  pending: PendingContext,
  copying: Copying,
  requester: Requester,
): Promise<boolean> {
  const [from, to] = copiedPaths(copying);
  using source = admitPending(pending, from);
  using target = admitPending(pending, to);
  if (!(await requireCopyable(pending, copying, { source, target, requester }))) return false;
  requireWritableFolder(target.folder, copying.to);
  await pending.rememberTree(source, requester);
  const { changes } = pending;
  if (target.stats === undefined) changes.copy(source, target);
  else changes.exchange(target, changes.copies.copyLeaf(source.folder, source.name));
  return true;
}

/** Like `Files.makeFolder`, in the pending tree. */
export function makePendingFolder(pending: PendingContext, making: Making): boolean {
  using place = admitNewFolder(pending.jail, making);
  if (place.stats !== undefined) return false;
  requireWritableFolder(place.folder, making.path);
  pending.changes.place(place, newFolder(making.mode));
  return true;
}
