import type { Stats } from "node:fs";
import { type FileStats, kindOf } from "../jail/kind.ts";

/** Returns the stats in the form that callers see. */
export function describe(stats: Stats): FileStats {
  return {
    kind: kindOf(stats) ?? "other",
    size: stats.size,
    mtime: Math.floor(stats.mtimeMs / 1000),
    mode: stats.mode & 0o777,
  };
}
