import { expect, test } from "bun:test";
import {
  isGone,
  isTemporary,
  isTemporaryIn,
  makerOf,
  temporaryName,
  transactionName,
  trialName,
} from "./temporary.ts";

test("names are reserved, all different, and short enough for every file system", () => {
  const names = Array.from({ length: 1000 }, temporaryName);
  expect(new Set(names).size).toBe(1000);
  expect(names.every(isTemporary)).toBe(true);
  expect(Math.max(...names.map((name) => name.length))).toBeLessThan(100);
  expect(isTemporary(".coder-tmp")).toBe(false);
  expect(isTemporary("a.coder-tmp-x")).toBe(false);
});

test("bytes are such a name or not, whatever stands around them", () => {
  const bytes = Buffer.from("a.coder-tmp-x");
  expect(isTemporaryIn(bytes, 1, bytes.length)).toBe(true);
  expect(isTemporaryIn(bytes, 1, bytes.length - 1)).toBe(true);
  expect(isTemporaryIn(bytes, 1, bytes.length - 2)).toBe(false);
  expect(isTemporaryIn(bytes, 0, bytes.length)).toBe(false);
});

test("a name tells its maker", () => {
  const maker = makerOf(temporaryName())!;
  expect(maker.pid).toBe(process.pid);
  expect(isGone(maker)).toBe(false);
  expect(makerOf(trialName())).toEqual(maker);
  // Some file systems return an accented letter in two parts.
  expect(makerOf(trialName().normalize("NFD"))).toEqual(maker);
  for (const name of [".coder-tmp-notes", `${temporaryName()}.user-file.txt`, `${temporaryName()}0`])
    expect(makerOf(name)).toBeUndefined();
});

test("a maker is gone when its process is, but never one in a place we cannot see", () => {
  const us = makerOf(temporaryName())!;
  const ended = Bun.spawnSync(["true"]).pid;
  expect(isGone({ ...us, pid: ended })).toBe(true);
  expect(isGone({ ...us, pid: process.ppid })).toBe(false);
  expect(isGone({ ...us, pid: ended, place: "00000000" })).toBe(false);
});

test("after a restart our own number does not protect what the process before us left", () => {
  const us = makerOf(temporaryName())!;
  expect(isGone({ ...us, start: us.start - 60_000 })).toBe(true);
});

test("a name of a transaction says which, and who has its record", () => {
  const mark = { id: "0123456789abcdef", keeper: "01234567" };
  const names = [0, 1, 35, 36, 1999].map((index) => transactionName(mark, index));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    expect(isTemporary(name)).toBe(true);
    expect(name.length).toBeLessThan(110);
    expect(makerOf(name)).toEqual({ ...makerOf(temporaryName())!, transaction: mark });
    expect(makerOf(`${name}-x`)).toBeUndefined();
  }
});
