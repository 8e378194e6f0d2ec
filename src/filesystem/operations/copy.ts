import { refuse } from "../../base/errors.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import { requireTreeCopyable } from "./copy-tree.ts";
import { areEqualFiles } from "./equal-files.ts";
import { requireRevision } from "./expected-revision.ts";
import { lastLinkOf } from "./last-link.ts";
import { refuseMove } from "./move-errors.ts";
import { requireTarget, type TwoPaths } from "./require-target.ts";
import { requireWritableFolder } from "./require-writable.ts";
import { type Ends, relationOf } from "./same-entry.ts";
import type { WritableTree } from "./writable-tree.ts";

export interface Copying extends TwoPaths {
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** The revision that the file at `from` must have, if any. */
  readonly expectedRevision?: string | undefined;
  /** Whether to leave a file alone that the copy would equal. Default: false. */
  readonly skipsEqual?: boolean;
}

/**
 * Copies a file, a link (not its target) or a folder with everything in it; `parents` creates missing
 * folders. Only files, and links to files, are replaced. Returns false if both paths are the same,
 * or if it left an equal file alone. A copy
 * gets its name in a single step, once it is complete; if this throws, nothing was created, replaced or left
 * over. Throws for a folder with anything denied inside, here or at the target, and for an entry other than a
 * file, link or folder.
 */
export async function copyPath(tree: WritableTree, copying: Copying, requester: Requester): Promise<boolean> {
  const { from, to, overwrite, parents, expectedRevision } = copying;
  const target = { path: to, changes: "tree", mayBeMissing: true, parents, mayBeFolder: true } as const;
  using admitted = await tree.admit(
    [
      { path: from, lastLink: lastLinkOf(from, copying) },
      { ...target, lastLink: "stay" },
    ],
    requester.deadline,
  );
  const [source, place] = admitted.places;
  try {
    if (!(await requireCopyable(tree, copying, { source, target: place, requester }))) return false;
  } catch (error) {
    throw refusalOfErrno(error, from);
  }
  const isReplaceable = overwrite && place.stats !== undefined && copying.skipsEqual === true;
  if (isReplaceable && (await areEqualFiles({ source, target: place }, requester.deadline))) return false;
  if (place.stats !== undefined) copying.onReplace?.();
  try {
    if (tree.isPlanned) requireWritableFolder(place.folder, to);
    const made = { kind: "copy", source, expectedRevision } as const;
    // A folder replaces nothing, not even an empty one.
    const mayReplace = overwrite && !source.stats!.isDirectory();
    if (place.stats === undefined) await tree.place({ place, made, mayReplace }, requester);
    else await tree.exchange({ place, made }, requester);
    return true;
  } catch (error) {
    // Errors of reading the source name it already.
    throw refusalOfErrno(error, to);
  }
}

interface Request extends Ends {
  readonly requester: Requester;
}

/** Throws unless the entry at the source may be copied to the target. Returns false if both are the same. */
async function requireCopyable(tree: WritableTree, copying: Copying, request: Request): Promise<boolean> {
  const { source, target } = request;
  if (source.name === ".") throw refuseMove.base("copied");
  const relation = await runInSlices(relationOf(request), createTimeSlice());
  if (copying.expectedRevision !== undefined) requireRevision(source, copying.expectedRevision, tree.config);
  if (relation === "same" || relation === "respelled") return false;
  requireTarget(tree.jail, copying, { source, target, relation, done: "copied" });
  await requireCopyableContent(tree, copying, request);
  return true;
}

async function requireCopyableContent(
  tree: WritableTree,
  { from }: Copying,
  request: Request,
): Promise<void> {
  const stats = request.source.stats!;
  const limit = { key: "max_write_bytes", bytes: tree.config.max_write_bytes };
  if (stats.isDirectory()) await requireTreeCopyable(tree, from, request);
  else if (stats.isFile()) {
    if (stats.size > limit.bytes)
      throw refuse.tooLarge(from, limit, "copy a smaller file, or ask the user to raise the limit");
  } else if (!stats.isSymbolicLink()) throw refuseMove.specialFile(from);
}
