/** Distinguishes a file from all others that exist, under any name. */
import { lstatSync } from "node:fs";
import { errnoError, errnoOf } from "./errno.ts";
import type { JailedPath } from "./folder.ts";

/** Device and inode with all digits: numbers would round the inodes of some file systems. */
export interface Inode {
  readonly dev: bigint | string;
  readonly ino: bigint | string;
}

/** Returns both as one text, for comparisons and as a key. */
export const inodeOf = ({ dev, ino }: Inode): string => `${dev}:${ino}`;

interface Stamped extends Inode {
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

/** Returns the facts of an entry that a new name does not change, and a write to it does, as one text. */
export const entryIdentityOf = (entry: Stamped): string => `${inodeOf(entry)} ${entry.size} ${entry.mtimeNs}`;

/**
 * Returns whether the path still leads to this file or folder. If the path cannot be read, it returns true.
 */
export function isStillAt(path: string, inode: string): boolean {
  try {
    return inodeOf(lstatSync(path, { bigint: true })) === inode;
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
  }
}

/** Throws ESTALE unless the entry at `path` exists and has this inode. */
export function requireInode(path: JailedPath, inode: string): void {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined || inodeOf(stats) !== inode) throw errnoError("ESTALE");
}

/** Returns the inode of the entry at `path`, links not followed. Throws the errno error. */
export const inodeAt = (path: JailedPath): string => inodeOf(lstatSync(path, { bigint: true }));
