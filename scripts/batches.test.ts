import { expect, test } from "bun:test";
import fc from "fast-check";
import { batchesOf, withinBudget } from "./batches.ts";

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

test("a file that was never measured counts as a second", () => {
  expect(batchesOf(["a.test.ts"], {})).toEqual([{ files: ["a.test.ts"], seconds: 1 }]);
});

test("what does not fit into the budget is passed over, and what comes after it may fit", () => {
  expect(withinBudget([3, 9, 4, 2], (cost) => cost, 9)).toEqual([3, 4, 2]);
});
