import { expect, test } from "bun:test";
import { noteBlanks, renderName, renderPath } from "./entry-text.ts";

test.each([
  ["src/main.ts", "src/main.ts"],
  ["[slug]/é 漢字 🙂.tsx", "[slug]/é 漢字 🙂.tsx"],
  ["10:30.log", "10:30.log"],
  ["a\nb", String.raw`"a\nb"`],
  ["\u202egpj.exe", String.raw`"\u202egpj.exe"`],
  ["a\u200bb", String.raw`"a\u200bb"`],
  ["a\u0085b\u2028c", String.raw`"a\u0085b\u2028c"`],
  ["x:1:1: forged match", '"x:1:1: forged match"'],
  ["x:1/y", "x:1/y"],
  ["x:1", '"x:1"'],
  ["12: x", '"12: x"'],
  ["12- x", '"12- x"'],
  ["12-x", "12-x"],
  ["12→x", '"12→x"'],
  ["x: 3 lines", '"x: 3 lines"'],
  ["[not searched: 1 binary]", '"[not searched: 1 binary]"'],
  ["--", '"--"'],
  ["… 3 of 4", '"… 3 of 4"'],
  ['"x"', String.raw`"\"x\""`],
  ["trail ", '"trail "'],
  [" lead", '" lead"'],
  ["a b", "a b"],
])("the name %j is shown as %s", (name, shown) => {
  expect(renderName(name)).toBe(shown);
});

test.each([
  ["a/./b//c.txt", "a/b/c.txt"],
  ["./a", "a"],
  [".//a/", "a/"],
  ["./", "./"],
  [".", "."],
  ["/", "/"],
  ["a/../b", "a/../b"],
  ["a/.b", "a/.b"],
])("%s is shown as %s", (sent, shown) => {
  expect(renderPath(sent)).toBe(shown);
});

test("a blank at an end of a name is noted", () => {
  for (const path of [" a", "a ", "x/ a.txt", "x/a\t", "x/a /"]) expect(noteBlanks(path)).not.toBe("");
  for (const path of ["a b", "x /a", " x/a", "a"]) expect(noteBlanks(path)).toBe("");
});
