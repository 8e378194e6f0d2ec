import { expect, test } from "bun:test";
import fc from "fast-check";
import { batchesInOrder, batchesOf, secondsOf, withinBudget } from "./batches.ts";

test("each file is in one batch, and none but a single long file is much longer than the others", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { maxLength: 60 }), (times) => {
      const seconds = Object.fromEntries(times.map((time, index) => [`${index}.test.ts`, time]));
      const files = Object.keys(seconds);
      const batches = batchesOf(files, seconds);
      expect(batches.flatMap((batch) => batch.files).sort()).toEqual(files.sort());
      for (const batch of batches) {
        const longest = Math.max(0, ...batch.files.map((file) => seconds[file]!));
        expect(batch.seconds).toBeLessThanOrEqual(25 + longest + 1e-9);
      }
    }),
  );
});

test("batches in order have the nearest files first, and only a single long file exceeds the maximum", () => {
  const seconds = { a: 4, b: 5, c: 2, d: 30, e: 0, f: 10 };
  expect(batchesInOrder(Object.keys(seconds), seconds, 10)).toEqual([
    { files: ["a", "b"], seconds: 9 },
    { files: ["c"], seconds: 2 },
    { files: ["d"], seconds: 30 },
    { files: ["e", "f"], seconds: 10 },
  ]);
});

test("a file that was never measured counts as an average file of the nearest folder with measured ones", () => {
  const seconds = { "tests/mcp/a.test.ts": 6, "tests/mcp/b/c.test.ts": 8, "tests/shell/d.test.ts": 1 };
  expect(secondsOf("tests/mcp/new.test.ts", seconds)).toBe(7);
  expect(secondsOf("tests/mcp/b/new.test.ts", seconds)).toBe(8);
  expect(secondsOf("tests/page/new.test.ts", seconds)).toBe(5);
  expect(secondsOf("src/new.test.ts", seconds)).toBe(5);
  expect(secondsOf("src/new.test.ts", {})).toBe(1);
});

test("what does not fit into the budget is passed over, and what comes after it may fit", () => {
  expect(withinBudget([3, 9, 4, 2], (cost) => cost, 9)).toEqual([3, 4, 2]);
});
