import { expect, test } from "bun:test";
import { createRegexEngine } from "./rust-regex.ts";
import { requireDefinedGroups, undefinedGroupIn } from "./template.ts";

const { runtime } = createRegexEngine();

const pattern = "(?<year>\\d+)-(\\d+)(x)?";
const groups = runtime.compile(pattern).groups();

test("the groups of a pattern, by number and by name", () => {
  expect(groups).toEqual([null, "year", null, null]);
  expect(runtime.compile("a").groups()).toEqual([null]);
});

test.each([
  ["$0$1${2}$3$year${year}", undefined],
  ["$$nme $$9", undefined],
  ["$ $- $é ${year", undefined],
  ["${01}${+1}", undefined],
  ["a $4", "$4"],
  ["$2x", "$2x"],
  ["$year_", "$year_"],
  ["${nme}", "${nme}"],
  ["${}", "${}"],
  ["$$$nme", "$nme"],
  ["$99999999999", "$99999999999"],
  ["${-1}", "${-1}"],
  ["${1} ${ $4 ${", "$4"],
  ["${ ${year", undefined],
])("%p names the undefined group %p", (template, group) => {
  expect(undefinedGroupIn(template, groups)).toBe(group);
});

test("braces that nothing closes are not read to the end each time", () => {
  const template = "${".repeat(2_000_000);
  expect(undefinedGroupIn(template, groups)).toBeUndefined();
  expect(undefinedGroupIn(`${template}$4`, groups)).toBe("$4");
});

test.each([
  ["a $nme", "it names $nme, and"],
  ['${"}', 'it names "${\\"}", and'],
  [`\${${"\\".repeat(60_000)}}`, `it names "\${${"\\".repeat(2 * 298)}…", and`],
])("%j is refused in a short sentence", (template, sentence) => {
  expect(() => requireDefinedGroups(template, groups)).toThrow(sentence);
});

test.each(["$2x", "${nme}", "${}", "$99999999999", "${-1}", "$4"])(
  "the engine, too, takes %p for a group that is not there",
  (template) => {
    const replaced = runtime.compile(pattern).replaceAll(Buffer.from("2024-11"), template);
    expect(replaced.toString()).toBe("");
  },
);
