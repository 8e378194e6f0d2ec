/** Warm-ups over a real folder, with and without an index that an earlier searcher has saved. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStateFolder } from "../filesystem/state/state-folder.ts";
import type { IndexMode, IndexOptions } from "./index/search-index.ts";
import { openSearcher } from "./search.test-kit.ts";

let folder: string;
let base: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  base = join(folder, "base");
  mkdirSync(join(base, "sub"), { recursive: true });
  for (let number = 0; number < 40; number++) writeFileSync(join(base, pathOf(number)), `line ${number}\n`);
});
const pathOf = (number: number) => (number % 2 === 0 ? `${number}.txt` : `sub/${number}.txt`);
afterEach(() => rmSync(folder, { recursive: true }));

function open(mode: IndexMode, fields: Partial<IndexOptions> = {}) {
  const state = openStateFolder({ dir: join(folder, "state"), roots: [{ name: ".", hostPath: base }] });
  const index: IndexOptions = {
    mode,
    maxBytes: 10_000_000,
    saved: { state, identity: "test", minFiles: 1 },
    // Searches would compare the stamps of so few files themselves.
    scrubbedFiles: 0,
    ...fields,
  };
  return openSearcher(base, { backend: "descriptors", threads: 1, index });
}

/** Returns the paths of files with the text, and how they were found. */
async function find({ search }: ReturnType<typeof open>, pattern: string) {
  const { content_matches, index } = await search({ pattern, paths: false, isExtended: true });
  return { paths: content_matches.map(({ path }) => path), index };
}

async function saveIndex(): Promise<void> {
  const searcher = open("watched");
  await find(searcher, "absent");
  await searcher.index?.settled();
  await searcher.close();
}

test("a warm-up without a saved index adds no file to the index, and the first search does", async () => {
  const searcher = open("watched");
  await searcher.warmUp();
  expect(searcher.index?.files).toBe(0);
  expect(await find(searcher, "line 7")).toEqual({ paths: ["sub/7.txt"], index: "scan" });
  await searcher.index?.filled();
  expect(searcher.index?.files).toBe(40);
  await searcher.close();
});

test("after a warm-up with a saved index, the first search relies on the watched tree", async () => {
  await saveIndex();
  writeFileSync(join(base, "4.txt"), "changed between\n");
  const searcher = open("watched");
  await searcher.warmUp();
  writeFileSync(join(base, "sub/9.txt"), "changed after\n");
  writeFileSync(join(base, "new.txt"), "changed after\n");
  expect(await find(searcher, "changed")).toEqual({
    paths: ["4.txt", "new.txt", "sub/9.txt"],
    index: "watched",
  });
  expect((await find(searcher, "line 8")).paths).toEqual(["8.txt"]);
  await searcher.close();
});

test("without a warm-up, the first search with a saved index is followed by the same comparison", async () => {
  await saveIndex();
  const searcher = open("watched");
  expect((await find(searcher, "absent")).index).toBe("verified");
  expect(searcher.index?.isConfirmed).toBe(false);
  while (searcher.index?.isConfirmed === false) await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(join(base, "sub/9.txt"), "changed\n");
  expect(await find(searcher, "changed")).toEqual({ paths: ["sub/9.txt"], index: "watched" });
  await searcher.close();
});

test.each([
  ["this thread", 100],
  ["another thread", 1],
])("files that change while %s compares their stamps are searched", async (_, comparedInThreads) => {
  for (let round = 0; round < 20; round++) {
    await saveIndex();
    writeFileSync(join(base, pathOf(39)), `changed before ${round}\n`);
    const searcher = open("watched", { comparedInThreads });
    let isOver = false;
    const warmUp = searcher.warmUp().then(() => {
      isOver = true;
    });
    for (let number = round; !isOver; number++) {
      const changed = number % 25;
      writeFileSync(join(base, pathOf(changed)), `changed ${round}:${number}\n`);
      // A moved folder may have hidden changes, so that every file counts as changed.
      if (round % 2 === 0 && number % 7 === 0) {
        renameSync(join(base, "sub"), join(base, "other"));
        renameSync(join(base, "other"), join(base, "sub"));
      }
      for (let turns = 0; turns < number % 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    }
    await warmUp;
    for (let number = 0; number < 40; number++) {
      const path = pathOf(number);
      const line = readFileSync(join(base, path), "utf8").trimEnd();
      expect((await find(searcher, line)).paths).toContain(path);
    }
    await searcher.close();
  }
});

test.each<IndexMode>(["off", "verified", "watched"])("index %s: a search ends a warm-up", async (mode) => {
  await saveIndex();
  const searcher = open(mode);
  const warmUp = searcher.warmUp();
  expect((await find(searcher, "line 7")).paths).toEqual(["sub/7.txt"]);
  await warmUp;
  // From then on, a warm-up has nothing to prepare.
  await searcher.warmUp();
  expect((await find(searcher, "line 8")).paths).toEqual(["8.txt"]);
  await searcher.close();
});

test("a warm-up ends with the searcher, and without an error if the folder is gone", async () => {
  const searcher = open("watched");
  const warmUp = searcher.warmUp();
  await searcher.close();
  await warmUp;
  const other = open("watched");
  rmSync(base, { recursive: true });
  await other.warmUp();
  await other.close();
});
