import { expect, test } from "bun:test";
import { createRegexEngine } from "./engine.ts";
import type { Hir } from "./hir.ts";
import { firstLineOf, matchesEmpty, matchesWithinLines } from "./text-shape.ts";

const { runtime } = createRegexEngine();
const hirOf = (pattern: string): Hir => runtime.compile(`(?mR)${pattern}`).syntax();

test.each([
  ["foo", true],
  ["^\\w+.*\\b$", true],
  ["a|b{2}[^\\n]", true],
  ["a\\nb", false],
  ["a\\s", false],
  ["[^x]", false],
  ["(?s).", false],
  ["(a|\\W)*", false],
  ["\\Aa", false],
  ["a\\z", false],
])("whether %s matches within lines", (pattern, expected) => {
  expect(matchesWithinLines(hirOf(pattern))).toBe(expected);
});

test.each([
  ["a", false],
  ["a*", true],
  ["a+", false],
  ["(a*)+", true],
  ["^", true],
  ["a|b?", true],
  ["^a", false],
  ["", true],
])("whether %s matches the empty text", (pattern, expected) => {
  expect(matchesEmpty(hirOf(pattern))).toBe(expected);
});

test.each([
  ["foo\\(\\s*bar", "foo\\("],
  ["a\\w+\\n\\w", "a\\w+"],
  ["\\w+ [^}]", "\\w+ "],
])("the first line of %s", (pattern, first) => {
  const hir = firstLineOf(hirOf(pattern));
  expect(hir?.kind === "concat" && hir.of.length > 0).toBe(true);
  expect(JSON.stringify(hir)).toBe(JSON.stringify({ kind: "concat", of: partsOf(hirOf(first)) }));
});

test.each(["\\Aa\\s", "a\\s+\\z", "a|b\\n"])("no first line of %s", (pattern) => {
  expect(firstLineOf(hirOf(pattern))).toBeUndefined();
});

const partsOf = (hir: Hir): readonly Hir[] => (hir.kind === "concat" ? hir.of : [hir]);
