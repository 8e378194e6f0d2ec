import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { describeConflict } from "./conflict.ts";

const numbered = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join(""));

describe("the window of a conflict", () => {
  test("is the beginning where the call is about no lines", () => {
    expect(describeConflict(Buffer.from("a\nb"), [])).toEqual({
      total_lines: 2,
      window: { from_line: 1, content: "a\nb" },
    });
  });

  test("has three lines on each side of the lines in question", () => {
    const { window } = describeConflict(numbered(100), [[10, 11]]);
    expect(window.from_line).toBe(7);
    expect(window.content.split("\n").slice(0, -1)).toEqual(
      [7, 8, 9, 10, 11, 12, 13, 14].map((line) => `line ${line}`),
    );
  });

  test("spans several ranges", () => {
    const { window } = describeConflict(numbered(100), [
      [20, 20],
      [10, 10],
    ]);
    expect(window.from_line).toBe(7);
    expect(window.content).toEndWith("line 23\n");
  });

  test("ends with the file, also when the lines in question are past its end", () => {
    expect(describeConflict(numbered(5), [[100, 200]]).window).toEqual({ from_line: 5, content: "line 5\n" });
    expect(describeConflict(Buffer.from(""), [[3, 4]]).window).toEqual({ from_line: 1, content: "" });
  });

  test("has at most 4 KiB, in whole lines where one fits", () => {
    const { window } = describeConflict(numbered(10_000), []);
    expect(window.content.length).toBeLessThanOrEqual(4096);
    expect(window.content).toEndWith("\n");
    expect(describeConflict(Buffer.alloc(10_000, "x"), []).window.content).toHaveLength(4096);
  });

  test("is whole lines of the body, from the line that it says", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "bb", "\n", "\r\n", "\r", "é"), { maxLength: 60 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.nat(5)), { maxLength: 3 }),
        (parts, ranges) => {
          const text = parts.join("");
          const { window } = describeConflict(
            Buffer.from(text),
            ranges.map(([first, more]) => [first, first + more] as const),
          );
          const before = text.split("\n").slice(0, window.from_line - 1);
          expect(text.startsWith([...before, window.content].join("\n"))).toBe(true);
        },
      ),
    );
  });
});
