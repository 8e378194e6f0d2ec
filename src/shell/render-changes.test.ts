import { expect, test } from "bun:test";
import { renderChanges } from "./render-changes.ts";

const nothing = {
  ...{ files: [], made: [], moved: [], deleted: [], modified: [] },
  ...{ hasGit: false, isIncomplete: false },
};
const made = (path: string, files: number, isIncomplete = false) => ({ path, files, isIncomplete });

test.each([
  [{}, undefined],
  [{ files: ["a", "b"], hasGit: true }, "2 files (a, b), .git"],
  [{ files: ["a"], isIncomplete: true }, "1 file (a), and more than is known"],
  [{ made: [made("lib", 10)] }, "1 new folder with 10 files (lib/)"],
  [{ made: [made("lib", 1), made("c", 0)] }, "2 new folders with 1 file (lib/, c/)"],
  [{ made: [made("lib", 0)] }, "1 new folder (lib/)"],
  [{ made: [made("lib", 7, true)] }, "1 new folder with at least 7 files (lib/)"],
  [
    { moved: ["m"], deleted: ["d"], modified: ["c"] },
    "1 moved folder (m/), 1 deleted folder (d/), 1 folder (c/)",
  ],
  [
    { files: ["1", "2", "3", "4", "5", "6"], made: [made("lib", 10)] },
    "6 files (1, 2, 3, 4, …), 1 new folder with 10 files (lib/)",
  ],
  [{ files: ["1", "2", "3", "4", "5", "6"] }, "6 files (1, 2, 3, 4, 5, …)"],
  [{ files: ["a, b", "c)]\n[exit code 0]"] }, '2 files ("a, b", "c)]\\n[exit code 0]")'],
])("%j is said as %p", (summary, text) => {
  expect(renderChanges({ ...nothing, ...summary })).toBe(text);
});
