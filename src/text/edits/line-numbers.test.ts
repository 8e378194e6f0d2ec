import { expect, test } from "bun:test";
import fc from "fast-check";
import { inOneStep, runAtOnce } from "../../base/scheduling/time-slice.ts";
import { isListing, withoutLineNumbers } from "./line-numbers.ts";

const bareOf = (text: string, isThere: boolean) =>
  runAtOnce(withoutLineNumbers(text, () => inOneStep(() => isThere)));

const forms: readonly ((number: number, line: string) => string)[] = [
  (number, line) => `${number}→${line}`,
  (number, line) => `${String(number).padStart(6)}\t${line}`,
  (number, line) => `${number} | ${line}`,
  (number, line) => `L${number}: ${line}`,
  (number, line) => `${number}: ${line}`,
];

test("any lines with their numbers before them are a listing, and are those lines without the numbers", () => {
  const line = fc.string().map((text) => text.replaceAll(/[\r\n]/g, ""));
  fc.assert(
    fc.property(
      fc.constantFrom(...forms),
      fc.array(line, { minLength: 2, maxLength: 20 }),
      fc.integer({ min: 1, max: 99_990 }),
      fc.constantFrom("", "\n"),
      (form, lines, first, end) => {
        const listed = lines.map((one, index) => form(first + index, one)).join("\n") + end;
        expect(isListing(listed)).toBe(true);
        expect(bareOf(listed, false)).toBe(lines.join("\n") + end);
      },
    ),
  );
});

test("a text whose first 10,000 lines have their numbers is a listing", () => {
  const listed = Array.from({ length: 10_000 }, (_, index) => `${index + 1}: ${"x".repeat(100)}\n`);
  expect(isListing([...listed, "text\n"].join(""))).toBe(true);
  expect(isListing([...listed.slice(1), "text\n"].join(""))).toBe(false);
});

test.each([
  ["12→one", true],
  ["12: one", false],
  ["L12: one", false],
  ["1: a\n3: b\n", false],
  ["1: a\nb\n", false],
  ["1\ta\n2\tb\n", false],
  [" 99999\ta\n100000\tb\n", true],
  ["100000\ta\n100001\tb\n", false],
  ["1. a\n2. b\n", false],
  ["", false],
  ["a\nb\n", false],
])("%j is a listing: %p", (text, expected) => {
  expect(isListing(text)).toBe(expected);
});

test.each(
  [
    "1 | ",
    "1:",
    "1: ",
    "1-",
    "1. ",
    "1) ",
    "[1] ",
    "(1) ",
    "L1: ",
    "line 1: ",
    "#1 ",
    "1→",
    "1\t",
    "  1  ",
  ].map((prefix) => [prefix]),
)("consecutive numbers in the form %j are removed", (prefix) => {
  const lines = ["function a() {", "  return 1;", "", "}"];
  const listed = lines.map((line, at) => prefix.replace("1", String(at + 9)) + line).join("\n");
  expect(bareOf(listed, false)).toBe(lines.join("\n"));
});

test.each([
  ["1. one\n3. three", false, undefined],
  ["1. one", false, undefined],
  ["1. one", true, "one"],
  ["one\n2→two\n3→three", false, "one\ntwo\nthree"],
  ["one\n2. two\n3. three", false, undefined],
  ["one\n2. two\n3. three", true, "one\ntwo\nthree"],
  ["one\ntwo", true, undefined],
  ["", true, undefined],
])("of %j, if it is in the file without numbers: %p, %j is left", (text, isThere, expected) => {
  expect(bareOf(text, isThere)).toBe(expected as string);
});
