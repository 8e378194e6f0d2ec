import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import { requireRevision } from "./expected-revision.ts";
import { lastLinkOf } from "./last-link.ts";
import { refuseMove } from "./move-errors.ts";
import { requireNothingDenied } from "./require-allowed.ts";
import { jailAtBoth, requireTarget, type TwoPaths } from "./require-target.ts";
import { requireWritableFolder } from "./require-writable.ts";
import { type Ends, type Relation, relationOf } from "./same-entry.ts";
import type { WritableTree } from "./writable-tree.ts";

export interface Moving extends TwoPaths {
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** The revision that the file at `from` must have, if any. */
  readonly expectedRevision?: string | undefined;
}

/**
 * Moves a file, link or folder; `parents` creates missing folders. Only files, and links to files, are
 * replaced. Returns false if both paths are the same. Throws for a folder with anything denied inside, here
 * or at the target.
 */
export async function movePath(tree: WritableTree, moving: Moving, requester: Requester): Promise<boolean> {
  const { from, to, overwrite, parents, expectedRevision } = moving;
  const options = { changes: "tree", lastLink: "stay" } as const;
  const target = { ...options, mayBeMissing: true, parents, mayBeFolder: true } as const;
  using admitted = await tree.admit(
    [
      { path: from, ...options, lastLink: lastLinkOf(from, moving) },
      { path: to, ...target },
    ],
    requester.deadline,
  );
  const [source, place] = admitted.places;
  const ends = { source, target: place };
  try {
    const relation = await requireMovable(tree, moving, { ...ends, requester });
    if (relation === "same") return false;
    if (place.stats !== undefined && relation !== "respelled") moving.onReplace?.();
    if (tree.isPlanned) requireWritableEnds(moving, ends);
    await tree.rename({ ...ends, relation, overwrite, expectedRevision }, requester);
    return true;
  } catch (error) {
    throw refusalOfErrno(error, from);
  }
}

interface Request extends Ends {
  readonly requester: Requester;
}

/** Throws unless the source may move to the target, if that shows before the attempt. */
export async function requireMovable(
  { jail, config }: Pick<WritableTree, "jail" | "config">,
  moving: Moving,
  request: Request,
): Promise<Relation> {
  const { source } = request;
  if (source.name === ".") throw refuseMove.base("moved");
  const relation = await runInSlices(relationOf(request), createTimeSlice());
  const { expectedRevision: expected } = moving;
  if (expected !== undefined) requireRevision(source, expected, config);
  if (relation === "same") return relation;
  requireTarget(jail, moving, { ...request, relation, done: "moved" });
  if (source.stats!.isDirectory()) await requireAllAllowed(jail, moving.from, request);
  return relation;
}

/** Checks the conditions that otherwise only the attempt would show. */
export function requireWritableEnds(
  { from, to }: Pick<Moving, "from" | "to">,
  { source, target }: Ends,
): void {
  requireWritableFolder(source.folder, from);
  requireWritableFolder(target.folder, to);
  // A folder that gets another parent changes itself: its `..` does.
  const isMovedOn = source.folder.path !== target.folder.path || target.newFolders.length > 0;
  if (source.stats!.isDirectory() && isMovedOn) mapErrno(from, () => source.requireWritable());
}

/** Throws unless everything in a folder may be reached at the source and at the target. */
async function requireAllAllowed(jail: Jail, from: string, request: Request): Promise<void> {
  const { source, requester } = request;
  using inside = source.folder.child(source.name);
  using slice = createWalkSlice(requester);
  const { deadline } = requester;
  await requireNothingDenied(
    { jail: jailAtBoth(jail, request, "move"), path: from, deadline, slice },
    inside,
  );
}
