import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { echoesOf, maxSites, type Site } from "../../text/edits/echo.ts";
import { renderEdit } from "./text.ts";

/** Returns a file after an op has replaced some of its lines with "x", and the text of the answer. */
function edited(count: number, changed: readonly number[]): { text: string; lines: string[] } {
  const lines = Array.from({ length: count }, (_, index) => (changed.includes(index + 1) ? "x" : "-"));
  const sites: Site[] = changed
    .slice(0, maxSites)
    .map((number) => ({ index: 0, from: 2 * number - 2, to: 2 * number - 1, replacements: changed.length }));
  const { echoes, isTruncated } = runAtOnce(echoesOf(Buffer.from(`${lines.join("\n")}\n`), sites));
  const result = { path: "a.txt", applied: 1, new_line_count: count, echoes, echoes_truncated: isTruncated };
  return { text: runAtOnce(renderEdit(result)), lines };
}

test("places beyond the first are said not to be shown", () => {
  const { text } = edited(60, [1, 11, 21, 31, 41, 51]);
  expect(text).toStartWith(
    "a.txt: 1 op applied (ops[0] replaced 6; the first 5 are shown), 60 lines now\n1→x\n",
  );
  expect(text).not.toContain("51→");
  expect(edited(60, [1, 11, 21, 31, 41]).text).toContain("(ops[0] replaced 5), ");
});

test("lines that changed are shown, or said not to be", () => {
  const places = fc.uniqueArray(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(places, (unordered) => {
      const changed = unordered.toSorted((a, b) => a - b);
      const { text, lines } = edited(80, changed);
      const shown = [...text.matchAll(/^(\d+)→(.*)$/gm)].map(([, number, line]) => [Number(number), line]);
      expect(shown.filter(([number, line]) => lines[Number(number) - 1] !== line)).toEqual([]);
      const hidden = [...text.matchAll(/^\[lines (\d+) to (\d+) are not shown\]$/gm)].map(([, from, to]) => [
        Number(from),
        Number(to),
      ]);
      const isSaid = (number: number) =>
        shown.some(([one]) => one === number) ||
        hidden.some(([from, to]) => from! <= number && number <= to!);
      expect(changed.slice(0, maxSites).filter((number) => !isSaid(number))).toEqual([]);
      expect(text.includes("are shown)")).toBe(changed.length > maxSites);
    }),
  );
});

test("a whole file is rendered with its numbers, some thousand lines in each step", () => {
  for (const [after, lines] of [
    ["a\n\nb\n", ["1→a", "2→", "3→b"]],
    ["a\r\nb\r\n", ["1→a\r", "2→b"]],
    ["\n", ["1→"]],
    ["a", ["1→a"]],
  ] as const) {
    const text = runAtOnce(renderEdit({ path: "a.txt", applied: 1, new_line_count: 3, after }));
    expect(text.split("\n").slice(1)).toEqual([...lines]);
  }
  const count = 100_000;
  const steps = renderEdit({ path: "a.txt", applied: 1, new_line_count: count, after: "x\n".repeat(count) });
  let yields = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) yields++;
  expect(step.value).toEndWith(`\n${count - 1}→x\n${count}→x`);
  expect(yields).toBeGreaterThan(20);
});
