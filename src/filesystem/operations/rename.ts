import { refuse } from "../../base/errors.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import type { DiskTree } from "./disk-tree.ts";
import { lastLinkOf } from "./last-link.ts";
import { requireNothingDenied } from "./require-allowed.ts";
import type { TwoPaths } from "./require-target.ts";

/**
 * Renames an entry like rename(2): `to` is the new path itself, and nothing is moved into a folder that
 * exists there. Without `overwrite` nothing is ever replaced. A link is moved as a link. Between file
 * systems, and between folders that cannot both be held at once, a regular file or a link is copied and then
 * removed, and anything else is refused.
 */
export async function renamePath(tree: DiskTree, renaming: TwoPaths, requester: Requester): Promise<void> {
  const { from, to } = renaming;
  const options = { changes: "tree", lastLink: "stay", mayBeMissing: true, parents: true } as const;
  using source = tree.jail.admit(from, { ...options, lastLink: lastLinkOf(from, renaming) });
  using target = tree.jail.admit(to, options);
  requireMovable(renaming, source, target);
  if (source.stats?.isDirectory()) {
    using inside = source.folder.child(source.name);
    const { deadline } = requester;
    using slice = createWalkSlice({ deadline });
    await requireNothingDenied({ jail: tree.jail, path: from, deadline, slice }, inside);
  }
  const cannotCross = () => refuse.io(to, onlyFilesCross);
  await tree.relocate(renaming, { source, target, requester, cannotCross });
}

const onlyFilesCross = "it lies on another file system, to which only regular files and links can be moved";

function requireMovable({ from, to, overwrite }: TwoPaths, source: ResolvedPath, target: ResolvedPath): void {
  if (source.stats === undefined) throw refuse.absent(from, "missing");
  if (source.name === ".") throw refuse.rootIsKept(from);
  if (target.name === ".") throw refuse.rootIsKept(to);
  if (target.stats !== undefined && !overwrite) throw refuse.exists(to);
  if (target.newFolders.length > 0) throw refuse.absent(to, "missing");
}
