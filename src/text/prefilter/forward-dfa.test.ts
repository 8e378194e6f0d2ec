import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { PatternError } from "../regex/regex-runtime.ts";
import { createRegexEngine } from "../regex/rust-regex.ts";
import { compileForwardDfa } from "./forward-dfa.ts";
import { createSearchKernel, type ForwardMatch, type SearchKernel } from "./kernel.ts";
import { anyPattern } from "./patterns.test-kit.ts";
import { prefixStringOf } from "./prefilter.ts";

const { runtime } = createRegexEngine();
const kernel = createSearchKernel() as SearchKernel;

const budget = 100_000;

/** Returns the first match of `pattern` in the text, or the budget left over; `undefined` without a DFA. */
function matchOf(pattern: string, bytes: Buffer, from = 0): ForwardMatch | undefined {
  const hir = runtime.compile(pattern).syntax();
  const string = prefixStringOf(hir);
  const dfa = compileForwardDfa(hir);
  if (string === undefined || dfa === undefined) return undefined;
  const text = kernel.reserve(bytes.length + 64).fill("foo \n");
  bytes.copy(text);
  return { ...kernel.searchForward(text, { string, dfa }, { from, to: bytes.length, budget }) };
}

describe("compileForwardDfa", () => {
  test.each([
    ["a literal", "foo", "a foo foo", [2, 5]],
    ["nothing there", "foo", "fo oo", [-1]],
    ["a match over lines", "\\{\\n\\s+\\w+;", "{\n{\n  a;\n", [2, 8]],
    ["the longest of a greedy loop", "a[^z]*b", "a b b\nb c", [0, 7]],
    ["the shortest of a lazy loop", "a[^z]*?b", "a b b\nb c", [0, 3]],
    ["the first branch that matches", "x(?:a|ab)", "xab", [0, 2]],
    ["the first branch where the second is longer", "x(?:ab|abc)", "xabc", [0, 3]],
    ["the second branch where the first ends early", "x(?:abc|ab)d", "xabd", [0, 4]],
    ["the end of the text", "a\\z", "aa", [1, 2]],
    ["the end of a line", "(?m)a$", "ab\na\nb", [3, 4]],
    ["the start of a line", "(?m)^b", "ab\nb", [3, 4]],
    ["a word's start", "\\bb", "ab b", [3, 4]],
    ["a return and a newline as one line's end", "(?Rm)a\\r$", "a\r\n", [-1]],
    ["a return as a line's end", "(?Rm)a$", "a\rb", [0, 1]],
    ["behind a return that is a line's end", "(?Rm)^b", "a\rb", [2, 3]],
    ["the start of the text", "\\Aa", "aa", [0, 1]],
    ["not the start of the text", "\\Aa", "ba", [-1]],
    ["in any case", "(?i)ab\\s+c", "aB AB\nc", [3, 7]],
    ["an overlapping start", "aab\\s", "aaab\n", [1, 5]],
  ])("%s", (_, pattern, text, [start, end]) => {
    const match = matchOf(pattern, Buffer.from(text));
    expect(match?.start).toBe(start);
    if (end !== undefined) expect(match?.end).toBe(end);
  });

  test("sees what is before the first place where a match may start", () => {
    expect(matchOf("\\bb", Buffer.from("abb"), 1)?.start).toBe(-1);
    expect(matchOf("\\Bb", Buffer.from("abb"), 1)?.start).toBe(1);
  });

  test.each([
    ["nothing of a match", "a[^z]*z", "a....zoo", 0],
    ["what is behind a match", "a[^z]*b", "ab...zoo", 3],
    ["starts without a match", "a[^z]*;", "a..za..za;", 6],
    ["starts without a match to the end of the text", "a[^z]*z", "az a..", 0],
  ])("takes from the budget %s", (_, pattern, text, read) => {
    expect(matchOf(pattern, Buffer.from(text))?.budget).toBe(budget - read);
  });

  test("ends when the budget is spent", () => {
    expect(matchOf("a[^z]*;", Buffer.from("a".repeat(1000)))?.start).toBeUndefined();
  });

  test("a pattern that would take many states has none, nor has one with a loop over nothing", () => {
    for (const pattern of ["a{300}", "a(?:a?){2}b", "a(?:a*)*b", "a(?:\\b|a)+"])
      expect(matchOf(pattern, Buffer.from("a"))).toBeUndefined();
  });
});

const text = fc
  .array(fc.constantFrom(..."aaabbk_-1 .\r\n\n\t"), { maxLength: 40 })
  .map((parts) => parts.join(""));
const prefix = fc.constantFrom("a", "a", "b", "ab", "(?i:k)", "\\b1", "(?m:^)a", "\\n", "a+", "a?b");
const middle = fc.constantFrom("", "[^_]*", "[^_]*?", "(?s:.*)", "(?s:.*?)", "\\s*", "(?:b|a\\n)*");
const rest = fc.oneof(
  anyPattern,
  anyPattern.map((one) => `(?:${one}|[-_1])`),
);

test("a forward DFA finds the match that the engine finds", () => {
  let [tried, found] = [0, 0];
  fc.assert(
    fc.property(fc.tuple(prefix, middle, rest), text, (parts, content) => {
      const pattern = parts.join("");
      const bytes = Buffer.from(content);
      const expected: number[] = [];
      try {
        runtime.compile(pattern).visitEach(bytes, { from: 0, to: bytes.length, limit: 1 }, (start, end) => {
          expected.push(start, end);
          return true;
        });
      } catch (error) {
        fc.pre(!(error instanceof PatternError));
        throw error;
      }
      const match = matchOf(pattern, bytes);
      if (match === undefined) return;
      expect(match.start === -1 ? [] : [match.start!, match.end]).toEqual(expected);
      tried++;
      if (expected.length > 0) found++;
    }),
    propertyRuns(700),
  );
  expect([tried, found].every((count) => count > 10)).toBe(true);
});
