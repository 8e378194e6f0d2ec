import { expect, test } from "bun:test";
import fc from "fast-check";
import micromatch from "micromatch";
import { compileGlobSet } from "./glob-set.ts";

const matches = (glob: string, path: string) => compileGlobSet([glob]).matches(path);

/**
 * A piece of glob text, and, by the definition of its syntax, the ends of the matches that start at `start`.
 */
interface Node {
  readonly text: string;
  readonly ends: (path: readonly string[], start: number) => readonly number[];
}

const from = (start: number, end: number) => Array.from({ length: end - start + 1 }, (_, i) => start + i);

const one = (text: string, takes: (c: string) => boolean): Node => ({
  text,
  ends: (path, start) => (start < path.length && takes(path[start]!) ? [start + 1] : []),
});

const inOrder = (nodes: readonly Node[]): Node => ({
  text: nodes.map(({ text }) => text).join(""),
  ends: (path, start) =>
    nodes.reduce<readonly number[]>(
      (starts, node) => [...new Set(starts.flatMap((at) => node.ends(path, at)))],
      [start],
    ),
});

const anyOf = (nodes: readonly Node[]): Node => ({
  text: `{${nodes.map(({ text }) => text).join(",")}}`,
  ends: (path, start) => nodes.flatMap((node) => node.ends(path, start)),
});

const star: Node = { text: "*", ends: (path, start) => from(start, path.length) };
const folders: Node = {
  text: "**/",
  ends: (path, start) => [start, ...from(start + 1, path.length).filter((end) => path[end - 1] === "/")],
};
const everythingBelow: Node = {
  text: "/**",
  ends: (path, start) => (path[start] === "/" ? from(start + 1, path.length) : []),
};
const slash = one("/", (c) => c === "/");

const character = fc.constantFrom(
  one("a", (c) => c === "a"),
  one("b", (c) => c === "b"),
  one(".", (c) => c === "."),
  one("😀", (c) => c === "😀"),
  one("\\*", (c) => c === "*"),
  one("?", () => true),
  one("[ab]", (c) => c === "a" || c === "b"),
  one("[!a]", (c) => c !== "a"),
  one("[^.-b]", (c) => !(c >= "." && c <= "b")),
);

const { name: nameNode, glob: globNode } = fc.letrec<{ name: Node; part: Node; glob: Node }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small" },
    { arbitrary: character, weight: 5 },
    { arbitrary: fc.constant(star), weight: 2 },
    { arbitrary: fc.array(tie("name"), { minLength: 1, maxLength: 3 }).map(anyOf), weight: 1 },
  ),
  name: fc
    .array(tie("part"), { minLength: 1, maxLength: 4 })
    .map(inOrder)
    .filter(({ text }) => !text.includes("**")),
  glob: fc
    .record({
      anywhere: fc.boolean(),
      names: fc.array(tie("name"), { minLength: 1, maxLength: 3 }),
      gaps: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      below: fc.boolean(),
    })
    .map(({ anywhere, names, gaps, below }) =>
      inOrder([
        ...(anywhere ? [folders] : []),
        ...names.flatMap((name, i) => (i === 0 ? [name] : gaps[i] ? [slash, folders, name] : [slash, name])),
        ...(below ? [everythingBelow] : []),
      ]),
    ),
}));

const wildPath = fc
  .array(fc.constantFrom("a", "b", ".", "/", "*", "😀", "😁", "\ud83d", "é"), { maxLength: 10 })
  .map((characters) => characters.join(""));

test("a glob agrees with a matcher that follows the definition of its syntax", () => {
  fc.assert(
    fc.property(
      fc.oneof(globNode, nameNode),
      fc.array(wildPath, { minLength: 5, maxLength: 20 }),
      (node, paths) => {
        const set = compileGlobSet([node.text]);
        for (const path of paths) {
          const characters = [...path];
          expect([path, set.matches(path)]).toEqual([
            path,
            node.ends(characters, 0).includes(characters.length),
          ]);
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test("a glob agrees with micromatch where the two dialects do", () => {
  // Not covered: `?`, classes, a final `/**` (matches the folder itself there), `**/*`, and the names "." and
  // "..".
  const text = fc.constantFrom("a", "b", ".x", "ab", "{a,b}", "{.a,b}", "b*", "a*b");
  const first = fc.constantFrom("", "**/", "*", "*/");
  const name = fc.constantFrom("a", "b", "ab", ".x", "aab", ".a", "b.x");
  const options = { bash: true, dot: true, noext: true, nonegate: true };
  fc.assert(
    fc.property(
      first,
      fc.array(fc.tuple(text, fc.constantFrom("/", "/**/")), { minLength: 1, maxLength: 3 }),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      (start, parts, names) => {
        const glob = start + parts.map(([part, gap], i) => (i === 0 ? part : gap + part)).join("");
        const path = names.join("/");
        expect([glob, path, matches(glob, path)]).toEqual([
          glob,
          path,
          micromatch.isMatch(path, glob, options),
        ]);
      },
    ),
    { numRuns: 2000 },
  );
});

test("a set matches what any of its globs matches, in any order of asking", () => {
  const paths = fc.stringMatching(/^[ab/.]{0,8}$/);
  fc.assert(
    fc.property(
      fc.array(globNode, { maxLength: 4 }),
      fc.array(paths, { maxLength: 20 }),
      (nodes, requested) => {
        const globs = nodes.map(({ text }) => text);
        const set = compileGlobSet(globs);
        expect(set.size).toBe(globs.length);
        for (const path of requested) {
          expect(set.matches(path)).toBe(globs.some((glob) => matches(glob, path)));
        }
      },
    ),
  );
});
