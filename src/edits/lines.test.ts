import { describe, expect, test } from "bun:test";
import { bomLength, countLines, surveyLines } from "./lines.ts";

describe("countLines", () => {
  test.each([
    ["", 0],
    ["a", 1],
    ["a\n", 1],
    ["\n", 1],
    ["\n\n", 2],
    ["a\nb", 2],
    ["a\r\nb\r\n", 2],
    ["a\rb", 1],
    ["\r", 1],
    ["\ufeff", 0],
    ["\ufeffa", 1],
    ["\ufeff\n", 1],
  ])("%j has %i", (text, lines) => {
    expect(countLines(Buffer.from(text))).toBe(lines);
  });
});

describe("surveyLines", () => {
  test("finds where lines start, in bytes", () => {
    const { starts } = surveyLines(Buffer.from("é\n\r\nlast"), [1, 2, 2, 3, 4, 5]);
    expect([...starts]).toEqual([
      [1, 0],
      [2, 3],
      [3, 5],
      [4, 9],
    ]);
  });

  test("starts line 1 behind a byte order mark", () => {
    expect(surveyLines(Buffer.from("\ufeffa\nb"), [1, 2]).starts).toEqual(
      new Map([
        [1, 3],
        [2, 5],
      ]),
    );
  });

  test("finds the line after the last, with a final newline and without", () => {
    expect(surveyLines(Buffer.from("a\n"), [2]).starts.get(2)).toBe(2);
    expect(surveyLines(Buffer.from("a"), [2]).starts.get(2)).toBe(1);
    expect(surveyLines(Buffer.from(""), [1]).starts.get(1)).toBe(0);
  });

  test.each([
    ["", "\n"],
    ["a", "\n"],
    ["a\rb\rc", "\n"],
    ["a\r\n", "\r\n"],
    ["a\r\nb\n", "\n"],
    ["a\r\nb\nc\r\n", "\r\n"],
  ] as const)("the prevailing ending of %j is %j", (text, ending) => {
    expect(surveyLines(Buffer.from(text), []).ending).toBe(ending);
  });
});

test("only the whole UTF-8 mark is one", () => {
  expect(
    ["\xef\xbb\xbf", "\xef\xbb", "\xff\xfe", ""].map((text) => bomLength(Buffer.from(text, "latin1"))),
  ).toEqual([3, 0, 0, 0]);
});
