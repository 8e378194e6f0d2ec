import { describe, expect, spyOn, test } from "bun:test";
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

  test("finds the same in files of many pieces as line by line", () => {
    for (const filler of [32 * 1024 - 3, 300 * 1024]) {
      for (let length = filler; length < filler + 5; length++) {
        const text = `${"x".repeat(length)}\r\n\n\r\n${"line\r\n".repeat(20_000)}end`;
        const lines = text.split("\n");
        let start = 0;
        const starts = lines.map((line) => {
          start += line.length + 1;
          return start - line.length - 1;
        });
        const {
          lines: count,
          ending,
          starts: found,
        } = surveyLines(Buffer.from(text), [2, 3, 4, 9000, 20_005]);
        expect([count, ending]).toEqual([20_004, "\r\n"]);
        const expected = [2, 3, 4, 9000].map((line) => [line, starts[line - 1]!]);
        expect([...found]).toEqual([...expected, [20_005, text.length]] as [number, number][]);
      }
    }
  });

  test("finds lines far apart without reading each line between them", () => {
    const body = Buffer.from("a\n".repeat(1_000_000));
    const indexOf = spyOn(body, "indexOf");
    const wanted = Array.from({ length: 60 }, (_, at) => 16_000 * (at + 1));
    const { starts } = surveyLines(body, wanted);
    expect([...starts]).toEqual(wanted.map((line) => [line, 2 * (line - 1)]));
    expect(indexOf.mock.calls.length).toBeLessThan(50 * wanted.length);
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
