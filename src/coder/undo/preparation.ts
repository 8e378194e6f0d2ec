/** The entries to move away, and the folders to make, before an undo can restore its paths. */
import { posix } from "node:path";
import type { UndoConflict } from "../../filesystem/journal/undo-records.ts";

/** Returns what has to be moved away before `force`, or a plain undo, can restore a path. */
export const pathsInTheWay = (conflicts: readonly UndoConflict[]): string[] => [
  ...new Set(
    conflicts.flatMap(({ stays, found, holds, path }) =>
      stays && found !== "absent" ? (holds ?? path) : [],
    ),
  ),
];

/** Returns the folders that have to be made for what is to be restored in them. */
export const missingFolders = (conflicts: readonly UndoConflict[]): string[] => [
  ...new Set(
    conflicts.flatMap(({ stays, below }) => (stays && below !== undefined ? posix.dirname(below) : [])),
  ),
];
