/** The search without the engine finds the matches of the engine, and leaves the rest to it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { compileForwardDfa } from "../../text/prefilter/forward-dfa.ts";
import { createSearchKernel } from "../../text/prefilter/kernel.ts";
import { choosePrefixPrefilter } from "../../text/prefilter/prefilter.ts";
import { PatternError } from "../../text/regex/regex-runtime.ts";
import { createRegexEngine } from "../../text/regex/rust-regex.ts";
import { AnchoredSearch } from "./anchored-search.ts";
import {
  compilers,
  countSpansIn,
  type LineQuery,
  plain,
  rangesIn,
  rangesInWhole,
  searchSpansIn,
} from "./lines.test-kit.ts";
import type { TextMatcher } from "./matcher.ts";

const queryOf = (pattern: string): LineQuery => ({
  ...plain,
  pattern,
  regex: true,
  every: true,
  multiline: true,
});

const anchoredOf = (query: LineQuery) => (compilers[1]!.compile(query) as TextMatcher).anchored;

const inVain = "foo ".repeat(500);

describe("a pattern that starts with a literal", () => {
  test.each([
    [
      "behind a start that fails",
      "\\{\\n\\s+return \\w+;",
      "{\n{\n  return a;\n{\n  b\n}\n{\n\treturn c;",
      2,
    ],
    ["behind an overlapping start that fails", "aab\\s", "aaab\naaaab\n", 2],
    ["one after the other", "foo[^;]*;", "foo;foo\n;\nfoo;\n", 3],
    ["with the longest of a greedy loop", "foo(?s:.*);", "foo;foo\n;\nfoo;\n", 1],
    ["in any case", "(?i:foo)\\s+x", "FOO\nx fOo\n\nx foo\nX", 2],
    ["at the start of a line", "(?m)^foo\\s+x", "foo\nx foo\nx\nfoo x", 2],
    ["after the DFA has read too much in vain", "foo[^;}]*;", `foo;\nfoo;foo\n;${inVain}}foo\n;`, 4],
    ["after that within a line", "foo[^;}]*;", `x foo; ${inVain}} foo\n;foo;`, 3],
    [
      "before the rarer literal that says whether there is one",
      "foo[^;]*zebraQuokka",
      "foo\nfoo\nzebraQuokka",
      1,
    ],
    ["in a text that is not ASCII", "foo[^;]*;", "é foo é\n;foo;", 2],
    ["behind bytes that are no text", "foo[^;]*;", Buffer.from("\xff foo\n; \xff", "latin1"), 1],
  ])("is found %s", (_, pattern, content, count) => {
    const query = queryOf(pattern);
    const bytes = Buffer.from(content as string);
    expect(anchoredOf(query)).toBeDefined();
    const expected = rangesInWhole(bytes, query);
    expect(expected).toHaveLength(count);
    expect(rangesIn(searchSpansIn(bytes, query), bytes)).toEqual(expected);
    expect(countSpansIn(bytes, query)).toBe(count);
    expect(countSpansIn(bytes, query, { maxMatches: 1 })).toBe(1);
    expect(searchSpansIn(bytes, query, { maxMatches: 1 })).toEqual(searchSpansIn(bytes, query).slice(0, 1));
  });

  test("has an end to what the DFA reads in vain", () => {
    const text = Buffer.from(inVain);
    const query = queryOf("foo[^;]*;");
    let polls = 0;
    const isOver = () => ++polls < 0;
    expect(searchSpansIn(text, query, { isOver })).toEqual([]);
    expect(polls).toBeLessThan(50);
  });

  test("is told a binary by the candidates of the engine's prefilter", () => {
    let binaries = 0;
    const onBinary = () => binaries++;
    const query = queryOf("foo\\n\\s+return \\w+;");
    expect(searchSpansIn(Buffer.from("foo\n return x;\0"), query, { onBinary })).toEqual([]);
    expect(binaries).toBe(2);
  });
});

test("the engine searches where the DFA has read much beside matches, until that is a small share", () => {
  const { runtime } = createRegexEngine();
  const kernel = createSearchKernel()!;
  const hir = runtime.compile("foo[^;]*;").syntax();
  const search = new AnchoredSearch(kernel, {
    ...choosePrefixPrefilter(hir, kernel)!,
    dfa: compileForwardDfa(hir)!,
  });
  const startIn = (content: string) => {
    const text = kernel.reserve(content.length + search.slack + 1);
    text.write(content);
    search.prepare(text, content.length);
    return search.next(text, 0);
  };
  expect(startIn("x foo;")).toBe(2);
  expect(startIn("foo ".repeat(25_000))).toBeUndefined();
  expect(startIn("x foo;")).toBeUndefined();
  expect(startIn("x bar;")).toBe(-1);
  expect(startIn(`x foo;${" ".repeat(600_000)}`)).toBe(2);
});

test.each([
  ["[Z\\x{FFFD}]QJ\\n\\w+", "\xffQJ\nbar"],
  ["ZQ[J\\x{FFFD}]\\n\\w+", "ZQ\xff\nbar"],
])("a literal of %j may be bytes that are no text", (pattern, content) => {
  const query = queryOf(pattern);
  const bytes = Buffer.from(content, "latin1");
  expect(rangesIn(searchSpansIn(bytes, query), bytes)).toEqual([[0, bytes.length]]);
});

test.each([
  ["does not start with a literal", "\\s*foo\\n"],
  ["may start otherwise", "(?:foo)?bar\\n"],
  ["starts with several literals", "(?:foo|bar)\\s+x"],
  ["starts with a more frequent literal than another", "e[^;]*zebraQuokka"],
])("a pattern has no such search that %s", (_, pattern) => {
  expect(anchoredOf(queryOf(pattern))).toBeUndefined();
});

const starts = ["foo", "(?:foo|bar)", "(?i:foo)", "\\{\\n", "(?:foo)+", "[fb]oo", "^foo", "\\bfoo"];
const parts =
  "\\s*,\\s+,\\n,[^;]*,[^;]*?,(?s:.*?),(?s:.*),\\w+,\\b,\\B,^,$,;,x?,(?:x|foo)*,(?:\\n|x){0,3},é?,.,(?:;|\\b)";
const pattern = fc
  .tuple(
    fc.constantFrom(...starts),
    fc.array(fc.constantFrom(...parts.split(",").slice(0, 1), ...parts.split(",")), { maxLength: 5 }),
  )
  .map(([start, others]) => start + others.join(""));
const content = fc
  .array(fc.constantFrom(..."foo,foo,bar,FOO,{,},;,x, ,\n,\n,\r\n,\r,_".split(",")), { maxLength: 50 })
  .map((chosen) => chosen.join(""));

test("the anchored search equals the engine on the whole text", () => {
  let anchored = 0;
  fc.assert(
    fc.property(content, pattern, (text, source) => {
      const query = queryOf(source);
      try {
        if (anchoredOf(query) !== undefined) anchored++;
      } catch (error) {
        fc.pre(!(error instanceof PatternError));
      }
      const bytes = Buffer.from(text);
      const expected = rangesInWhole(bytes, query);
      expect(rangesIn(searchSpansIn(bytes, query), bytes)).toEqual(expected);
      expect(countSpansIn(bytes, query)).toBe(expected.length);
    }),
    propertyRuns(450),
  );
  expect(anchored).toBeGreaterThan(20);
});
