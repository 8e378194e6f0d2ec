import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStateFolder } from "../../filesystem/state/state-folder.ts";
import { pageFrom } from "../pages.test-kit.ts";
import { openSearcher, type RequestFields } from "../search.test-kit.ts";
import { ContentIndex } from "../signatures/content-index.ts";
import { SavedIndex } from "../signatures/saved-index.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const tree = join(base, "tree");
const at = (path: string) => join(tree, path);
const opened: (() => Promise<void>)[] = [];

beforeEach(() => {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree);
  for (let i = 0; i < 20; i++) writeFileSync(at(`file${i}`), `text of file ${i}\nwithout it\n`);
});
afterAll(async () => {
  for (const close of opened) await close();
  rmSync(base, { recursive: true });
});

/** Opens a searcher whose index has caught up. */
async function openFilled(deny: readonly string[] = [], maxBytes = 2 ** 24) {
  const searcher = openSearcher(tree, {
    backend: "openat",
    threads: 2,
    deny,
    index: { mode: "verified", maxBytes },
  });
  opened.push(searcher.close);
  const search = (fields: RequestFields) => searcher.search({ isExtended: true, paths: false, ...fields });
  const find = async (pattern = "needle") => {
    const found = await search({ pattern });
    return { index: found.index, paths: found.content_matches.map(({ path }) => path) };
  };
  const known = async () => {
    await searcher.index?.filled();
    return searcher.index?.files;
  };
  await find();
  return { find, known, search, memory: () => searcher.index!.bytes };
}

test("the first search reads all files, and later ones do not read those that cannot match", async () => {
  const { find, known } = await openFilled();
  expect(await known()).toBe(20);
  expect(await find()).toEqual({ index: "verified", paths: [] });
  expect(await find("file 1")).toMatchObject({ index: "scan" });
  writeFileSync(at("file3"), "a needle");
  expect(await find()).toEqual({ index: "verified", paths: ["file3"] });
});

test("searches at once have each their own candidates, also where some are given up", async () => {
  const { find, known, search } = await openFilled();
  // A search that finds the index busy adds no files to it.
  await known();
  for (let i = 0; i < 20; i++) writeFileSync(at(`word${i}`), `it is wordnumber${i}end\n`);
  await find();
  await known();
  const words = Array.from({ length: 20 }, (_, i) => i);
  for (let round = 0; round < 2; round++) {
    const answers = words.map((i) => search({ pattern: `wordnumber${i}end`, maxMatches: 1 + (i % 2) }));
    const regexes = words.map((i) => search({ pattern: `wordnumber${i}e\\wd`, regex: true }));
    for (const [at, { index, content_matches }] of (await Promise.all([...answers, ...regexes])).entries())
      expect([index, content_matches.map(({ path }) => path)]).toEqual(["verified", [`word${at % 20}`]]);
  }
});

test("every change is seen by the search that comes right after it", async () => {
  const { find, known } = await openFilled();
  await known();
  const sees = async (...paths: string[]) => {
    expect(await find()).toEqual({ index: "verified", paths });
    await known();
  };
  const { atime, mtime, size } = statSync(at("file4"));
  writeFileSync(at("file4"), "needle".padEnd(size));
  utimesSync(at("file4"), atime, mtime);
  await sees("file4");
  writeFileSync(at("new"), "needle");
  await sees("file4", "new");
  renameSync(at("new"), at("file1"));
  await sees("file1", "file4");
  mkdirSync(at("folder"));
  linkSync(at("file4"), at("folder/link"));
  writeFileSync(at("file4"), "nothing");
  await sees("file1");
  writeFileSync(at("folder/link"), "needle");
  await sees("file1", "file4", "folder/link");
  symlinkSync("file1", at("symlink"));
  rmSync(at("file1"));
  await sees("file4", "folder/link");
});

test("a store through a mapping is seen, of one that was there before the index and of a later one", async () => {
  const early = Bun.mmap(at("file5"), { shared: true });
  early[0] = 0x21;
  const { find, known } = await openFilled();
  await known();
  early.set(Buffer.from("needle"));
  expect((await find()).paths).toEqual(["file5"]);
  const late = Bun.mmap(at("file6"), { shared: true });
  late.set(Buffer.from("needle"));
  expect((await find()).paths).toEqual(["file5", "file6"]);
});

