import { afterEach, expect, test } from "bun:test";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Folder } from "../../filesystem/jail/folder.ts";
import { openJail } from "../../filesystem/jail/jail.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { EntryStack } from "./entry-stack.ts";
import { ListingCache } from "./listing-cache.ts";

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

/** Opens a new folder in `parent` through a jail. */
function openFolder(parent = tmpdir()) {
  const base = mkdtempSync(join(parent, "coder-"));
  const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "openat" });
  const folder = jail.admitFolder(".");
  opened.push(
    () => rmSync(base, { recursive: true }),
    () => jail.close(),
    () => folder.close(),
  );
  return { folder, at: (path: string) => join(base, path) };
}

/** Waits until the last change of the folder is so old that a later change has a different time. */
async function settled(path: string): Promise<void> {
  while (Date.now() - statSync(path).ctimeMs < 150) await new Promise((resolve) => setImmediate(resolve));
}

const namesIn = (cache: ListingCache, folder: Folder): string[] | undefined => {
  const names: string[] = [];
  const number = cache.find(folder, (bytes, from, to, kind) =>
    names.push(`${kind} ${bytes.toString("utf8", from, to)}`),
  );
  return number === undefined ? undefined : names;
};

/** Lists the folder, and keeps the listing. */
function list(cache: ListingCache, folder: Folder, number = 0): void {
  const entries = new EntryStack();
  entries.push(Buffer.from("of another folder"), 0, 17, "file");
  for (const _ of folder.list((bytes, from, to, kind) => entries.push(bytes, from, to, kind!)));
  entries.sortChunk(1);
  cache.keep(folder, { entries, first: 1 }, number);
}

test("a listing is known until an entry of the folder changes", async () => {
  const { folder, at } = openFolder();
  const cache = new ListingCache(2 ** 20);
  for (const name of ["b", "a", "é", "x".repeat(255)]) writeFileSync(at(name), "");
  mkdirSync(at("d"));
  symlinkSync("a", at("link"));
  const others = openFolder();
  writeFileSync(others.at("theirs"), "");
  const changes: (() => void)[] = [
    () => writeFileSync(at("new"), ""),
    () => unlinkSync(at("new")),
    () => renameSync(at("a"), at("c")),
    () => renameSync(at("c"), at("b")),
    () => mkdirSync(at("e")),
    () => rmdirSync(at("e")),
    () => symlinkSync("b", at("other")),
    () => linkSync(at("b"), at("second")),
    () => renameSync(at("b"), others.at("b")),
    () => renameSync(others.at("theirs"), at("theirs")),
    () => renameSync(at("theirs"), at("d/theirs")),
  ];
  for (const change of changes) {
    await settled(at(""));
    expect(namesIn(cache, folder)).toBeUndefined();
    list(cache, folder, 5);
    expect(namesIn(cache, folder)).toContain("dir d");
    expect(cache.find(folder, () => {})).toBe(5);
    change();
  }
  expect(namesIn(cache, folder)).toBeUndefined();
});

test("entries come in the order in which they were kept, each with its kind", async () => {
  const { folder, at } = openFolder();
  const cache = new ListingCache(2 ** 20);
  for (const name of ["b", "a-", "é"]) writeFileSync(at(name), "");
  mkdirSync(at("a"));
  symlinkSync("a", at("link"));
  await settled(at(""));
  namesIn(cache, folder);
  list(cache, folder, 0xffffffff);
  expect(namesIn(cache, folder)).toEqual(["file a-", "dir a", "file b", "symlink link", "file é"]);
  expect(cache.find(folder, () => {})).toBe(0xffffffff);
});

test("what changed just now, or while it was listed, is not kept", async () => {
  const { folder, at } = openFolder();
  const cache = new ListingCache(2 ** 20);
  writeFileSync(at("a"), "");
  expect(namesIn(cache, folder)).toBeUndefined();
  list(cache, folder);
  expect(namesIn(cache, folder)).toBeUndefined();
  await settled(at(""));
  expect(namesIn(cache, folder)).toBeUndefined();
  writeFileSync(at("b"), "");
  await settled(at(""));
  list(cache, folder);
  expect(namesIn(cache, folder)).toBeUndefined();
});

test("on a file system of which it is not known that stamps change, nothing is kept", async () => {
  const { folder, at } = openFolder("/dev/shm");
  const cache = new ListingCache(2 ** 20);
  await settled(at(""));
  namesIn(cache, folder);
  list(cache, folder);
  expect(namesIn(cache, folder)).toBeUndefined();
});

test("when the memory is used up it forgets all, and begins anew", async () => {
  const folders = Array.from({ length: 40 }, () => openFolder());
  const cache = new ListingCache(64 * 1024);
  for (const { at } of folders) for (let i = 0; i < 20; i++) writeFileSync(at(`${i}${"x".repeat(200)}`), "");
  await settled(folders.at(-1)!.at(""));
  for (const { folder } of folders) {
    namesIn(cache, folder);
    list(cache, folder);
    expect(namesIn(cache, folder)).toHaveLength(20);
  }
  expect(cache.bytes).toBe(64 * 1024);
  const known = folders.filter(({ folder }) => namesIn(cache, folder) !== undefined);
  expect(known.length).toBeGreaterThan(0);
  expect(known.length).toBeLessThan(40);
  const none = new ListingCache(1000);
  namesIn(none, folders[0]!.folder);
  list(none, folders[0]!.folder);
  expect(none.bytes).toBe(0);
});
