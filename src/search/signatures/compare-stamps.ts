/**
 * Compares the stamps of files with their records in the index, without opening the files: in a thread, or a
 * few of them at a time in this one.
 */
import { closeSync } from "node:fs";
import { openBeneath } from "../../filesystem/jail/openat.ts";
import { readStamps, stamps } from "../../filesystem/jail/stamps.ts";
import { linksAt } from "../../filesystem/jail/statx.ts";
import type { FileRecords } from "./file-records.ts";
import type { FilesByFolder } from "./filler.ts";
import type { FileNamesCursor } from "./sign-files.ts";

/** Files whose stamps are compared. */
export interface FilesToCompare extends FilesByFolder {
  /**
   * The path of each folder relative to the start of the walk, one character per byte, each followed by a
   * NUL: a string costs less to post than a list.
   */
  readonly folders: string;
  /** The inode of each folder. */
  readonly inodes: BigUint64Array;
  /** The descriptor of the folder where the walk starts. */
  readonly start: number;
}

/** Like `FilesToCompare`, but as a message to a thread. */
export interface CompareJob extends FilesToCompare {
  readonly what: "compare";
  /** Anything but 0 means that the job has to end. */
  readonly signal: Int32Array;
}

export interface ComparedFiles {
  /** The record of each file that has exactly its stamps, or -1. */
  readonly records: Int32Array;
}

/**
 * Returns the record of each file that has exactly its stamps, or -1. Files in a folder that is gone or that
 * another one has replaced have none, nor do those that are left when `isOver` returns true.
 */
export function compareStamps(
  file: FileNamesCursor,
  { start, folders, inodes, count }: Omit<FilesToCompare, "names" | "firsts">,
  { records, isOver }: { readonly records: FileRecords; readonly isOver: () => boolean },
): ComparedFiles {
  const found = new Int32Array(count).fill(-1);
  const paths = folders.split("\0");
  let folder: number | undefined;
  let opened = -1;
  while (!isOver() && file.next()) {
    if (file.folder !== opened) {
      if (folder !== undefined) closeSync(folder);
      folder = openFolder(start, paths[file.folder]!, inodes[file.folder]!);
      opened = file.folder;
    }
    if (folder === undefined || !readStamps(folder, file)) continue;
    const record = records.find(stamps);
    if (record >= 0 && records.hasStamps(record, stamps)) found[file.index] = record;
  }
  if (folder !== undefined) closeSync(folder);
  return { records: found };
}

/** Opens the folder with this inode below the start, in one step that follows no link. */
function openFolder(start: number, path: string, inode: bigint): number | undefined {
  const descriptor = openBeneath(start, Buffer.from(path || ".", "latin1"), "folder");
  if (descriptor === undefined) return undefined;
  const own = linksAt(descriptor, ".");
  if (typeof own === "object" && own.inode === inode) return descriptor;
  closeSync(descriptor);
  return undefined;
}
