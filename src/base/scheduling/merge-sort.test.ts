import { expect, test } from "bun:test";
import { itemsPerStep, mergeSort } from "./merge-sort.ts";
import { runAtOnce } from "./time-slice.ts";

const isBefore = (one: number, other: number) => one < other;

/** Returns the numbers from 0 in a scrambled order. */
const shuffled = (count: number) => Array.from({ length: count }, (_, i) => (i * 7919) % count);

test.each([0, 1, 2, 2047, 2048, 2049, 4096, 10_000, 65_537])("%p items come in order", (count) => {
  const items = shuffled(count);
  const expected = items.toSorted((one, other) => one - other);
  expect(runAtOnce(mergeSort(items, isBefore))).toEqual(expected);
});

test("many items take many steps, of which none compares more than one chunk is worth", () => {
  let compared = 0;
  let steps = 0;
  const sorting = mergeSort(shuffled(50_000), (one, other) => {
    compared++;
    return one < other;
  });
  for (; sorting.next().done !== true; steps++) {
    // A chunk needs at most 2048 * log2(2048) comparisons.
    expect(compared).toBeLessThan(2048 * 12);
    compared = 0;
  }
  expect(steps).toBeGreaterThan(100);
});

test("items with long keys are sorted in smaller steps", () => {
  expect([0, 256, 4096].map(itemsPerStep)).toEqual([2048, 2048, 128]);
  const [items, expected] = [shuffled(2000), shuffled(2000).toSorted((one, other) => one - other)];
  let compared = 0;
  const sorting = mergeSort(
    items,
    (one, other) => {
      compared++;
      return one < other;
    },
    itemsPerStep(4096),
  );
  let step = sorting.next();
  for (; step.done !== true; step = sorting.next()) {
    expect(compared).toBeLessThan(128 * 8);
    compared = 0;
  }
  expect(step.value).toEqual(expected);
});
