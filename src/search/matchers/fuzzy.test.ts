import { expect, test } from "bun:test";
import fc from "fast-check";
import { FuzzyPattern } from "./fuzzy.ts";

/** Returns the matching paths, best first. */
function rank(query: string, paths: readonly string[]): string[] {
  const pattern = new FuzzyPattern(query);
  return paths
    .map((path) => ({ path, score: pattern.score(path) }))
    .filter(({ score }) => score !== undefined)
    .sort((one, other) => other.score! - one.score! || one.path.length - other.path.length)
    .map(({ path }) => path);
}

test.each([
  [
    "srchts",
    ["src/search/search.ts", "src/search/run.ts", "docs/search.md"],
    ["src/search/search.ts", "src/search/run.ts"],
  ],
  [
    "search.ts",
    ["src/search.test.ts", "src/search/files.ts", "src/search/search.ts"],
    ["src/search/search.ts", "src/search.test.ts", "src/search/files.ts"],
  ],
  ["foo", ["f/o/o", "x/foo", "x/fo-o", "xfxoxo"], ["x/foo", "x/fo-o", "f/o/o", "xfxoxo"]],
  ["ab", ["xaxb", "src/ab", "ab/src"], ["src/ab", "ab/src", "xaxb"]],
  ["gU", ["src/getUser.ts", "src/guard.ts"], ["src/getUser.ts", "src/guard.ts"]],
  ["readme", ["README.md", "docs/readme-more.md"], ["README.md", "docs/readme-more.md"]],
  ["test search", ["src/search.test.ts", "tests/files.ts", "search/run.ts"], ["src/search.test.ts"]],
  ["a/b", ["ab", "a/x/b", "a/b"], ["a/b", "a/x/b"]],
  ["v2", ["src/api/v2/x", "src/vars2"], ["src/api/v2/x", "src/vars2"]],
  ["жук", ["docs/Жук.md", "ж/у/к"], ["docs/Жук.md", "ж/у/к"]],
  ["😀", ["a/😁", "a/😀"], ["a/😀"]],
  [" ", ["a b", "ab"], ["a b"]],
  ["zz", ["z", "abc"], []],
])("%s ranks the paths", (query, paths, ranked) => {
  expect(rank(query, paths)).toEqual(ranked);
});

/** Generates all ways to place the characters of a term. */
function* placements(term: string, path: string, from = 0): Generator<number[]> {
  if (term === "") return yield [];
  for (let at = from; at < path.length; at++)
    if (path[at]!.toLowerCase() === term[0]!.toLowerCase())
      for (const rest of placements(term.slice(1), path, at + 1)) yield [at, ...rest];
}

/** Returns the score by the rule of coder §16, written independently. */
function scoreOf(places: readonly number[], term: string, path: string): number {
  const bonusOf = (at: number) => {
    if (at === 0 || path[at - 1] === "/") return 10;
    const [before, here] = [path[at - 1]!, path[at]!];
    if (!/\w/.test(before) || before === "_" || !/\w/.test(here) || here === "_") return 8;
    if (/[A-Z]/.test(here) && /[a-z]/.test(before)) return 7;
    return /\d/.test(here) && !/\d/.test(before) ? 7 : 0;
  };
  return places.reduce((sum, at, i) => {
    const skipped = i === 0 ? 0 : at - places[i - 1]! - 1;
    const gap = skipped === 0 ? 0 : -3 - (skipped - 1);
    const bonus = i === 0 ? 2 * bonusOf(at) : skipped === 0 ? Math.max(8, bonusOf(at)) : bonusOf(at);
    const name = at > path.lastIndexOf("/") ? 2 : 0;
    return sum + 16 + gap + bonus + name + (/[A-Z]/.test(term[i]!) && path[at] === term[i] ? 8 : 0);
  }, 0);
}

const characters = fc.constantFrom(..."aabBcC12/-_. ".split(""));
const paths = fc.string({ unit: characters, minLength: 1, maxLength: 12 });
const queries = fc.string({ unit: fc.constantFrom(..."aAbB1/- ".split("")), minLength: 1, maxLength: 5 });

test("the score is that of the best of all ways to match", () => {
  fc.assert(
    fc.property(queries, paths, (query, path) => {
      const words = query.split(" ").filter((word) => word !== "");
      const terms = words.length > 0 ? words : [query];
      const best = terms.map((term) =>
        Math.max(...[...placements(term, path)].map((places) => scoreOf(places, term, path))),
      );
      const expected = best.reduce((sum, score) => sum + score, 0);
      expect(new FuzzyPattern(query).score(path)).toBe(Number.isFinite(expected) ? expected : undefined);
    }),
    { numRuns: 3000 },
  );
});
