import { afterAll, beforeEach, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineCounts } from "./line-counts.ts";
import { pieceBytes } from "./open-file.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const at = (name: string) => join(folder, name);
const descriptors: number[] = [];
const open = (name: string, flags = "r") => {
  const descriptor = openSync(at(name), flags);
  descriptors.push(descriptor);
  return descriptor;
};

beforeEach(() => {
  for (const name of ["a", "b", "c"]) writeFileSync(at(name), "");
});
afterAll(() => {
  for (const descriptor of descriptors) closeSync(descriptor);
  rmSync(folder, { recursive: true });
});

const isOld = { now: () => Date.now() + 10_000 };

/** Counts ten lines in each of `pieces` pieces of a file. */
function count(counts: LineCounts, name: string, pieces: number): boolean {
  const lines = counts.of(open(name));
  for (let piece = 0; piece < pieces; piece++) lines.add({ offset: piece * pieceBytes, lines: 10 * piece });
  return lines.keep();
}

const known = (counts: LineCounts, name: string) => counts.of(open(name)).beforeOffset(10 ** 12);

test("the last known place before a line is one that the line does not begin at", () => {
  const counts = new LineCounts(isOld);
  count(counts, "a", 5);
  const lines = counts.of(open("a"));
  const places = [1, 2, 11, 12, 31, 32, 10 ** 9].map((line) => lines.beforeLine(line).offset / pieceBytes);
  expect(places).toEqual([0, 0, 0, 1, 2, 3, 4]);
  expect(lines.beforeOffset(2 * pieceBytes)).toEqual({ offset: 2 * pieceBytes, lines: 20 });
  expect(lines.beforeOffset(2 * pieceBytes - 1)).toEqual({ offset: pieceBytes, lines: 10 });
});

test("places come in their order, and others are passed over", () => {
  const counts = new LineCounts(isOld);
  const lines = counts.of(open("a"));
  for (const offset of [0, pieceBytes, pieceBytes, pieceBytes / 2, 3 * pieceBytes])
    lines.add({ offset, lines: 7 });
  expect(lines.keep()).toBe(true);
  expect(known(counts, "a")).toEqual({ offset: pieceBytes, lines: 7 });
});

test("a call that came less far takes nothing away", () => {
  const counts = new LineCounts(isOld);
  const slow = counts.of(open("a"));
  count(counts, "a", 5);
  slow.add({ offset: pieceBytes, lines: 10 });
  expect(slow.keep()).toBe(true);
  expect(known(counts, "a").lines).toBe(40);
});

test("nothing is kept of a file that has just changed, is open for writing or changes meanwhile", () => {
  const now = Date.now();
  const young = new LineCounts({ now: () => now });
  writeFileSync(at("a"), "young");
  count(young, "a", 5);
  expect(known(young, "a").lines).toBe(0);
  const counts = new LineCounts(isOld);
  const writer = openSync(at("b"), "r+");
  count(counts, "b", 5);
  closeSync(writer);
  expect(known(counts, "b").lines).toBe(0);
  const lines = counts.of(open("c"));
  lines.add({ offset: pieceBytes, lines: 10 });
  writeFileSync(at("c"), "longer");
  expect(lines.keep()).toBe(false);
  expect(known(counts, "c").lines).toBe(0);
});

test("the file that was read longest ago is forgotten first, and one that is too large is known in part", () => {
  const counts = new LineCounts({ ...isOld, maxPlaces: 10 });
  count(counts, "a", 5);
  count(counts, "b", 5);
  expect(counts.of(open("a")).keep()).toBe(true);
  count(counts, "c", 5);
  expect(["a", "b", "c"].map((name) => known(counts, name).lines)).toEqual([40, 0, 40]);
  count(counts, "c", 50);
  expect(["a", "b", "c"].map((name) => known(counts, name).lines)).toEqual([0, 0, 90]);
});
