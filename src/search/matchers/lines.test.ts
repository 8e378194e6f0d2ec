import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { PatternError } from "../../text/regex/regex-runtime.ts";
import { compilers, countIn, type LineQuery, plain, searchEachLine, searchIn } from "./lines.test-kit.ts";

describe("searchLines", () => {
  test("a literal: line from 1, column in bytes from 1, the line without its ending", () => {
    expect(searchIn(Buffer.from("one\r\né foo foo\nfoo"), { ...plain, pattern: "foo" })).toEqual([
      { line: 2, column: 4, text: "é foo foo" },
      { line: 3, column: 1, text: "foo" },
    ]);
  });

  test("a text with a NUL byte gives nothing", () => {
    expect(searchIn(Buffer.from("foo\n\0"), { ...plain, pattern: "foo" })).toEqual([]);
  });

  test("no more matches than asked for", () => {
    expect(searchIn(Buffer.from("a\na\na\n"), { ...plain, pattern: "a" }, { maxMatches: 2 })).toHaveLength(2);
  });

  test("nothing is looked for past the cut of a line, nor across it", () => {
    const question = { ...plain, pattern: "def", maxLineBytes: 5 };
    expect(searchIn(Buffer.from("abcdef\ndef abc\n"), question)).toEqual([
      { line: 2, column: 1, text: "def a" },
    ]);
    expect(searchIn(Buffer.from("aé\n"), { ...plain, pattern: "a", maxLineBytes: 2 })).toEqual([
      { line: 1, column: 1, text: "a" },
    ]);
  });

  test("the ends of the text mean the ends of the cut line", () => {
    const question = { ...plain, pattern: "\\Aab\\z", regex: true };
    const ab = { column: 1, text: "ab" };
    expect(searchIn(Buffer.from("x\nab\r\nab"), question)).toEqual([
      { line: 2, ...ab },
      { line: 3, ...ab },
    ]);
    expect(searchIn(Buffer.from("abc\n"), { ...question, maxLineBytes: 2 })).toEqual([{ line: 1, ...ab }]);
  });

  test("case is folded as Unicode does", () => {
    const folded = (pattern: string, text: string) =>
      searchIn(Buffer.from(text), { ...plain, pattern, ignoreCase: true }).map(({ column }) => column);
    expect(folded("sK", "x \u017f\u212a")).toEqual([3]);
    expect(folded("ПРИМЕР", "вот пример")).toEqual([8]);
    expect(folded("straße", "STRASSE")).toEqual([]);
    expect(folded("a.b", "axb A.B")).toEqual([5]);
  });

  test("a line that is not UTF-8 is searched as it is shown, and its columns are those of the file", () => {
    const latin = Buffer.from("caf\xe9 FOO\n", "latin1");
    const text = "caf\ufffd FOO";
    expect(searchIn(latin, { ...plain, pattern: "FOO" })).toEqual([{ line: 1, column: 6, text }]);
    expect(searchIn(latin, { ...plain, pattern: "\ufffd f", ignoreCase: true })).toEqual([
      { line: 1, column: 4, text },
    ]);
    expect(searchIn(latin, { ...plain, pattern: "\\W\\w+$", regex: true })).toEqual([
      { line: 1, column: 5, text },
    ]);
  });
});

test("a match has the lines around it, as many as there are", () => {
  const question = { ...plain, pattern: "c", linesBefore: 2, linesAfter: 1 };
  const text = Buffer.from("a\r\nb\r\nc\r\nc");
  expect(searchIn(text, question)).toEqual([
    { line: 3, column: 1, text: "c", before: ["a", "b"], after: ["c"] },
    { line: 4, column: 1, text: "c", before: ["b", "c"], after: [] },
  ]);
});

test("disjoint lines around end before the next match, also if that is left out, and begin after the one before", () => {
  const question = { ...plain, pattern: "x", linesBefore: 2, linesAfter: 3, disjointContext: true };
  const text = Buffer.from("1\n2\nx 3\n4\nx 5\n6\n7\n8\n9\nx 10\n");
  const [first, second, third] = [
    { line: 3, column: 1, text: "x 3", before: ["1", "2"], after: ["4"] },
    { line: 5, column: 1, text: "x 5", before: [], after: ["6", "7", "8"] },
    { line: 10, column: 1, text: "x 10", before: ["9"], after: [] },
  ] as const;
  expect(searchIn(text, question)).toEqual([first, second, third] as never);
  for (const limits of [{ maxMatches: 1 }, { maxUnits: 1 }])
    expect(searchIn(text, question, limits)).toEqual([first] as never);
  expect(searchIn(text, question, { after: { line: 3, column: 1 } })).toEqual([second, third] as never);
  const each = { line: 1, column: 1, end_column: 2, text: "xx", before: [] };
  const all = { ...question, every: true };
  expect(searchIn(Buffer.from("xx\n2\n"), all)).toEqual([
    { ...each, after: [] },
    { ...each, column: 2, end_column: 3, after: ["2"] },
  ]);
  expect(searchIn(Buffer.from("xx\n2\n"), all, { maxMatches: 1 })).toEqual([{ ...each, after: [] }]);
});

