import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { removeCopies, removedFolders } from "./snapshot.ts";

/** Takes steps, and returns their number and their result. */
function countSteps<T>(steps: Steps<T>): { readonly count: number; readonly value: T } {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next();
    if (done) return { count, value };
  }
}

test("copies are removed one by one", () => {
  const location = mkdtempSync(join(tmpdir(), "coder-copies-"));
  for (let index = 0; index < 100; index++) writeFileSync(join(location, `${index}`), "");
  expect(countSteps(removeCopies(location)).count).toBe(100);
  expect(existsSync(location)).toBe(false);
});

test("the folders of 10,000 removed files below 250 others are found in steps", () => {
  const folders = new Map(
    Array.from({ length: 250 }, (_, index) => ["d/".repeat(index + 1).slice(0, -1), 0o755]),
  );
  const deepest = "d/".repeat(250);
  const unseen = Array.from({ length: 10_000 }, (_, index) => `${deepest}${index}`);
  const after = { folders: new Set<string>(), mixed: new Set<string>(), unseen };
  const { count, value } = countSteps(removedFolders({ folders, mixed: new Set(folders.keys()) }, after));
  expect(value).toEqual([...folders.keys()].reverse());
  expect(count).toBe(unseen.length + folders.size);
});
