import type { Dirent, Stats } from "node:fs";

export type EntryKind = "file" | "dir" | "symlink" | "other";

/** What callers get to know about a file. */
export interface FileStats {
  readonly kind: EntryKind;
  /** Bytes. */
  readonly size: number;
  /** Last change of the content, in whole seconds since 1970. */
  readonly mtime: number;
  /** The nine permission bits. */
  readonly mode: number;
}

/** Undefined where a file system reports no kinds in directory entries. */
export function kindOf(file: Dirent | Stats): EntryKind | undefined {
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
