import { expect, test } from "bun:test";
import { shellCatalogue } from "./catalogue.ts";

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** No calls: refusals to start (start.test.ts). */
const elsewhere: ReadonlySet<number> = new Set([104, 105]);

test("no case of the table is left out", () => {
  const covered = new Set(shellCatalogue.map(({ number }) => number));
  const wanted = range(1, 203).filter((number) => !elsewhere.has(number));
  expect(wanted.filter((number) => !covered.has(number))).toEqual([]);
});
