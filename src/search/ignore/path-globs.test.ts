import { expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { GlobList, PathGlobs } from "./path-globs.ts";

const nameOf = (text: string) => {
  const bytes = Buffer.from(text);
  return { bytes, from: 0, to: bytes.length };
};
const globsOf = (...include: string[]) => PathGlobs.of(new GlobList(include), new GlobList([]))!;

test.each([
  ["lib/**", ["lib", "lib/x"], [".git", "test/lib"]],
  ["./lib/*.js", ["lib"], [".git", "lib/x"]],
  ["/c.js", [], [".git"]],
  ["src/*/a.ts", ["src", "src/x"], ["src/x/y", "lib"]],
  ["*.js", [".git", "a/b"], []],
  ["**/a.js", [".git", "a/b"], []],
  ["{lib,test}/**", ["lib", ".git"], []],
  ["!lib/**", ["lib", ".git"], []],
])("what %s may select in folders", (glob, may, cannot) => {
  const at = (folder: string) => {
    const names = folder.split("/");
    return globsOf(glob).mayTakeBelow(names.slice(0, -1).join("/"), nameOf(names.at(-1)!));
  };
  expect(may.filter(at)).toEqual(may);
  expect(cannot.filter(at)).toEqual([]);
});

test("a folder that globs select a file in may hold one", () => {
  const part = fc.constantFrom("a", "b", "*", "**", "?", "{a,b}", "[ab]", "a*", "\\a");
  const glob = fc
    .tuple(fc.constantFrom("", "/", "./", "!"), fc.array(part, { minLength: 1, maxLength: 4 }))
    .map(([start, parts]) => start + parts.join("/"));
  const path = fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(glob, { minLength: 1, maxLength: 3 }), path, (globs, names) => {
      const all = globsOf(...globs);
      if (!all.takesFile(names.slice(0, -1).join("/"), nameOf(names.at(-1)!))) return;
      for (let depth = 1; depth < names.length; depth++) {
        const above = names.slice(0, depth - 1).join("/");
        expect(all.mayTakeBelow(above, nameOf(names[depth - 1]!))).toBe(true);
      }
    }),
    propertyRuns(500),
  );
});
