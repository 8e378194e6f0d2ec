import { afterAll, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ListedEntry, listInParts } from "./list-in-parts.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true }));

const kindsOf = (entries: readonly ListedEntry[]) => new Map(entries.map(({ name, kind }) => [name, kind]));

test("the entries of a folder, with their kinds", () => {
  const own = join(folder, "kinds");
  mkdirSync(join(own, "inner"), { recursive: true });
  writeFileSync(join(own, "ä"), "");
  symlinkSync("ä", join(own, "link"));
  expect(kindsOf([...listInParts(own)].flat())).toEqual(
    new Map([
      ["inner", "dir"],
      ["ä", "file"],
      ["link", "symlink"],
    ]),
  );
});

test("many entries come in parts, each of some thousand at most", () => {
  const own = join(folder, "wide");
  mkdirSync(own);
  // A record has at least 24 bytes, and one call reads 64 KiB of them.
  for (let index = 0; index < 9000; index++) writeFileSync(join(own, String(index)), "");
  const parts = [...listInParts(own)];
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(3000);
  const names = parts.flat().map(({ name }) => name);
  expect(names.toSorted()).toEqual(readdirSync(own).toSorted());
});

test("a name that is not UTF-8 stands for no entry", () => {
  const own = join(folder, "bytes");
  mkdirSync(own);
  writeFileSync(Buffer.concat([Buffer.from(`${own}/`), Buffer.of(0x61, 0xff)]), "");
  expect([...listInParts(own)].flat()).toEqual([{ name: "a\ufffd", kind: "file" }]);
});

test("a link, a file and a missing folder have no entries", () => {
  const own = join(folder, "others");
  mkdirSync(own);
  writeFileSync(join(own, "file"), "");
  symlinkSync(own, join(folder, "to-others"));
  for (const path of [join(folder, "to-others"), join(own, "file"), join(own, "missing")])
    expect([...listInParts(path)].flat()).toEqual([]);
});

test("a listing that is given up leaves no descriptor behind", () => {
  const count = () => readdirSync("/proc/self/fd").length;
  const before = count();
  for (const _ of listInParts(folder)) {
    expect(count()).toBe(before + 1);
    break;
  }
  expect(count()).toBe(before);
});
