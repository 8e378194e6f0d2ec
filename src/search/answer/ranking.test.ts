import { expect, test } from "bun:test";
import type { Folder } from "../../filesystem/jail/folder.ts";
import { FuzzyPattern } from "../matchers/fuzzy.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import { BestPaths } from "./ranking.ts";

/** Adds files to the paths until a step is over or they are full. Returns their number. */
function addUntilFull(best: BestPaths, path: string, most: number): number {
  const folder = new SharedFolder({ path } as Folder, () => {}, `${path}/`);
  const name = Buffer.from("a".repeat(100));
  for (let count = 0; count < most; count++) if (!best.add(folder, name, 0, name.length)) return count;
  return most;
}

test("a long query ends a step of the walk after a few long paths, and the next step goes on", () => {
  const best = new BestPaths(new FuzzyPattern("a".repeat(100)), 1000, undefined);
  const path = "a/".repeat(2000).slice(0, -1);
  expect(addUntilFull(best, path, 100)).toBe(1);
  expect(addUntilFull(best, path, 100)).toBe(1);
  expect(addUntilFull(new BestPaths(new FuzzyPattern("a"), 1000, undefined), "a", 100)).toBe(100);
});

test("very many paths are ranked in steps, and those that are not among the best dropped", () => {
  const best = new BestPaths(new FuzzyPattern("a"), 10_000, undefined);
  while (!best.isFull) addUntilFull(best, "a", 100_000);
  const dropping = best.drop();
  let steps = 0;
  while (!dropping.next().done) steps++;
  expect(steps).toBeGreaterThan(9);
  expect(addUntilFull(best, "a", 1)).toBe(1);
});
