import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseArgv, parseWords, readCommandLine } from "./words.ts";

test.each([
  ["a#b", ["a#b"]],
  ["a # c", ["a"]],
  ["a #c\nb", ["a", "b"]],
  ["#a", []],
  ["'#'", ["#"]],
  ["''#", ["#"]],
  ["\\\n#c\nd", ["d"]],
  ["'a\\b'", ["a\\b"]],
  ['"\\a"', ["\\a"]],
  ['"\\$\\`\\"\\\\"', ['$`"\\']],
  ['"a\\\nb"', ["ab"]],
  ["a\\ b", ["a b"]],
  ["a\\\nb", ["ab"]],
  ["a \\\n b", ["a", "b"]],
  ["''", [""]],
  ["a '' \"\"", ["a", "", ""]],
  ["a\\", ["a\\"]],
  ["\\", ["\\"]],
  ["a'b'\"c\"d", ["abcd"]],
  [" a\tb\nc ", ["a", "b", "c"]],
  ["a\rb", ["a\rb"]],
  ["\r", ["\r"]],
  ["a|b ; c && d > e $f * ~", ["a|b", ";", "c", "&&", "d", ">", "e", "$f", "*", "~"]],
  ["été 🎈", ["été", "🎈"]],
  ["", []],
  [" \t\n", []],
])("%j splits into %j", (line, words) => {
  expect(parseWords(line)).toEqual(words);
});

test.each([
  ["a\nb", true],
  ["a\r\nb", true],
  ["a #c\nb", true],
  ["\n a b \n", false],
  ["a \\\n b", false],
  ["a 'b\nc'", false],
  ['a "\n"', false],
])("whether a line break divides %j: %p", (line, hasBreak) => {
  expect(readCommandLine(line).hasBreak).toBe(hasBreak);
});

test.each([
  ["a; b", ["a;"]],
  ["a&&b||c", ["a&&b||c"]],
  ["ls|wc -l", ["ls|wc"]],
  ["a ; b && c | d & e > f", [";", "&&", "|", "&", ">"]],
  ["a 2>/dev/null <in 2>&1 &>x b&", ["2>/dev/null", "<in", "2>&1", "&>x", "b&"]],
  [`a ';' "b|c" \\; 'x;'y`, []],
  ["curl http://h/?a=1&b=2 x>=1 ->", []],
])("the operators outside of quotes of %s are in %j", (line, operated) => {
  expect(readCommandLine(line).operated).toEqual(operated);
});

test.each(["'a", '"a', '"a\\"', '"a\\', "a b'c d", "''\""])("%j has an unclosed quote", (line) => {
  expect(() => parseWords(line)).toThrow(/^argv: parse command: .*not closed; close it/);
});

const word = fc.string({
  unit: fc.oneof(fc.constantFrom(..." \t\n\r'\"\\#$`a|"), fc.string({ minLength: 1, maxLength: 1 })),
});

describe("whatever the words are, they come back", () => {
  const backslashed = (text: string) =>
    text === "" ? "''" : text.replaceAll(/[^\n]/gs, "\\$&").replaceAll("\n", "'\n'");

  test.each([
    ["single quotes", (text: string) => `'${text.replaceAll("'", "'\\''")}'`],
    ["double quotes", (text: string) => `"${text.replaceAll(/[$`"\\]/g, "\\$&")}"`],
    ["backslashes", backslashed],
  ])("from %s", (_, quote) => {
    fc.assert(
      fc.property(
        fc.array(word),
        fc.constantFrom(" ", "\t", "\n", " \\\n ", " #' \"\n"),
        (words, between) => {
          expect(parseWords(words.map(quote).join(between))).toEqual(words);
        },
      ),
    );
  });
});

test("any line is words or an unclosed quote", () => {
  fc.assert(
    fc.property(word, (line) => {
      try {
        expect(parseWords(line).join("").length).toBeLessThanOrEqual(line.length);
      } catch (error) {
        expect(String(error)).toContain("parse command");
      }
    }),
  );
});

describe("an argument vector", () => {
  test.each([
    ["echo a b", undefined, ["echo", "a", "b"]],
    ["echo a b", null, ["echo", "a", "b"]],
    ["echo a b", [], ["echo a b"]],
    [" echo ", [" 'x' "], [" echo ", " 'x' "]],
    ["", [], [""]],
  ])("of %j and %j is %j", (command, args, argv) => {
    expect(parseArgv(command, args)).toEqual(argv as never);
  });

  test.each(["", "  ", "# only a comment"])("%j is no command", (command) => {
    expect(() => parseArgv(command, null)).toThrow(/^empty command;/);
  });
});
