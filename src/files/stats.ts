import type { Dirent, Stats } from "node:fs";
import type { EntryKind, FileStats } from "./files.ts";

/** What callers are told about a file. */
export function describe(stats: Stats): FileStats {
  return {
    kind: kindOf(stats) ?? "other",
    size: stats.size,
    mtime: Math.floor(stats.mtimeMs / 1000),
    mode: stats.mode & 0o777,
  };
}

/** Undefined where a file system does not tell kinds when a folder is read. */
export function kindOf(file: Dirent | Stats): EntryKind | undefined {
  if (file.isFile()) return "file";
  if (file.isDirectory()) return "dir";
  if (file.isSymbolicLink()) return "symlink";
  const isKnown = file.isFIFO() || file.isSocket() || file.isBlockDevice() || file.isCharacterDevice();
  return isKnown ? "other" : undefined;
}
