import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { pairLines } from "./line-pairs.ts";

const partnersOf = (lines: readonly string[], sent: readonly string[]) => runAtOnce(pairLines(lines, sent));

test.each([
  ["equal lines", ["a", "b"], ["a", "b"], [0, 1]],
  ["a line too many", ["a", "b"], ["a", "x", "b"], [0, -1, 1]],
  ["a line left out", ["a", "x", "b"], ["a", "b"], [0, 2]],
  ["other indentation", ["  a", "  b"], ["", "a", "b"], [-1, 0, 1]],
  ["a changed line", ["let a = 1;", "let b = 2;"], ["let a = 1;", "let b = 3;"], [0, 1]],
  ["lines in another case", ["let a", "b"], ["x", "LET A", "B"], [-1, 0, 1]],
  ["lines without likeness", ["a", "b"], ["x", "y"], [-1, -1]],
  ["no lines", [], ["a"], [-1]],
])("%s are paired", (_, lines, sent, partners) => {
  expect(partnersOf(lines, sent)).toEqual(partners);
});

test("pairs keep the order of both, and equal texts are paired line by line", () => {
  const lines = fc.array(fc.constantFrom("a", " a", "b", "", "let a = 1;", "let a = 2;"), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (file, sent) => {
      const partners = partnersOf(file, sent).filter((partner) => partner >= 0);
      expect(partners.toSorted((a, b) => a - b)).toEqual(partners);
      expect(new Set(partners).size).toBe(partners.length);
      expect(partners.every((partner) => partner < file.length)).toBe(true);
      expect(partnersOf(file, file)).toEqual(file.map((_, at) => at));
    }),
  );
});

test("too many lines are paired by their index", () => {
  const many = Array.from({ length: 300 }, (_, at) => `line ${at}`);
  expect(partnersOf(many, ["x", ...many])).toEqual([...many.keys(), -1]);
});