test("a search ends with the match that fills the units it may take", () => {
  const text = Buffer.from("aa\nb\naa\nb\naa\n");
  expect(searchIn(text, { ...plain, pattern: "a" }, { maxUnits: 3 })).toHaveLength(2);
  expect(searchIn(text, { ...plain, pattern: "a", linesAfter: 1 }, { maxUnits: 3 })).toHaveLength(1);
});

test("a count is that of the whole text, or none when the search has to end", () => {
  const text = Buffer.from("a\nb\na\n");
  expect(countIn(text, { ...plain, pattern: "a" })).toBe(2);
  expect(countIn(text, { ...plain, pattern: "a" }, { maxMatches: 1 })).toBe(1);
  let polls = 0;
  expect(countIn(text, { ...plain, pattern: "a" }, { isOver: () => ++polls > 2 })).toBe(0);
});

const word = fc.constantFrom(
  ..."foo,Foo,FOO,bar,fobar,k,K,\u212a,s,\u017f,S,é,É,ß,жук,ЖУК,𝒳,_,A_B,12,2024-01-02,x,\t, ,.,(,),$,\u2028,\u0085,\ufffd".split(
    ",",
  ),
);
const foreign = fc.constantFrom("\xff", "\xe9", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\x80");
const ending = fc.constantFrom("\n", "\n", "\n\n", "\r\n", "\r", " ", "");
const bytesOf = (text: string) => Buffer.from(text).toString("latin1");

/** Lines of words with every ending, some of them very long or not UTF-8. */
const content = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 12, arbitrary: word.map(bytesOf) },
        { weight: 1, arbitrary: foreign },
        {
          weight: 1,
          arbitrary: fc
            .tuple(word, fc.integer({ min: 20, max: 2000 }))
            .map(([text, times]) => bytesOf(text.repeat(times))),
        },
      ),
      ending,
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.from(parts.flat().join(""), "latin1"));

const atom = fc.constantFrom(
  ..."foo,Foo,k,s,é,ж,a|b,foo|bar|12,[a-f],[^o],[^\\n],\\w,\\d,\\s,\\S,.,(?s:.),\\b,\\B,^,$,\\A,\\z,\\n,\\r,\\x{fffd},\\p{Greek},\\p{Lu},(?-u:\\w),(?i:k),(?m:^),(?m:$),(?Rm:$),(?Rm:^),\\b{start},\\b{end-half},_,-,oo,\\.,\\(,[[:upper:]],(?:),ß,\u212a".split(
    ",",
  ),
);
const quantifier = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "+?", "{4,}");
const pattern = fc.letrec<{ any: string; group: string; part: string }>((tie) => ({
  part: fc.oneof({ weight: 5, arbitrary: atom }, { weight: 1, arbitrary: tie("group") }),
  any: fc
    .array(
      fc.tuple(tie("part"), quantifier).map(([part, times]) => (times === "" ? part : `(?:${part})${times}`)),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.join("")),
  group: fc.tuple(tie("any"), tie("any")).map(([one, other]) => `(${one}|${other})`),
})).any;

const context = { linesBefore: fc.constantFrom(0, 0, 1, 3), linesAfter: fc.constantFrom(0, 0, 1, 3) };

const question: fc.Arbitrary<LineQuery> = fc.oneof(
  fc.record({
    ...context,
    pattern: fc.oneof(
      pattern,
      pattern.map((text) => `(?i)${text}`),
    ),
    regex: fc.constant(true),
    ignoreCase: fc.boolean(),
    maxLineBytes: fc.constantFrom(4096, 4096, 100, 7, 1, 0),
  }),
  fc.record({
    ...context,
    pattern: fc.oneof(
      word,
      fc.tuple(word, word).map((words) => words.join("")),
    ),
    regex: fc.constant(false),
    ignoreCase: fc.boolean(),
    maxLineBytes: fc.constantFrom(4096, 100, 7),
  }),
);

test("the search equals the engine on every line", () => {
  fc.assert(
    fc.property(content, question, (bytes, requested) => {
      try {
        compilers[0]?.compile(requested);
      } catch (error) {
        fc.pre(!(error instanceof PatternError));
      }
      const found = searchEachLine(bytes, requested);
      expect(searchIn(bytes, requested)).toEqual(found);
      expect(countIn(bytes, requested)).toBe(found.length);
    }),
    propertyRuns(700),
  );
});
