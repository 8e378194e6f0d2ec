import { expect, test } from "bun:test";
import { Refusal } from "../../base/errors.ts";
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

const mixed = "x = 1\r\ny = 2\r\nend\nx = 1\ny = 2\nend\n";

test("line ends, which nobody sees, do not choose among places", () => {
  const hunk = [" x = 1", "-y = 2", "+y = 3", " end"];
  const patched = (text: string) => {
    const patch = parse(text);
    const { body, placements } = runAtOnce(applyHunks(Buffer.from(mixed), patch.files[0]!, patch));
    return [body.toString(), placements] as const;
  };
  expect(patched(diff("@@ -1,3 +1,3 @@", ...hunk))).toEqual([
    mixed.replace("y = 2\r", "y = 3\r"),
    [{ hunk: 1, line: 1, alsoAt: [4] }],
  ]);
  expect(patched(diff("@@ -4,3 +4,3 @@", ...hunk))[0]).toBe(mixed.replace("y = 2\n", "y = 3\n"));
  const bare = ["*** Begin Patch", "*** Update File: f", "@@", ...hunk, "*** End Patch", ""].join("\n");
  expect(() => patched(bare)).toThrow(Refusal);
  expect(() => patched(bare)).toThrow("fits in 2 places");
  const returns = bare.replaceAll(/^([-+ ][xy].*)$/gm, "$1\r");
  expect(patched(returns)[0]).toBe(mixed.replace("y = 2\r", "y = 3\r"));
});