test("a file that is open for writing is read", async () => {
  const writer = openSync(at("file7"), "r+");
  const { find, known } = await openFilled();
  await known();
  writeSync(writer, "needle", 0);
  expect(await find()).toEqual({ index: "verified", paths: ["file7"] });
  closeSync(writer);
});

test("nothing is kept of denied files, nor of those that a folder leads to that has become a link", async () => {
  mkdirSync(at("open"));
  mkdirSync(at("closed"));
  for (const folder of ["open", "closed"]) writeFileSync(at(`${folder}/file`), "a needle");
  writeFileSync(at("denied"), "a needle");
  const { find, known } = await openFilled(["closed/file", "denied"]);
  renameSync(at("open"), at("moved"));
  symlinkSync("closed", at("open"));
  expect(await known()).toBe(20);
  expect((await find()).paths).toEqual(["moved/file"]);
  expect(await known()).toBe(21);
});

test("an index takes no more memory than it may, and the files that it has no room for are read", async () => {
  for (let i = 0; i < 100; i++)
    writeFileSync(at(`large${i}`), Array.from({ length: 3000 }, (_, j) => `${i}w${j}`).join("\n"));
  const maxBytes = 2 ** 18;
  const { find, known, memory } = await openFilled([], maxBytes);
  expect(await known()).toBe(120);
  expect([memory() > maxBytes / 2, memory() <= maxBytes]).toEqual([true, true]);
  writeFileSync(at("large99"), "needle");
  expect((await find()).paths).toEqual(["large99"]);
  expect((await find("99w2999")).paths).toEqual([]);
  expect((await find("98w2999")).paths).toEqual(["large98"]);
});

test("signatures that memory has no room for are on the disk, also for the next process", async () => {
  for (let i = 0; i < 400; i++)
    writeFileSync(at(`file${i}`), Array.from({ length: 1000 }, (_, j) => `${i}w${j}`).join("\n"));
  const hostPath = realpathSync(tree);
  const state = openStateFolder({ dir: join(base, "state"), roots: [{ name: ".", hostPath }] });
  const maxBytes = 2 ** 18;
  for (const expected of ["scan", "verified"] as const) {
    const index = { mode: "verified", maxBytes, saved: { state, identity: "", minFiles: 1 } } as const;
    const searcher = openSearcher(tree, { backend: "openat", threads: 2, index });
    const found = await searcher.search({ pattern: "399w999", isExtended: true, paths: false });
    expect(found.content_matches.map(({ path }) => path)).toEqual(["file399"]);
    expect(found.index).toBe(expected);
    await searcher.index?.settled();
    expect([searcher.index!.files, searcher.index!.bytes < maxBytes]).toEqual([400, true]);
    await searcher.close();
  }
  const [saved] = readdirSync(state.find("index")!);
  expect(statSync(join(state.find("index")!, saved!)).size).toBeGreaterThan(maxBytes);
});

test("an index that could not be saved is saved once a further file is signed", async () => {
  for (let i = 20; i < 100; i++) writeFileSync(at(`file${i}`), `text of file ${i}`);
  const state = openStateFolder({
    dir: join(base, "unsaved"),
    roots: [{ name: ".", hostPath: realpathSync(tree) }],
  });
  const index = { mode: "verified", maxBytes: 2 ** 24, saved: { state, identity: "", minFiles: 1 } } as const;
  const searcher = openSearcher(tree, { backend: "openat", threads: 2, index });
  opened.push(searcher.close);
  const save = spyOn(SavedIndex.prototype, "save");
  try {
    save.mockResolvedValueOnce(false);
    for (const saves of [1, 2, 2]) {
      writeFileSync(at("new"), `text ${saves}`);
      await searcher.search({ pattern: "needle" });
      await searcher.index?.settled();
      expect(save).toHaveBeenCalledTimes(saves);
    }
  } finally {
    save.mockRestore();
  }
});

