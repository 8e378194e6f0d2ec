/** What distinguishes a file from all others that exist, under any name. */
import { lstatSync } from "node:fs";
import { errnoOf } from "./errno.ts";
import type { JailedPath } from "./folder.ts";

/** Device and inode, in all their digits: numbers would round the inodes of some file systems. */
export interface Inode {
  readonly dev: bigint | string;
  readonly ino: bigint | string;
}

/** Both as one text, to compare and to look up. */
export const inodeOf = ({ dev, ino }: Inode): string => `${dev}:${ino}`;

/** Whether the path still leads to this file or folder. A path that cannot be read is taken to. */
export function isStillAt(path: string, inode: string): boolean {
  try {
    return inodeOf(lstatSync(path, { bigint: true })) === inode;
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
  }
}

/** Of what has a name, links not followed. Throws the errno error. */
export const inodeAt = (path: JailedPath): string => inodeOf(lstatSync(path, { bigint: true }));
