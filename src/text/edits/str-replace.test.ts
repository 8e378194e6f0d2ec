import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { latin1 } from "./edits.test-kit.ts";
import { surveyLines } from "./lines.ts";
import { findMatches, replaceMatches } from "./str-replace.ts";

/** Returns the file after the replacement, and the number of matches. */
function replaced(body: Buffer, old_str: string, new_str: string) {
  const matches = runAtOnce(findMatches(body, { old_str, new_str, replace_all: true }));
  const { body: after, splices } = runAtOnce(replaceMatches(body, matches));
  return { after, splices, count: matches.count, overlapping: matches.overlapping };
}

const text = (body: string, old_str: string, new_str: string): string =>
  replaced(latin1(body), old_str, new_str).after.toString("latin1");

describe("str_replace", () => {
  test.each([
    ["a word", "one two one\n", "one", "1", "1 two 1\n"],
    ["several lines", "a\nb\nc\n", "a\nb\n", "x\n", "x\nc\n"],
    ["characters that mean something elsewhere", "a.b $1 (x)\n", "$1 (x)", "$0\\1", "a.b $0\\1\n"],
    ["nothing in its place", "a, b, c", ", ", "", "abc"],
    ["CRLF by lines", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"],
    ["CRLF said in full is a CRLF", "a\r\nb\r\n", "\r\n", "\n", "a\nb\n"],
    ["CRLF said in part", "a\r\nb\r\nc\r\n", "a\r\nb\n", "x\n", "x\r\nc\r\n"],
    ["CRLF for breaks that are new", "a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"],
    ["CRLF sent to a file with LF", "a\nb\nc\n", "a\r\nb\r\n", "x\r\n", "x\nc\n"],
    ["CRLF that is put in where nothing says otherwise", "a\nb\n", "a", "x\r\n", "x\r\n\nb\n"],
    ["mixed endings are literal", "a\r\nb\nc\r\n", "b\n", "x\n", "a\r\nx\nc\r\n"],
    ["mixed endings do not match by lines", "a\r\nb\nc\r\n", "a\nb", "x", "a\r\nb\nc\r\n"],
    ["a lone CR is a character", "a\rb\r\n", "\rb", "x", "ax\r\n"],
    ["one line without an ending", "a b", "a ", "x\n", "x\nb"],
    ["bytes that are no UTF-8", "\xff\xfea\xc3\n", "a", "b", "\xff\xfeb\xc3\n"],
    ["a mark that is sent back", "\xef\xbb\xbfa\nb", "\ufeffa", "\ufeffx", "\xef\xbb\xbfx\nb"],
    ["a mark that is sent back, and left out", "\xef\xbb\xbfa\nb", "\ufeffa\n", "x\n", "\xef\xbb\xbfx\nb"],
    ["a mark is at the start only", "\xef\xbb\xbfb\na", "\ufeffa", "x", "\xef\xbb\xbfb\na"],
    ["the mark itself is no text", "\xef\xbb\xbfa", "\ufeff", "x", "\xef\xbb\xbfa"],
  ])("%s", (_, body, ...[old_str, new_str, after]) => {
    expect(text(body, old_str, new_str)).toBe(after);
  });

  test("places that overlap the first are noticed", () => {
    expect(replaced(Buffer.from("aaa"), "aa", "x")).toMatchObject({ count: 1, overlapping: 1 });
    expect(replaced(Buffer.from("aa aa"), "aa", "x")).toMatchObject({ count: 2, overlapping: undefined });
  });

  test("many replacements are one splice behind the first ones", () => {
    const body = Buffer.from("ab".repeat(10_003));
    const { splices, after, count } = replaced(body, "a", "xyz");
    expect(count).toBe(10_003);
    expect(after.length).toBe(body.length + 2 * count);
    expect(splices.length).toBe(10_001);
    expect(splices.at(-1)).toEqual({ from: 20_000, to: 20_005, length: 11 });
  });
});

const bytes = fc
  .array(fc.constantFrom(0x61, 0x62, 0x0a, 0x0d, 0xff, 0xc3, 0xa9), { maxLength: 40 })
  .map((list) => Buffer.from(list));
const short = (least: number) =>
  fc
    .array(fc.constantFrom("a", "b", "\n", "\r\n", "é", "\r"), { minLength: least, maxLength: 3 })
    .map((parts) => parts.join(""));

test("it is what splitting and joining the bytes makes of them", () => {
  fc.assert(
    fc.property(bytes, short(1), short(0), (body, old_str, new_str) => {
      // Files whose endings are adopted have a table of their own.
      fc.pre(surveyLines(body, []).onlyEnding === undefined || !/\n/.test(old_str + new_str));
      const naive = body.toString("latin1").split(Buffer.from(old_str).toString("latin1"));
      const { after, count } = replaced(body, old_str, new_str);
      expect(after.toString("latin1")).toBe(naive.join(Buffer.from(new_str).toString("latin1")));
      expect(count).toBe(naive.length - 1);
    }),
    { numRuns: 5000 },
  );
});

test("where all lines end alike, it is that on the lines, whatever their ending", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "ab", ""), { maxLength: 8 });
  const sent = fc
    .array(fc.constantFrom("a", "b", "\n"), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(lines, sent, sent, (texts, old_str, new_str) => {
      const lf = texts.map((line) => `${line}\n`).join("");
      fc.pre(texts.length > 0);
      const expected = lf.split(old_str).join(new_str);
      const crlf = (text: string) => text.replaceAll("\n", "\r\n");
      expect(text(lf, old_str, new_str)).toBe(expected);
      expect(text(crlf(lf), old_str, new_str)).toBe(crlf(expected));
      expect(text(lf, crlf(old_str), old_str.includes("\n") ? crlf(new_str) : new_str)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});
