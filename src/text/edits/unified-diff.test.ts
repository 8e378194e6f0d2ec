import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { insert, remove, update } from "./edits.test-kit.ts";
import { applyLineOps, type LineOp } from "./line-ops.ts";
import { composeSplices } from "./splices.ts";
import { findMatches, replaceMatches } from "./str-replace.ts";
import { type Change, unifiedDiff } from "./unified-diff.ts";

/** Returns the change made by line ops, followed by replacements one after the other. */
function changeOf(before: Buffer, ops: LineOp[], ...replacements: [string, string][]): Change {
  const edited = runAtOnce(applyLineOps(before, ops));
  let after = Buffer.concat(edited.parts);
  let splices = composeSplices([], edited.splices);
  for (const [old_str, new_str] of replacements) {
    const matches = runAtOnce(findMatches(after, { old_str, new_str, replace_all: true }));
    const replaced = runAtOnce(replaceMatches(after, matches));
    after = Buffer.from(replaced.body);
    splices = composeSplices(splices, replaced.splices);
  }
  return { before, after, splices };
}

const diffOf = (before: string, ops: LineOp[], ...replacements: [string, string][]): string =>
  unified(changeOf(Buffer.from(before), ops, ...replacements)).diff;

const unified = (change: Change) => runAtOnce(unifiedDiff("a", change));

const head = "--- a/a\n+++ b/a\n";
const twelve = Array.from({ length: 12 }, (_, n) => `${n + 1}\n`).join("");

