import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { Comparisons } from "./comparisons.ts";
import { HeadingFinder, type HeadingScope } from "./headings.ts";
import { LineIndex } from "./line-index.ts";
import { tabulateLines } from "./line-table.ts";

class CountedComparisons extends Comparisons {
  count = 0;

  override add(count: number): void {
    this.count += count;
  }
}

/** Returns the sections of a heading, and the number of comparisons. */
function sectionsOf(text: string, heading: string) {
  const body = runAtOnce(tabulateLines(Buffer.from(text)));
  const comparisons = new CountedComparisons();
  const finder = new HeadingFinder(body, {
    indexFor: (matching) => LineIndex.build(body, matching),
    comparisons,
  });
  const sections = runAtOnce(finder.find([heading], { path: "f", number: 1, lines: [1, 1] }));
  return { sections, compared: comparisons.count };
}

/** Returns the section of each line that is `heading` but for its blanks, found line by line. */
function slowSectionsOf(lines: readonly string[], heading: string): HeadingScope[] {
  const depthOf = (line: string) => (line.trim() === "" ? 100 : line.length - line.trimStart().length);
  return [...lines.keys()]
    .filter((at) => lines[at]!.trim() === heading)
    .map((from) => {
      const last = lines.findIndex((line, at) => at > from && depthOf(line) <= depthOf(lines[from]!));
      return { from, to: last < 0 ? lines.length : last + 1 };
    });
}

test("the section of a heading ends with the first line that is not deeper", () => {
  const line = fc
    .tuple(fc.nat(3), fc.constantFrom("a", "b", ""))
    .map(([depth, text]) => " ".repeat(depth) + text);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      // Each is deeper than the exact heading, so that the blanks do not count.
      const deeper = [...lines, "a"].map((one) => ` ${one}`);
      const { sections } = sectionsOf(deeper.map((one) => `${one}\n`).join(""), "a");
      expect(sections).toEqual(slowSectionsOf(deeper, "a"));
    }),
  );
});

test("the sections of many lines are found in one pass", () => {
  const lines = Array.from({ length: 2000 }, (_, at) => `${" ".repeat(at + 1)}a\n`);
  const { sections, compared } = sectionsOf(lines.join(""), "a");
  expect(sections).toHaveLength(lines.length);
  expect(compared).toBeLessThan(4 * lines.length);
});
