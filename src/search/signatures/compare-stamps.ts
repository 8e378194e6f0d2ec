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

/** The folder of files whose stamps are compared. */
interface FolderToOpen {
  /** The path relative to the start of the walk, one character per byte. */
  readonly walked: string;
  readonly inode: bigint;
}

/** Files whose stamps are compared. */
export interface FilesToCompare extends FilesByFolder {
  readonly folders: readonly FolderToOpen[];
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
  { start, folders, count }: Pick<FilesToCompare, "start" | "folders" | "count">,
  { records, isOver }: { readonly records: FileRecords; readonly isOver: () => boolean },
): ComparedFiles {
  const found = new Int32Array(count).fill(-1);
  let folder: number | undefined;
  let opened = -1;
  while (!isOver() && file.next()) {
    if (file.folder !== opened) {
      if (folder !== undefined) closeSync(folder);
      folder = openFolder(start, folders[file.folder]!);
      opened = file.folder;
    }
    if (folder === undefined || !readStamps(folder, file)) continue;
    const record = records.find(stamps);
    if (record >= 0 && records.hasStamps(record, stamps)) found[file.index] = record;
  }
  if (folder !== undefined) closeSync(folder);
  return { records: found };
}

/** Opens a folder below the start, in one step that follows no link. */
function openFolder(start: number, { walked, inode }: FolderToOpen): number | undefined {
  const descriptor = openBeneath(start, Buffer.from(walked || ".", "latin1"), "folder");
  if (descriptor === undefined) return undefined;
  const own = linksAt(descriptor, ".");
  if (typeof own === "object" && own.inode === inode) return descriptor;
  closeSync(descriptor);
  return undefined;
}
