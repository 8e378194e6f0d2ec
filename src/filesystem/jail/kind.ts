import type { BigIntStats, Dirent, Stats } from "node:fs";

export type EntryKind = "file" | "dir" | "symlink" | "other";

/** The facts about a file that callers see. */
export interface FileStats {
  readonly kind: EntryKind;
  readonly size: number;
  /** The last change of the content, in whole seconds since 1970. */
  readonly mtime: number;
  readonly mode: number;
}

/** Returns the kind of a file, or `undefined` if the file system reports none in directory entries. */
export function kindOf(file: Dirent | Stats | BigIntStats): EntryKind | undefined {
  if (file.isFile()) return "file";
  if (file.isDirectory()) return "dir";
  if (file.isSymbolicLink()) return "symlink";
  const isKnown = file.isFIFO() || file.isSocket() || file.isBlockDevice() || file.isCharacterDevice();
  return isKnown ? "other" : undefined;
}

/** The kinds by their numbers in directory records (DT_FIFO and so on, readdir(3)). */
export const kindsByType: readonly (EntryKind | undefined)[] = Object.assign(
  Array.from<EntryKind | undefined>({ length: 256 }),
  { 1: "other", 2: "other", 4: "dir", 6: "other", 8: "file", 10: "symlink", 12: "other" } as const,
);
