import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileExcludeGlobs, excludesPath } from "./exclude-globs.ts";
import { compileGlobSet, GlobError } from "./glob-set.ts";

describe("globs that end in a component of two stars exclude folders", () => {
  test.each([
    ["**/dist/**", ["dist", "a/dist"], ["a", "distance", "dist.js"]],
    ["gen/**", ["gen"], ["a/gen"]],
    ["{a,b}/c/**", ["a/c", "b/c"], ["c"]],
  ])("%s", (glob, yes, no) => {
    const { folders, others } = compileExcludeGlobs([glob]);
    expect(yes.every((path) => folders.matches(path))).toBe(true);
    expect(no.some((path) => folders.matches(path))).toBe(false);
    expect(others).toBeUndefined();
  });

  test.each(["*.js", "a/*", "dist/", "a\\/**", "**//**", "/**"])("%s excludes none", (glob) => {
    const { folders, others } = compileExcludeGlobs([glob]);
    expect([folders.size, others?.size]).toEqual([0, 1]);
  });
});

test("a path in an excluded folder is excluded", () => {
  const globs = compileExcludeGlobs(["**/dist/**", "*.js"]);
  expect(["dist", "a/dist/b/c"].every((path) => excludesPath(globs, path))).toBe(true);
  expect(["", "a", "a/b", "a.js"].some((path) => excludesPath(globs, path))).toBe(false);
});

test("a glob that does not compile is refused", () => {
  expect(() => compileExcludeGlobs(["a/{**"])).toThrow(GlobError);
});

test("everything in a folder that is excluded is matched by the globs", () => {
  const part = fc.constantFrom("a", "b", "*", "?", "**/", "/", "/**", "[ab]", "{a,b/}", "\\a");
  const path = fc
    .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 3 })
    .map((names) => names.join("/"));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), path, path, (parts, folder, below) => {
      const glob = `${parts.join("")}/**`;
      if (!compileExcludeGlobs([glob]).folders.matches(folder)) return;
      expect(compileGlobSet([glob]).matches(`${folder}/${below}`)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
