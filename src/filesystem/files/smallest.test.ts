import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { Smallest } from "./smallest.ts";

const isBefore = (one: string, other: string) => one < other;

/** Returns the smallest of the texts, which are added piece by piece. */
function smallestOf(texts: readonly string[], count: number, piece: number): string[] {
  const smallest = new Smallest<string>(count, isBefore);
  for (const [index, text] of texts.entries()) {
    smallest.add(text);
    if (index % piece === piece - 1) runAtOnce(smallest.trim());
  }
  return [...(smallest.fewInOrder() ?? runAtOnce(smallest.inOrder()))];
}

test("is the beginning of what sorting gives", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 3 })),
      fc.nat(60),
      fc.integer({ min: 1, max: 20 }),
      (texts, count, piece) => {
        expect(smallestOf(texts, count, piece)).toEqual([...texts].sort().slice(0, count));
      },
    ),
    { numRuns: 2000 },
  );
});

test("of many, in whatever order they come", () => {
  const sorted = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, "0"));
  const shuffled = sorted.map((_, i) => sorted[(i * 1999) % 5000]!);
  for (const texts of [sorted, sorted.toReversed(), shuffled]) {
    for (const count of [0, 1, 7, 200, 1249, 1250, 1251, 6000, Number.POSITIVE_INFINITY]) {
      expect(smallestOf(texts, count, 300)).toEqual(sorted.slice(0, count));
    }
  }
});
