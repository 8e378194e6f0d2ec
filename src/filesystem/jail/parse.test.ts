import { describe, expect, test } from "bun:test";
import { parsePath, validateNewPath } from "./parse.ts";

describe("a path is taken apart", () => {
  test.each([
    [".", [], true],
    ["a", ["a"], false],
    ["a/b.txt", ["a", "b.txt"], false],
    ["./a//b/./c", ["a", "b", "c"], false],
    ["a/", ["a"], true],
    ["a/.", ["a"], true],
    ["a/../b", ["a", "..", "b"], false],
    ["..", [".."], false],
    ["~/x", ["~", "x"], false],
    ["%2e%2e/x", ["%2e%2e", "x"], false],
    ["file:x", ["file:x"], false],
    ["a\\b", ["a\\b"], false],
  ])("%p", (path, names, folderOnly) => {
    expect(parsePath(path)).toEqual({ names, folderOnly });
  });
});

describe("a path below a root is taken apart as the rest of it would be", () => {
  test.each([
    ["/a/b/c", ["c"], false],
    ["/a/b/c/", ["c"], true],
    ["/a/b/c/..", ["c", ".."], false],
    ["/a/b", [], false],
    ["c/", ["c"], true],
  ])("%p", (path, names, folderOnly) => {
    expect(parsePath(path, ["/a/b/"])).toEqual({ names, folderOnly });
  });

  test.each([
    ["/a/bc", /leaves the base/],
    ["/a/b/../c", /leaves the base/],
    ["/a/b/\0", /NUL/],
    ["/a/b/\ud800", /well-formed/],
    [`/a/b/${"n".repeat(256)}`, /255 bytes/],
  ])("or refused as that: %p", (path, why) => {
    expect(() => parsePath(path, ["/a/b/"])).toThrow(why);
  });
});

describe("what is no path is refused", () => {
  test.each([
    ["", /empty/],
    ["a\0b", /NUL/],
    ["/etc/passwd", /absolute/],
    ["//x", /absolute/],
    ["a/\ud800", /well-formed/],
    ["\udc00\ud800", /well-formed/],
    ["n".repeat(256), /255 bytes/],
    ["あ".repeat(86), /255 bytes/],
    [`${"d/".repeat(2048)}f`, /4096 bytes/],
  ])("%p", (path, why) => {
    expect(() => parsePath(path)).toThrow(why);
  });

  test("but the longest names and paths are not", () => {
    expect(parsePath("あ".repeat(85)).names).toHaveLength(1);
    expect(parsePath("d/".repeat(2048)).names).toHaveLength(2048);
  });
});

describe("a new path is refused", () => {
  test.each([
    ["a\\b", /backslash/],
    ["\\\\server\\share", /backslash/],
    ["C:\\x", /drive/],
    ["c:/x", /drive/],
    ["a\nb", /control/],
    ["a\u007fb", /control/],
    ["new/", /ends with/],
  ])("%p", (path, why) => {
    const { names, folderOnly } = parsePath(path);
    expect(() => validateNewPath(path, names, folderOnly)).toThrow(why);
  });

  test("only for that: letters of all scripts, blanks and odd signs may be in a name", () => {
    for (const path of ["ä b/日本.txt", "a:b", "-rf", "x\u200dy", "'\"$`"]) {
      expect(() => validateNewPath(path, parsePath(path).names, false)).not.toThrow();
    }
  });
});
