import { expect, test } from "bun:test";
import { endingsOf, type LineEnding, type ReplacedLine } from "./line-ends.ts";

const names = { "\n": "lf", "\r\n": "crlf", "": "none" } as const;

/** Returns the names of the endings of lines that replace others, which are written as `text:crlf`. */
function endings(lines: string, replaced: string, before: LineEnding): string {
  const old = replaced.split(" ").filter(Boolean);
  const ended = old.map((line): ReplacedLine => {
    const [text = "", name] = line.split(":");
    return { text, ending: name === "crlf" ? "\r\n" : name === "lf" ? "\n" : "" };
  });
  return endingsOf(lines.split(" "), ended, before)
    .map((ending) => names[ending])
    .join(" ");
}

test.each([
  ["a line in the place of another", "A", "a:crlf", "crlf"],
  ["a further line", "A x", "a:crlf", "crlf crlf"],
  ["a line after one that stays", "a x", "a:crlf", "crlf crlf"],
  ["a line before one that stays", "x a", "a:crlf", "lf crlf"],
  ["lines one by one", "A B C", "a:crlf b:lf c:crlf", "crlf lf crlf"],
  ["lines after one that is removed", "b c", "a:crlf b:lf c:crlf", "lf crlf"],
  ["lines around one that is removed", "a c D", "a:crlf b:lf c:crlf d:lf", "crlf crlf lf"],
  ["lines around one that is added", "A b x c", "a:crlf b:lf c:crlf", "crlf lf lf crlf"],
  ["a line in the place of the last", "A x", "a", "lf lf"],
  ["lines that replace none", "x y", "", "lf lf"],
])("the ending of %s", (_, lines, replaced, expected) => {
  expect(endings(lines, replaced, "\n")).toBe(expected);
});

test("many lines that are the same take no longer than others", () => {
  const replaced = Array.from(
    { length: 100_000 },
    (_, at): ReplacedLine => ({
      text: "}",
      ending: at % 2 === 0 ? "\n" : "\r\n",
    }),
  );
  const lines = ["x", ...replaced.map(({ text }) => text), "y"];
  expect(endingsOf(lines, replaced, "\n").slice(0, 4)).toEqual(["\n", "\r\n", "\n", "\r\n"]);
});