test("once an index has room for no further file, only files that it knows are signed again", async () => {
  for (let i = 0; i < 600; i++) writeFileSync(at(`file${i}`), `text ${i}`);
  // A quarter of the memory for contents has room for the stamps of 512 files.
  const { find, known } = await openFilled([], 2 ** 17);
  expect(await known()).toBe(512);
  const takes = spyOn(ContentIndex.prototype, "take");
  try {
    expect((await find()).index).toBe("verified");
    await known();
    expect(takes).not.toHaveBeenCalled();
    for (let i = 0; i < 600; i++) writeFileSync(at(`file${i}`), `needle ${i}`);
    expect((await find()).paths).toHaveLength(600);
    await known();
    expect(takes.mock.calls.reduce((sum, [{ outcomes }]) => sum + outcomes.length, 0)).toBeGreaterThanOrEqual(
      512,
    );
  } finally {
    takes.mockRestore();
  }
});

test("a literal with U+FFFD is found where a file holds other bytes in its place", async () => {
  writeFileSync(at("latin1"), Buffer.from("a cr\xe8me br\xfbl\xe9e", "latin1"));
  const { find, known, search } = await openFilled();
  await known();
  const found = { index: "verified" as const, paths: ["latin1"] };
  expect(await find("br\ufffdl\ufffde")).toMatchObject({ paths: ["latin1"] });
  expect(await find("a cr\ufffdme br\ufffd")).toEqual(found);
  const spanning = await search({ pattern: "me br\ufffdl\ufffd", multiline: true });
  expect(spanning.content_matches).toHaveLength(1);
  expect(await find("a cr\ufffdme absent")).toEqual({ index: "verified", paths: [] });
});

test("a file with a NUL far from its beginning is read where matches span lines: it may be a binary for the search", async () => {
  writeFileSync(at("nul"), `${"filler\n".repeat(300)}\0`);
  const { find, known, search } = await openFilled();
  await known();
  const spanning = { pattern: "(?s)filler.*absent", regex: true, multiline: true, page: pageFrom(undefined) };
  expect(await search(spanning)).toMatchObject({ index: "verified", skipped: { binary: 1 } });
  expect(await find("absent")).toEqual({ index: "verified", paths: [] });
});

test("files get known although there is always a search under way", async () => {
  const { search } = await openFilled();
  let [current, index] = [search({ pattern: "needle" }), "scan"];
  while (index === "scan") {
    const next = search({ pattern: "needle" });
    index = (await current).index ?? "scan";
    current = next;
  }
  expect([index, (await current).index]).toEqual(["verified", "verified"]);
});

test("of many searches at once one says which files there are", async () => {
  const searcher = openSearcher(tree, {
    backend: "openat",
    threads: 2,
    index: { mode: "verified", maxBytes: 2 ** 24 },
  });
  opened.push(searcher.close);
  const add = spyOn(searcher.index!, "add");
  await Promise.all(Array.from({ length: 8 }, () => searcher.search({ pattern: "needle" })));
  expect(add.mock.calls.reduce((sum, [{ count }]) => sum + count, 0)).toBe(20);
  await searcher.index?.filled();
  expect(searcher.index?.files).toBe(20);
});

test("text that is not the bytes of its file is found, whatever its size", async () => {
  const large = "filler\n".repeat(20_000);
  const inUtf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
  const files: Readonly<Record<string, Buffer>> = {
    "small-le": inUtf16("one\nneedle\n"),
    "small-be": inUtf16("one\nneedle\n").swap16(),
    "large-le": inUtf16(`${large}one\nneedle\n`),
    marked: Buffer.from("\ufeffone\nneedle\n"),
    crlf: Buffer.from("one\r\nneedle\r\n"),
    cr: Buffer.from("one\rneedle\r"),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(at(name), content);
  const { known, search } = await openFilled();
  await known();
  for (const fields of [
    { pattern: "needle" },
    { pattern: "^needle$", regex: true },
    { pattern: "one\nneedle", multiline: true },
    { pattern: "one\n(needle)", multiline: true, regex: true },
    { pattern: "ONE\nneedle", multiline: true, ignoreCase: true },
  ]) {
    const { content_matches: matches } = await search({ decodes: true, ...fields });
    expect(matches.map(({ path }) => path).sort(), fields.pattern).toEqual(Object.keys(files).sort());
  }
});
