import { expect, test } from "bun:test";
import type { Backend } from "./backend.ts";
import type { Folding, Naming } from "./name-comparison.ts";
import { resolveBeneath } from "./resolve-beneath.ts";

/**
 * Returns the path that is resolved beneath over "a" and "b" with such names in the base, and the folding
 * with which each folder on the way is judged.
 */
function resolveWith(naming: Naming): [path: string | undefined, requested: Folding[]] {
  const requested: Folding[] = [];
  const backend = { canResolveBeneath: true, naming } as Backend;
  const denies = (_: string, folding: Folding) => {
    requested.push(folding);
    return false;
  };
  return [resolveBeneath({ backend, denies }, ["a", "b"], (path) => path), requested];
}

test("the way is judged in folded spelling where a folder on it might fold, which a leap does not see", () => {
  expect(resolveWith({ folding: "exact", isFlagged: false })).toEqual(["a/b", ["exact", "exact"]]);
  expect(resolveWith({ folding: "exact", isFlagged: true })).toEqual(["a/b", ["folded", "folded"]]);
  expect(resolveWith({ folding: "folded", isFlagged: false })).toEqual(["a/b", ["folded", "folded"]]);
});

test("where names may be found under others, each is taken by itself", () => {
  expect(resolveWith({ folding: "foreign", isFlagged: false })).toEqual([undefined, []]);
});
