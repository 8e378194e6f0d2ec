import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { applyHunks, type HunkPlacement } from "./apply.ts";
import { parse } from "./patch.test-kit.ts";

function placementsOf(before: string, text: string): readonly HunkPlacement[] {
  const patch = parse(text);
  return runAtOnce(applyHunks(Buffer.from(before), patch.files[0]!, patch)).placements;
}

const diff = (...lines: string[]) => ["--- a/f", "+++ b/f", ...lines, ""].join("\n");
const block = [" begin", "-end", "+END"];

/** Returns a file with some lines, and a block of two at the given ones. */
const withBlocks = (...firsts: number[]) =>
  Array.from({ length: 30 }, (_, at) => {
    if (firsts.includes(at + 1)) return "begin\n";
    return firsts.includes(at) ? "end\n" : `line ${at + 1}\n`;
  }).join("");

test("a hunk that fits elsewhere too says where, by the lines afterwards", () => {
  const before = withBlocks(5, 20, 25);
  const hunks = ["@@ -1 +1,3 @@", " line 1", "+one", "+two", "@@ -5,2 +7,2 @@", ...block];
  expect(placementsOf(before, diff(...hunks))).toEqual([{ hunk: 2, line: 7, alsoAt: [22, 27] }]);
  expect(placementsOf(before, diff("@@ -6,2 +6,2 @@", ...block))).toEqual([
    { hunk: 1, line: 5, offset: -1, alsoAt: [20, 25] },
  ]);
});

test("places that the patch changes too, or that it rules out, are not named", () => {
  const before = withBlocks(5, 20);
  expect(placementsOf(before, diff("@@ -5,2 +5,2 @@", ...block, "@@ -20,2 +20,2 @@", ...block))).toEqual([]);
  const below = ["*** Begin Patch", "*** Update File: f", "@@ line 19", ...block, "*** End Patch", ""];
  expect(placementsOf(before, below.join("\n"))).toEqual([]);
});