describe("the diff of", () => {
  test.each<[string, string, LineOp[], string]>([
    [
      "a line in the middle",
      twelve,
      [update(6, 6, "six")],
      "@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n",
    ],
    ["a line put in first", "a\nb\n", [insert(1, "x")], "@@ -1,2 +1,3 @@\n+x\n a\n b\n"],
    ["all lines removed", "a\nb\n", [remove(1, 2)], "@@ -1,2 +0,0 @@\n-a\n-b\n"],
    [
      "all lines removed after a byte order mark",
      "\ufeffa\n",
      [remove(1, 1)],
      "@@ -1 +1 @@\n-\ufeffa\n+\ufeff\n\\ No newline at end of file\n",
    ],
    ["a first line", "", [insert(1, "x\n")], "@@ -0,0 +1 @@\n+x\n"],
    [
      "a line without an ending",
      "a\nb",
      [update(2, 2, "c")],
      "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
    ],
    [
      "lines that are close, in one hunk",
      twelve,
      [remove(2, 2), update(8, 8, "x")],
      "@@ -1,11 +1,10 @@\n 1\n-2\n 3\n 4\n 5\n 6\n 7\n-8\n+x\n 9\n 10\n 11\n",
    ],
    [
      "lines that are apart, in two",
      twelve,
      [remove(1, 1), update(12, 12, "x")],
      "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -9,4 +8,4 @@\n 9\n 10\n 11\n-12\n+x\n",
    ],
    ["lines of which some stay", "a\nb\nc\n", [update(1, 3, "a\nB\nc")], "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
    ["the same lines", "a\nb\n", [update(1, 2, "a\nb")], ""],
    ["CRLF", "a\r\nb\r\n", [remove(1, 1)], "@@ -1,2 +1 @@\n-a\r\n b\r\n"],
    ["a byte order mark", "\ufeffa\nb\n", [remove(2, 2)], "@@ -1,2 +1 @@\n \ufeffa\n-b\n"],
  ])("%s", (_, before, ops, diff) => {
    expect(diffOf(before, ops)).toBe(diff === "" ? "" : head + diff);
  });

  test("several replacements of one line", () => {
    expect(diffOf("a b\nc\n", [], ["a", "x"], ["b", "y\nz"], ["x y", "xy"])).toBe(
      `${head}@@ -1,2 +1,3 @@\n-a b\n+xy\n+z\n c\n`,
    );
  });
});

test("replacements of which one adds a line, and the next removes an equal one", () => {
  expect(diffOf("x\n\n\nab", [], ["x\n", "x\n\n"], ["\nab", "ab"])).toBe("");
});

test("a long one is cut behind a line, and says so", () => {
  const change = changeOf(Buffer.from("line\n".repeat(3000)), [remove(1, 1000)]);
  const { diff, isTruncated } = unified(change);
  expect(isTruncated).toBe(true);
  expect(diff).toStartWith(`${head}@@ -1,1003 +1,3 @@\n-line\n`);
  expect(diff).toEndWith("\n-line\n");
  expect(diff.length).toBeLessThan(4200);
  expect(unified(changeOf(Buffer.from("x".repeat(10_000)), [remove(1, 1)]))).toEqual({
    diff: `${head}@@ -1 +0,0 @@\n`,
    isTruncated: true,
  });
});

test("many changes of one long line are a line each, and found without reading it for each", () => {
  const before = Buffer.from("ab".repeat(1_000_000));
  const after = Buffer.from(before);
  const splices = Array.from({ length: 10_000 }, (_, at) => ({ from: 2 * at, to: 2 * at + 1, length: 1 }));
  for (const { from } of splices) after[from] = 0x78;
  const lastIndexOf = spyOn(after, "lastIndexOf");
  const { diff } = unified({ before, after, splices });
  expect(diff).toBe(`${head}@@ -1 +1 @@\n`);
  expect(lastIndexOf.mock.calls.length).toBeLessThan(100);
});

test("equal lines in a long change are not part of the diff", () => {
  const before = Buffer.from(`${"a\n".repeat(400_000)}x\n${"a\n".repeat(400_000)}`);
  const after = Buffer.from(before);
  after[800_000] = 0x79;
  const { diff } = unified({
    before,
    after,
    splices: [{ from: 0, to: before.length, length: after.length }],
  });
  const context = " a\n".repeat(3);
  expect(diff).toBe(`${head}@@ -399998,7 +399998,7 @@\n${context}-x\n+y\n${context}`);
});

/**
 * Returns the text that a diff makes of another, by its line numbers. Throws if a line differs from the one
 * in the diff.
 */
function patch(before: string, diff: string): string {
  const lines = before.split(/(?<=\n)/);
  const made: string[] = [];
  let at = 0;
  for (const line of diff
    .replaceAll("\n\\ No newline at end of file\n", "\0\n")
    .split(/(?<=\n)/)
    .slice(2)) {
    const text = line.slice(1).replace("\0\n", "");
    if (line.startsWith("@@")) {
      const [, first, count] = /^@@ -(\d+)(?:,(\d+))?/.exec(line)!;
      const start = count === "0" ? Number(first) : Number(first) - 1;
      while (at < start) made.push(lines[at++]!);
      const position = Number(/\+(\d+)/.exec(line)![1]) - (/\+\d+,0 /.test(line) ? 0 : 1);
      expect(
        made
          .join("")
          .split(/(?<=\n)/)
          .filter(Boolean).length,
      ).toBe(position);
    } else if (line.startsWith("+")) made.push(text);
    else {
      expect(lines[at]).toBe(text);
      at++;
      if (line.startsWith(" ")) made.push(text);
    }
  }
  return [...made, ...lines.slice(at)].join("");
}

test("the diff makes the new text of the old one", () => {
  const piece = fc.constantFrom("a", "b", "ab", "\n", "\n", "\r\n", "c\n", "\ufeff");
  const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
  const sent = fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
  const replacement = fc.tuple(sent, fc.oneof(fc.constant(""), sent));
  fc.assert(
    fc.property(text, fc.array(replacement, { maxLength: 4 }), fc.nat(70), (before, replacements, at) => {
      const lines = before.split("\n").length - 1;
      const ops = at < lines && lines > 3 ? [update(at + 1, Math.min(at + 3, lines), "a\nc\nx")] : [];
      const change = changeOf(Buffer.from(before), ops, ...replacements);
      const { diff, isTruncated } = unified(change);
      expect(isTruncated).toBe(false);
      expect(patch(before, diff)).toBe(change.after.toString());
      if (before === change.after.toString()) expect(diff).toBe("");
    }),
    { numRuns: 5000 },
  );
});
