import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { diffLines } from "./line-diff.ts";
import type { Splice } from "./splices.ts";

const diff = (before: Buffer, after: Buffer) => runAtOnce(diffLines(before, after));

function splice(before: Buffer, after: Buffer, splices: readonly Splice[]): Buffer {
  const pieces: Buffer[] = [];
  let [at, nowAt] = [0, 0];
  for (const { from, to, length } of splices) {
    pieces.push(before.subarray(at, from));
    nowAt += from - at;
    pieces.push(after.subarray(nowAt, nowAt + length));
    [at, nowAt] = [to, nowAt + length];
  }
  return Buffer.concat([...pieces, before.subarray(at)]);
}

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d"), { maxLength: 30 })
  .map((lines) => Buffer.from(lines.join("")));

test("the changes turn one text into the other, and leave equal lines", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(splice(before, after, diff(before, after)).equals(after)).toBe(true);
      if (before.equals(after)) expect(diff(before, after)).toEqual([]);
    }),
  );
});

test("lines between two changes are not part of them", () => {
  const [before, after] = [Buffer.from("a\nb\nc\nd\ne\n"), Buffer.from("a\nB\nc\nd\ne\nf\n")];
  expect(diff(before, after)).toEqual([
    { from: 2, to: 4, length: 2 },
    { from: 10, to: 10, length: 2 },
  ]);
});

test("texts that share little are one change", () => {
  const lines = (word: string) =>
    Buffer.from(Array.from({ length: 3000 }, (_, line) => `${word}${line}\n`).join(""));
  const [before, after] = [lines("x"), lines("y")];
  expect(diff(before, after)).toEqual([{ from: 0, to: before.length, length: after.length }]);
});

test("no step compares more than some thousand lines, or all those that are equal in one place", () => {
  const line = (length: number) => Buffer.from("x\n".repeat(length));
  const before = Buffer.concat([Buffer.from("a\n"), line(100_000), Buffer.from("b\n")]);
  const after = Buffer.concat([Buffer.from("c\n"), line(99_000), Buffer.from("d\n")]);
  let steps = 0;
  for (const _ of diffLines(before, after)) steps++;
  expect(steps).toBeGreaterThan(200_000 / 4096);
});

test("different lines with equal hashes are a change", () => {
  // These were found by trying; another hash needs others.
  const [before, after] = ["line 131846", "line 196538"].map((line) => Buffer.from(`a\n${line}\nb\n`)) as [
    Buffer,
    Buffer,
  ];
  expect(diff(before, after)).toEqual([{ from: 0, to: before.length, length: after.length }]);
  expect(diff(before, Buffer.from("a\nx\nb\n"))).toHaveLength(1);
});
