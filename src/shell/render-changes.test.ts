import { expect, test } from "bun:test";
import { renderChanges } from "./render-changes.ts";

const nothing = {
  ...{ files: [], deletedFiles: [], movedFiles: [], made: [], moved: [], deleted: [], modified: [] },
  ...{ hasGit: false, isIncomplete: false },
};
const made = (path: string, files: number, { isReplacement = false, isIncomplete = false } = {}) => ({
  ...{ path, files, isReplacement, isIncomplete },
});
const move = (from: string, path: string) => ({ from, path });

test.each([
  [{}, undefined],
  [{ files: ["a", "b"], hasGit: true }, "2 files (a, b), .git"],
  [{ files: ["a"], isIncomplete: true }, "1 file (a), and more than is known"],
  [{ made: [made("lib", 10)] }, "1 new folder with 10 files (lib/)"],
  [{ made: [made("lib", 1), made("c", 0)] }, "2 new folders with 1 file (lib/, c/)"],
  [{ made: [made("lib", 0)] }, "1 new folder (lib/)"],
  [{ made: [made("lib", 7, { isIncomplete: true })] }, "1 new folder with at least 7 files (lib/)"],
  [
    { made: [made("lib", 10), made("dist", 3, { isReplacement: true })], deletedFiles: ["dist/old"] },
    "1 deleted file (dist/old), 1 new folder with 10 files (lib/), 1 replaced folder with 3 files (dist/)",
  ],
  [
    { moved: [move("l", "m")], deleted: ["d"], modified: ["c"] },
    "1 deleted folder (d/), 1 moved folder (l/ to m/), 1 folder (c/)",
  ],
  [
    { files: ["a"], deletedFiles: ["b", "c"], movedFiles: [move("d", "e f")] },
    '2 deleted files (b, c), 1 moved file (d to "e f"), 1 file (a)',
  ],
  [
    { files: ["1", "2", "3", "4", "5", "6"], made: [made("lib", 10)] },
    "6 files (1, 2, 3, 4, …), 1 new folder with 10 files (lib/)",
  ],
  [
    { files: ["1", "2", "3", "4"], deletedFiles: ["a", "b", "c", "d"] },
    "4 deleted files (a, b, c, …), 4 files (1, 2, …)",
  ],
  [{ files: ["1", "2", "3", "4", "5", "6"] }, "6 files (1, 2, 3, 4, 5, …)"],
  [{ files: ["a, b", "c)]\n[exit code 0]"] }, '2 files ("a, b", "c)]\\n[exit code 0]")'],
])("%j is said as %p", (summary, text) => {
  expect(renderChanges({ ...nothing, ...summary })).toBe(text);
});
