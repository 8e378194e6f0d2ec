import { refuse } from "../../base/errors.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import type { DiskTree } from "./disk-tree.ts";
import { lastLinkOf } from "./last-link.ts";
import { requireNothingDenied } from "./require-allowed.ts";
import type { TwoPaths } from "./require-target.ts";
import { type Ends, type Relation, relationOf } from "./same-entry.ts";

export interface Renaming extends TwoPaths {
  /**
   * Whether an entry that has the new name already is left alone, one that has it in another spelling gets
   * this one, and a hard link to a file at `to` gives up its old name. rename(2) leaves all of them alone.
   * Default: false.
   */
  readonly comparesEnds?: boolean;
}

/**
 * Renames an entry like rename(2): `to` is the new path itself, and nothing is moved into a folder that
 * exists there. Without `overwrite` nothing is ever replaced. A link is moved as a link. Between file
 * systems, and between folders that cannot both be held at once, a regular file or a link is copied and then
 * removed, and anything else is refused. Returns false if `comparesEnds` found one entry.
 */
export async function renamePath(tree: DiskTree, renaming: Renaming, requester: Requester): Promise<boolean> {
  const { from, to } = renaming;
  const options = { changes: "tree", lastLink: "stay", mayBeMissing: true, parents: true } as const;
  using admitted = await tree.admit(
    [
      { path: from, ...options, lastLink: lastLinkOf(from, renaming) },
      { path: to, ...options },
    ],
    requester.deadline,
  );
  const [source, target] = admitted.places;
  requireSource(from, source);
  const ends = { source, target };
  const relation = renaming.comparesEnds ? await comparedEnds(from, ends) : "apart";
  if (relation === "same") return false;
  if (relation !== "respelled") requireFree(renaming, target);
  if (source.stats?.isDirectory()) {
    using inside = source.folder.child(source.name);
    const { deadline } = requester;
    using slice = createWalkSlice({ deadline });
    await requireNothingDenied({ jail: tree.jail, path: from, deadline, slice }, inside);
  }
  if (relation !== "apart") {
    await tree.rename({ ...ends, relation, overwrite: renaming.overwrite }, requester);
    return true;
  }
  const cannotCross = () => refuse.io(to, onlyFilesCross);
  await tree.relocate(renaming, { source, target, requester, cannotCross });
  return true;
}

const onlyFilesCross = "it lies on another file system, to which only regular files and links can be moved";

function requireSource(from: string, source: ResolvedPath): void {
  if (source.stats === undefined) throw refuse.absent(from, "missing");
  if (source.name === ".") throw refuse.rootIsKept(from);
}

function requireFree({ to, overwrite }: TwoPaths, target: ResolvedPath): void {
  if (target.name === ".") throw refuse.rootIsKept(to);
  if (target.stats !== undefined && !overwrite) throw refuse.exists(to);
  if (target.newFolders.length > 0) throw refuse.absent(to, "missing");
}

/** Returns the relation of two ends. Throws a refusal of the path. */
async function comparedEnds(path: string, ends: Ends): Promise<Relation> {
  try {
    return await runInSlices(relationOf(ends), createTimeSlice());
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
