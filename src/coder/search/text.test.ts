import { expect, test } from "bun:test";
import { renderFiles, renderMatches, renderTotal } from "./text.ts";

test("the path of each file, its lines below it, and a blank line between files", () => {
  const matches = [
    { path: "src/a", line: 1, column: 2, text: "one" },
    { path: "src/a", line: 30, column: 1, text: "" },
    { path: "b\n", line: 3, column: 1, text: "two" },
  ];
  expect(renderMatches(matches)).toEqual(["src/a", "1→one", "30→", "", '"b\\n"', "3→two"]);
});

test("with lines around, each line once", () => {
  const matches = [
    { path: "a", line: 2, column: 1, text: "x", before: ["1"], after: ["x 3"] },
    { path: "a", line: 3, column: 5, text: "x 3", before: ["x"], after: ["4"] },
    { path: "a", line: 9, column: 1, text: "x 9", before: ["8"], after: [] },
    { path: "b", line: 1, column: 1, text: "x", before: [], after: [] },
  ];
  expect(renderMatches(matches)).toEqual([
    ..."a|1-1|2→x|3→x 3|4-4|…|8-8|9→x 9".split("|"),
    ..."|b|1→x".split("|"),
  ]);
});

test("a line once for all its matches, or each of its excerpts; and all lines of a match", () => {
  const place = { path: "a", line: 1, column: 1, end_column: 2 };
  expect(
    renderMatches([
      { ...place, text: "x x" },
      { ...place, column: 3, text: "x x" },
    ]),
  ).toEqual(["a", "1→x x"]);
  expect(
    renderMatches([
      { ...place, text: "x…" },
      { ...place, column: 3, text: "…x" },
    ]),
  ).toEqual(["a", "1→x…", "1→…x"]);
  const over = { path: "a", line: 2, column: 3, end_line: 3, end_column: 2, text: "a {\r\n}", after: ["b"] };
  expect(renderMatches([over])).toEqual(["a", "2→a {", "3→}", "4-b"]);
});

test("files, with counts where there are any", () => {
  expect(renderFiles([{ path: "a" }, { path: "b", count: 3 }, { path: "c", count: 1, matches: 1 }])).toEqual([
    "a",
    "b: 3 lines",
    "c: 1 line, 1 match",
  ]);
});

test("the counts of several files have a total", () => {
  const counts = [
    { path: "a", count: 2, matches: 2 },
    { path: "b", count: 1, matches: 3 },
  ];
  expect(renderTotal(counts)).toEqual(["[3 lines, 5 matches in 2 files]"]);
  expect(renderTotal(counts.map(({ path, count }) => ({ path, count })))).toEqual(["[3 lines in 2 files]"]);
  expect(renderTotal(counts.slice(1))).toEqual([]);
  expect(renderTotal(counts.map(({ path }) => ({ path })))).toEqual([]);
});

test("a match that is cut, with the line that it ends in", () => {
  const cut = { path: "a", line: 2, column: 1, end_line: 900, end_column: 2, text: "{\n…" };
  expect(renderMatches([cut])).toEqual(["a", "2→{", "3→… the match ends in line 900"]);
  const whole = { ...cut, end_line: 3 };
  expect(renderMatches([whole])).toEqual(["a", "2→{", "3→…"]);
});
