import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { awaitTick } from "./clock.test-kit.ts";
import { areSettled, hasNoWriter, readStamps, releaseLease, sizeAt, stamps } from "./stamps.ts";

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

test("stamps are those of the file, by its name and by itself, and change with it", () => {
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
  awaitTick(base);
  writeFileSync(at("file"), "ab");
  utimesSync(at("file"), 1, 1);
  expect(stampsOf("file")!.slice(9)).not.toEqual(before.slice(9));
});

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

test("a lease that was ended is no hindrance, also while the file stays open", () => {
  writeFileSync(at("leased"), "x");
  const reader = openSync(at("leased"), "r");
  expect(hasNoWriter(reader)).toBe(true);
  releaseLease(reader);
  const writer = openSync(at("leased"), constants.O_RDWR | constants.O_NONBLOCK);
  closeSync(writer);
  closeSync(reader);
});

test("stamps are settled a while after the last change", () => {
  writeFileSync(at("file"), "");
  const { ctimeMs } = statSync(at("file"));
  stampsOf("file");
  expect(areSettled(ctimeMs + 99)).toBe(false);
  expect(areSettled(ctimeMs + 3000)).toBe(true);
});
