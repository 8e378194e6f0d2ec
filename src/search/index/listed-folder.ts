import type { Folder, Jail } from "../../jail/folder.ts";
import { linksAt } from "../../jail/statx.ts";

/** A folder as a watched tree had it. */
export interface ListedFolder {
  /** From the base. */
  readonly path: string;
  /** From the start of the walk, as `SharedFolder.walked`. */
  readonly walked: string;
  readonly inode: bigint;
}

/** The disk is not as the tree had it: what a search has found out by the tree is of no use. */
export class TreeChanged extends Error {
  override readonly name = "TreeChanged";
}

/** Opens the folder through the jail. Throws `TreeChanged` where it is another one, or none. */
export function openListed(
  jail: Pick<Jail, "reopenFolder">,
  { path, inode }: Omit<ListedFolder, "walked">,
): Folder {
  const folder = reopen(jail, path);
  // A link may lead elsewhere by now. Where names are folded, other names are denied than those of the list.
  if (folder.path === path && folder.folding === "exact" && isInode(folder, inode)) return folder;
  folder.close();
  throw new TreeChanged(path);
}

function reopen(jail: Pick<Jail, "reopenFolder">, path: string): Folder {
  try {
    return jail.reopenFolder(path);
  } catch {
    // The search that begins again meets the reason, if it is another one.
    throw new TreeChanged(path);
  }
}

/** Whether this is the folder with the inode. */
export function isInode({ descriptor }: Folder, inode: bigint): boolean {
  const own = descriptor === undefined ? undefined : linksAt(descriptor, ".");
  return typeof own === "object" && own.inode === inode;
}
