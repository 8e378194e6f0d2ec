import { expect, test } from "bun:test";
import type { Hir } from "./hir.ts";
import { createRegexEngine } from "./rust-regex.ts";
import { anyText, extentOf, linePartsOf, matchesEmpty, matchesWithinLines } from "./text-shape.ts";

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
  ["foo\\(\\s*bar", ["foo\\(", "bar"]],
  ["a\\w+\\n\\w", ["a\\w+", "\\w"]],
  ["\\w+ [^}]", ["\\w+ "]],
  ["a\\nb\\r\\nc", ["a", "b\\r", "c"]],
  ["a|b\\n", []],
  ["\\Aa\\s", []],
  ["a\\s+\\z", []],
])("the parts of %s that match in one line", (pattern, expected) => {
  const found = linePartsOf(hirOf(pattern)).map(({ part }) => part);
  expect(found.map(stringify)).toEqual(expected.map((part) => stringify(concatOf(hirOf(part)))));
});

const stringify = (hir: Hir): string =>
  JSON.stringify(hir, (_, value) => (value instanceof Uint8Array ? [...value] : value));

const concatOf = (hir: Hir): Hir => (hir.kind === "concat" ? hir : { kind: "concat", of: [hir] });

test.each([
  ["a", 0, "a"],
  ["(?i:k)", 0, "Kk\xff"],
  ["a\\n(b|\\nc)", 2, "\nabc"],
  ["(?:\\n[0-2]){3}", 3, "\n012"],
  ["\\s*", Number.POSITIVE_INFINITY, "\t\n\v\f\r \xff"],
  ["(?:\\n){9}", Number.POSITIVE_INFINITY, "\n"],
])("what a match of %s holds", (pattern, newlines, bytes) => {
  const extent = extentOf([hirOf(pattern)]);
  const held = [...extent.bytes.keys()].filter((byte) => extent.bytes[byte] === 1);
  expect([extent.newlines, held.filter((byte) => byte < 0x80 || byte === 0xff)]).toEqual([
    newlines,
    [...Buffer.from(bytes, "latin1")],
  ]);
  expect(extent.isAny).toBe(false);
});

test("a match of (?s).* holds anything", () => {
  expect(extentOf([hirOf("(?s).*")])).toEqual(anyText);
});
