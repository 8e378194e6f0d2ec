import { expect, test } from "bun:test";
import { compileShellGlobs, filtersFor } from "./globs.ts";

test.each([
  ["*.rs", "a/b/c.rs", true],
  ["**/*.rs", "a/b/c.rs", true],
  ["**/*.rs", "c.rs", true],
  ["src/*.rs", "src/a.rs", true],
  ["src/*.rs", "src/x/a.rs", false],
  ["src/*.rs", "x/src/a.rs", false],
  ["target/**", "target/a", true],
  ["target/**", "target/a/b", true],
  ["target/**", "target", false],
  ["**/target/**", "x/target/a", true],
  ["a/**/b", "a/x/b", true],
  ["a/**/b", "a/x/y/b", true],
  ["a/**/b", "a/b", true],
  ["a/**/b", "a/x/c", false],
  ["**", "any/thing", true],
  ["?.txt", "é.txt", false],
  ["??.txt", "é.txt", true],
  ["a?c", "a/c", false],
  ["*", ".hidden", true],
  ["a**b", "axyb", true],
  ["a**b", "x/a1b", true],
  ["[a].{b}", "[a].{b}", true],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-b-b-", false],
  ["", "a", false],
] as const)("%j on %j is %j", (glob, path, expected) => {
  expect(compileShellGlobs("include_glob", [glob]).matches(path)).toBe(expected);
});

test("globs see paths from where the search starts", () => {
  const { include, exclude } = filtersFor({ include: ["src/*"], exclude: [] }, "home/me/");
  expect([include?.matches("home/me/src/a"), include?.matches("home/me/x/src/a")]).toEqual([true, false]);
  expect(exclude?.matches("home/me/src/a")).toBe(false);
});

test("globs made to be dear are cheap or refused", () => {
  const dear = compileShellGlobs("include_glob", [`${"*a".repeat(2000)}b`]);
  expect(dear.matches("a".repeat(255))).toBe(false);
  expect(() => compileShellGlobs("include_glob", ["a".repeat(8193)])).toThrow("longer than 8192");
});

test("globs of any length end and repeat where they should", () => {
  for (const length of [30, 31, 32, 33, 63, 64, 65]) {
    const glob = compileShellGlobs("include_glob", [`*${"a".repeat(length)}?*b`]);
    const ends = ["", "b", "bb", "cb", "cbcb", "c"].map((end) => `ca${"a".repeat(length - 1)}${end}`);
    expect(ends.map((path) => glob.matches(path))).toEqual([false, false, true, true, true, false]);
  }
});

test("names that nearly match at each byte are compared with many globs in one pass", () => {
  const globs = Array.from({ length: 200 }, (_, index) => `**/*${"a".repeat(29)}${index}/**`);
  const filter = compileShellGlobs("include_glob", globs);
  const folders = Array(15).fill("a".repeat(255)).join("/");
  for (let file = 0; file < 100; file++) expect(filter.matches(`${folders}/${file}`)).toBe(false);
}, 30_000);

test("equal globs count once", () => {
  const empty = compileShellGlobs("include_glob", Array(1_000_000).fill(""));
  for (let index = 0; index < 1000; index++) expect(empty.matches(`a/${index}`)).toBe(false);
});
