import { expect, test } from "bun:test";
import fc from "fast-check";
import { smallest } from "./smallest.ts";

test("is the beginning of what sorting gives", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3 })), fc.nat(60), (texts, count) => {
      const given = [...texts];
      expect(smallest(texts, count)).toEqual([...texts].sort().slice(0, count));
      expect(texts).toEqual(given);
    }),
    { numRuns: 2000 },
  );
});

test("of many, in whatever order they come", () => {
  const sorted = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, "0"));
  const shuffled = sorted.map((_, i) => sorted[(i * 1999) % 5000]!);
  for (const texts of [sorted, sorted.toReversed(), shuffled]) {
    for (const count of [0, 1, 7, 200, 1249, 1250, 1251, 6000]) {
      expect(smallest(texts, count)).toEqual(sorted.slice(0, count));
    }
  }
});
