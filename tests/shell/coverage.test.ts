import { expect, test } from "bun:test";
import { shellCatalogue } from "./catalogue.ts";

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Refusals to start, which start.test.ts tests without calls. */
const elsewhere: ReadonlySet<number> = new Set([104, 105]);

test("no case of the table is left out", () => {
  const covered = new Set(shellCatalogue.map(({ number }) => number));
  const wanted = range(1, 203).filter((number) => !elsewhere.has(number));
  expect(wanted.filter((number) => !covered.has(number))).toEqual([]);
});
