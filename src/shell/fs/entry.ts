import type { Stats } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Int64, UInt64 } from "../../base/schema/fragments.ts";
import { renderMode, renderTime } from "./mode.ts";

/** The fields of `FsEntry` (shell §8.5). */
export const entryFields = {
  is_dir: Type.Boolean(),
  is_symlink: Type.Boolean(),
  mode: Type.String(),
  mtime: Int64(),
  name: Type.String(),
  size: UInt64(),
};

const FsEntry = Type.Object(entryFields);

/** Returns an entry from its lstat. */
export const entryOf = (name: string, stats: Stats): Static<typeof FsEntry> => ({
  name,
  is_dir: stats.isDirectory(),
  is_symlink: stats.isSymbolicLink(),
  size: stats.size,
  mode: renderMode(stats),
  mtime: renderTime(stats),
});
