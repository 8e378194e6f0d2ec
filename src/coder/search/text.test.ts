import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { renderEach } from "../render/lines.ts";
import { renderFile, renderMatches, renderTotal } from "./text.ts";

const shown = (matches: Parameters<typeof renderMatches>[0]): string[] => runAtOnce(renderMatches(matches));

test("the path of each file, its lines below it, and a blank line between files", () => {
  const matches = [
    { path: "src/a", line: 1, column: 2, text: "one" },
    { path: "src/a", line: 30, column: 1, text: "" },
    { path: "b\n", line: 3, column: 1, text: "two" },
  ];
  expect(shown(matches)).toEqual(["src/a", "1→one", "30→", "", '"b\\n"', "3→two"]);
});

test("with lines around, each line once", () => {
  const matches = [
    { path: "a", line: 2, column: 1, text: "x", before: ["1"], after: ["x 3"] },
    { path: "a", line: 3, column: 5, text: "x 3", before: ["x"], after: ["4"] },
    { path: "a", line: 9, column: 1, text: "x 9", before: ["8"], after: [] },
    { path: "b", line: 1, column: 1, text: "x", before: [], after: [] },
  ];
  expect(shown(matches)).toEqual([..."a|1-1|2→x|3→x 3|4-4|…|8-8|9→x 9".split("|"), ..."|b|1→x".split("|")]);
});

test("a line once for all its matches, or each of its excerpts; and all lines of a match", () => {
  const place = { path: "a", line: 1, column: 1, end_column: 2 };
  expect(
    shown([
      { ...place, text: "x x" },
      { ...place, column: 3, text: "x x" },
    ]),
  ).toEqual(["a", "1→x x"]);
  expect(
    shown([
      { ...place, text: "x…" },
      { ...place, column: 3, text: "…x" },
    ]),
  ).toEqual(["a", "1→x…", "1→…x"]);
  const over = { path: "a", line: 2, column: 3, end_line: 3, end_column: 2, text: "a {\r\n}", after: ["b"] };
  expect(shown([over])).toEqual(["a", "2→a {", "3→}", "4-b"]);
});

test("files, with counts where there are any", () => {
  const files = [{ path: "a" }, { path: "b", count: 3 }, { path: "c", count: 1, matches: 1 }];
  expect(runAtOnce(renderEach(files, renderFile))).toEqual(["a", "b: 3 lines", "c: 1 line, 1 match"]);
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
  expect(shown([cut])).toEqual(["a", "2→{", "3→… the match ends in line 900"]);
  const whole = { ...cut, end_line: 3 };
  expect(shown([whole])).toEqual(["a", "2→{", "3→…"]);
});

test.each<[string, object, number]>([
  ["lines of their own", {}, 9],
  ["lines around them", { before: ["b"], after: ["a"] }, 150],
])("many matches are rendered in steps: %s", (_, around, least) => {
  const lines = Array.from({ length: 10_000 }, (_, index) => index + 1);
  const matches = lines.map((line) => ({ path: "a", line: line * 2, column: 1, text: "x", ...around }));
  const steps = renderMatches(matches);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(least);
  const all = shown(matches);
  expect(all.filter((line) => line.endsWith("→x"))).toEqual(matches.map(({ line }) => `${line}→x`));
});

test("the lines of one match are rendered in steps, and another match on the last one is added to it", () => {
  const last = 100_000;
  const whole = {
    path: "a",
    line: 1,
    column: 1,
    end_line: last,
    text: "\r\n".repeat(last - 1),
    after: ["b"],
  };
  const matches = [whole, { path: "a", line: last, column: 5, text: "x", before: [""], after: ["b"] }];
  const steps = renderMatches(matches);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(150);
  const all = Array.from({ length: last }, (_, index) => `${index + 1}→`);
  expect(shown(matches)).toEqual(["a", ...all, `${last}→x`, `${last + 1}-b`]);
});

test("lines around many matches come in order, each once, if they overlap too", () => {
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at}`);
  const matches = Array.from({ length: 2000 }, (_, index) => 3 * index + 1).map((line) => ({
    ...{ path: "a", line, column: 1, text: `${line}` },
    ...{ before: numbered(Math.max(1, line - 10), line), after: numbered(line + 1, line + 11) },
  }));
  const expected = numbered(1, 3 * 1999 + 12).map((line) => `${line}${(+line - 1) % 3 ? "-" : "→"}${line}`);
  for (let line = 3 * 1999 + 4; line < 3 * 1999 + 12; line++) expected[line - 1] = `${line}-${line}`;
  expect(shown(matches)).toEqual(["a", ...expected]);
});
