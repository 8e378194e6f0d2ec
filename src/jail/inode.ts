/** What distinguishes a file from all others that exist, under any name. */
import { lstatSync } from "node:fs";
import type { JailedPath } from "./folder.ts";

/** Device and inode, in all their digits: numbers would round the inodes of some file systems. */
export interface Inode {
  readonly dev: bigint | string;
  readonly ino: bigint | string;
}

/** Both as one text, to compare and to look up. */
export const inodeOf = ({ dev, ino }: Inode): string => `${dev}:${ino}`;

/** Of what has a name, links not followed. Throws the errno error. */
export const inodeAt = (path: JailedPath): string => inodeOf(lstatSync(path, { bigint: true }));
