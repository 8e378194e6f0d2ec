import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { PatternError } from "../regex/regex-runtime.ts";
import { createRegexEngine } from "../regex/rust-regex.ts";
import { createSearchKernel, type SearchKernel } from "./kernel.ts";
import { compileLineDfa } from "./line-dfa.ts";
import { anyPattern } from "./patterns.test-kit.ts";

const { runtime } = createRegexEngine();
const kernel = createSearchKernel() as SearchKernel;

/**
 * Returns where the DFA of `pattern` places the start of its first match in `line`, or "none" without a DFA.
 */
function match(pattern: string, line: Buffer): number | undefined | "none" {
  const dfa = compileLineDfa(runtime.compile(pattern).syntax());
  if (dfa === undefined) return "none";
  const before = 40;
  const text = kernel.reserve(before + line.length + 64).fill("foo \n");
  line.copy(text, before);
  const found = kernel.matchLine(text, dfa, before, before + line.length);
  return found === undefined || found < 0 ? found : found - before;
}

describe("compileLineDfa", () => {
  test.each([
    ["a literal", "foo", "a foo foo", 2],
    ["nothing there", "foo", "fo oo", -1],
    ["the line's start", "^foo", "foo", 0],
    ["not behind the line's start", "^foo", " foo", -1],
    ["the line's end", "foo$", "foo foo", 4],
    ["an empty line", "^$", "", 0],
    ["a match of nothing", "x*", "abc", 0],
    ["a match of nothing at the end alone", "$", "abc", 3],
    ["the first of several starts", "\\w+Error\\b", "new TypeError(Error)", 4],
    ["a word's start and end", "\\b{start}oo\\b{end}", "foo oo", 4],
    ["counted characters", "\\d{4}-\\d{2}", "on 12024-01", 4],
    ["what comes from several places", "(?:ab|b)c", "xabc", 1],
    ["any case", "(?i)FOO", "a fOo", 2],
    ["a loop of nothing", "(?:a*)*b", "aab", 0],
    ["a carriage return as a character", "a\\s", "a\r", 0],
    ["a carriage return as a line's end", "(?Rm)a$", "a\rb", 0],
    ["a carriage return as no line's end", "(?m)a$", "a\rb", -1],
    ["no newline", "\\n", "a", -1],
    ["a character past ASCII that is not there", "é|b", "ab", 1],
  ])("%s", (_, pattern, line, expected) => {
    expect(match(pattern, Buffer.from(line))).toBe(expected);
  });

  test("a line with a byte past ASCII is left to others, wherever the byte is", () => {
    for (const line of ["éfoo", "foo é", "foo\xff"]) expect(match("foo", Buffer.from(line))).toBeUndefined();
  });

  test("a pattern that would take many states has none", () => {
    for (const pattern of ["a{300}", "[ab]{9}a[ab]{9}", "(?:a{100}){100}", ".{1,250}x"])
      expect(match(pattern, Buffer.from("a"))).toBe("none");
  });
});

const line = fc
  .array(fc.constantFrom(..."aaabbk_-1 .\r\t\0"), { maxLength: 24 })
  .map((parts) => parts.join(""));

test("an dfa finds in a line what the engine finds", () => {
  let [tried, found] = [0, 0];
  fc.assert(
    fc.property(anyPattern, line, (requested, text) => {
      const bytes = Buffer.from(text);
      let expected: number;
      try {
        expected = runtime.compile(requested).find(bytes, 0, bytes.length);
      } catch (error) {
        fc.pre(!(error instanceof PatternError));
        throw error;
      }
      const here = match(requested, bytes);
      if (here === "none") return;
      tried++;
      if (here !== -1) found++;
      expect(here).toBe(expected);
    }),
    propertyRuns(700),
  );
  expect([tried, found].every((count) => count > 50)).toBe(true);
});
