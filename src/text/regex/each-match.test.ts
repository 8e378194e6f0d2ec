import { expect, test } from "bun:test";
import fc from "fast-check";
import { RegexRuntime } from "./regex-runtime.ts";
import { createRegexEngine } from "./rust-regex.ts";

const { module } = createRegexEngine();
const runtime = new RegexRuntime(module);
const mebibyte = 1024 * 1024;

/** Returns the matches in a slice, which other text surrounds. */
function eachIn(pattern: string, text: string, limit = Number.POSITIVE_INFINITY): string[] {
  const bytes = Buffer.from(`x${text}x`);
  const span = { from: 1, to: bytes.length - 1, limit };
  const found: string[] = [];
  runtime.compile(pattern).visitEach(bytes, span, (start, end) => {
    found.push(`${start} ${bytes.toString("utf8", 1 + start, 1 + end)}`);
    return true;
  });
  return found;
}

const countIn = (pattern: string, text: string) => {
  const bytes = Buffer.from(text);
  return runtime.compile(pattern).countEach(bytes, 0, bytes.length);
};

test.each([
  ["o", "foo", ["1 o", "2 o"]],
  ["x*", "axb", ["0 ", "1 x", "3 "]],
  ["", "é", ["0 ", "2 "]],
  ["^a|b$", "aab", ["0 a", "2 b"]],
  ["\\b", "é a", ["0 ", "2 ", "3 ", "4 "]],
  ["a", "", []],
  ["$", "", ["0 "]],
  ["\\B", "ab", ["1 "]],
])("%s in %p", (pattern, text, expected) => {
  expect(eachIn(pattern, text)).toEqual(expected);
  expect(countIn(pattern, text)).toBe(expected.length);
});

test("the first ones", () => {
  expect(eachIn("o", "o".repeat(500), 2)).toEqual(["0 o", "1 o"]);
  expect(eachIn("o", "o".repeat(500), 300)).toHaveLength(300);
});

test("until the visitor has enough", () => {
  for (const enough of [1, 3, 300]) {
    let count = 0;
    const text = Buffer.alloc(1000, "o");
    const visit = () => ++count < enough;
    runtime.compile("o").visitEach(text, { from: 0, to: 1000, limit: Number.POSITIVE_INFINITY }, visit);
    expect(count).toBe(enough);
  }
});

const parts = fc.constantFrom("a", "b", "ab", "é", "😀", "\n", "\r\n", " ", "x");
const patterns = fc.constantFrom(
  "a",
  "",
  "\\b",
  "a*",
  "(?m)^",
  "(?mR)$",
  "[^b]",
  "\\w+",
  "(a)|(b)",
  "\\B.",
  "é?",
);

test("are the same whether few or many, one by one or marked", () => {
  fc.assert(
    fc.property(patterns, fc.array(parts, { maxLength: 400 }), (pattern, chosen) => {
      const text = chosen.join("");
      const bytes = Buffer.from(text);
      const replaced = runtime.compile(pattern).replaceAll(bytes, "[$0]").toString();
      const found = eachIn(pattern, text);
      let [expected, at] = ["", 0];
      for (const match of found) {
        const [start, shown] = [Number.parseInt(match, 10), match.slice(match.indexOf(" ") + 1)];
        expected += `${bytes.toString("utf8", at, start)}[${shown}]`;
        at = start + Buffer.byteLength(shown);
      }
      expect(expected + bytes.toString("utf8", at)).toBe(replaced);
      expect(countIn(pattern, text)).toBe(found.length);
    }),
  );
});

test("in many texts of many sizes, in bounded memory", () => {
  const own = new RegexRuntime(module);
  const regex = own.compile("o");
  const text = Buffer.alloc(300_000, "o x ");
  let most = 0;
  for (let size = 1000; size < 300_000; size += 1000) {
    const span = { from: 0, to: size, limit: Number.POSITIVE_INFINITY };
    regex.visitEach(text, span, () => true);
    expect(regex.countEach(text, 0, size)).toBe(size / 4);
    most = Math.max(most, own.bytes);
  }
  expect(most).toBeLessThan(80 * mebibyte);
});
