import { expect, test } from "bun:test";
import { renderFiles, renderMatches } from "./search-text.ts";

test("a line for each match", () => {
  const matches = [
    { path: "a", line: 1, column: 2, text: "one" },
    { path: "b\n", line: 30, column: 1, text: "two" },
  ];
  expect(renderMatches(matches)).toEqual(["a:1:2: one", '"b\\n":30:1: two']);
});

test("the path of a file once where it has several lines", () => {
  const matches = [
    { path: "src/a", line: 1, column: 2, text: "one" },
    { path: "src/a", line: 30, column: 1, text: "two" },
    { path: "src/b", line: 3, column: 1, text: "two" },
  ];
  expect(renderMatches(matches)).toEqual(["src/a", "1:2: one", "30:1: two", "src/b", "3:1: two"]);
});

test("with lines around, each path and each line once, and a mark where lines are left out", () => {
  const matches = [
    { path: "a", line: 2, column: 1, text: "x", before: ["1"], after: ["x 3"] },
    { path: "a", line: 3, column: 5, text: "x 3", before: ["x"], after: ["4"] },
    { path: "a", line: 9, column: 1, text: "x 9", before: ["8"], after: [] },
    { path: "b", line: 1, column: 1, text: "x", before: [], after: [] },
  ];
  expect(renderMatches(matches)).toEqual([
    ..."a|1- 1|2:1: x|3:5: x 3|4- 4|--|8- 8|9:1: x 9".split("|"),
    ..."b|1:1: x".split("|"),
  ]);
});

test("all columns of a line, and all lines of a match", () => {
  const twice = [
    { path: "a", line: 1, column: 1, end_column: 2, text: "x x" },
    { path: "a", line: 1, column: 3, end_column: 4, text: "x x" },
  ];
  expect(renderMatches(twice)).toEqual(["a:1:1,3: x x"]);
  const over = { path: "a", line: 2, column: 3, end_line: 3, end_column: 2, text: "a {\r\n}", after: ["b"] };
  expect(renderMatches([over])).toEqual(["a", "2:3: a {", "3: }", "4- b"]);
});

test("files, with counts where there are any", () => {
  expect(renderFiles([{ path: "a" }, { path: "b", count: 3 }])).toEqual(["a", "b: 3"]);
});
