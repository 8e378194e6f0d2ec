import { expect, test } from "bun:test";
import { tortureSearches } from "./indexed-torture.test-kit.ts";

test("600 random changes by another program: a search right after each answers as one that reads every file", async () => {
  const report = await tortureSearches({ operations: 800, seed: 20_261_123 });
  expect(report.faults).toEqual([]);
  // A run without such searches would prove nothing.
  expect(report.searches["watched"]).toBeGreaterThan(50);
  expect(report.searches["paths, watched"]).toBeGreaterThan(20);
  expect(report.loaded).toBeGreaterThan(1);
  expect(report.matches).toBeGreaterThan(0);
});

test("the same holds while the memory of the index is so small that signatures move to the disk", async () => {
  const report = await tortureSearches({ operations: 500, seed: 20_261_127, memory: 150_000 });
  expect(report.faults).toEqual([]);
  expect([report.spilled > 1, report.loaded > 0, report.searches["watched"]! > 20]).toEqual([
    true,
    true,
    true,
  ]);
});
