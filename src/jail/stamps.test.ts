import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasNoWriter, readStamps, sizeAt, stamps } from "./stamps.ts";

let base = "";
let folder = -1;
const at = (name: string) => join(base, name);
const nameOf = (name: string) => ({ bytes: Buffer.from(`${name}\0`), from: 0, to: Buffer.byteLength(name) });
const stampsOf = (name: string): number[] | undefined =>
  readStamps(folder, nameOf(name)) ? [...stamps] : undefined;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "coder-"));
  folder = openSync(base, "r");
});
afterAll(() => {
  closeSync(folder);
  rmSync(base, { recursive: true });
});

test("stamps are those of the file, by its name and by itself, and change with it", async () => {
  writeFileSync(at("file"), "four");
  const first = stampsOf("file")!;
  expect(first[sizeAt]).toBe(4);
  const descriptor = openSync(at("file"), "r");
  expect(readStamps(descriptor)).toBe(true);
  expect([...stamps]).toEqual(first);
  closeSync(descriptor);
  truncateSync(at("file"), 2);
  expect(stampsOf("file")).not.toEqual(first);
  // The times of last access and last change can be set; that of the last change of the inode cannot.
  const before = stampsOf("file")!;
  await ticks();
  writeFileSync(at("file"), "ab");
  utimesSync(at("file"), 1, 1);
  expect(stampsOf("file")!.slice(9)).not.toEqual(before.slice(9));
});

/** Until the clock that file systems take their times from has ticked. */
async function ticks(): Promise<void> {
  writeFileSync(at("clock"), "");
  const first = stampsOf("clock")!.join();
  do writeFileSync(at("clock"), "");
  while (stampsOf("clock")!.join() === first);
}

test("only regular files have stamps, and no link is followed", () => {
  writeFileSync(at("target"), "");
  symlinkSync("target", at("link"));
  mkdirSync(at("folder"));
  for (const name of ["link", "folder", "missing", ".", "..", "a/b", ""])
    expect(stampsOf(name)).toBeUndefined();
  linkSync(at("target"), at("other"));
  expect(stampsOf("other")).toEqual(stampsOf("target"));
});

test("a file that is open for writing has a writer, also under another name, until it is closed", () => {
  writeFileSync(at("open"), "x");
  linkSync(at("open"), at("open2"));
  const reader = openSync(at("open"), "r");
  expect(hasNoWriter(reader)).toBe(true);
  closeSync(reader);
  const writer = openSync(at("open2"), "r+");
  renameSync(at("open2"), at("open3"));
  const again = openSync(at("open"), "r");
  expect(hasNoWriter(again)).toBe(false);
  closeSync(writer);
  expect(hasNoWriter(again)).toBe(true);
  closeSync(again);
});
