/** Searches of a tree whose files were indexed, over a real folder. */
import { afterAll, expect, test } from "bun:test";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSearcher } from "./search.test-kit.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(base, { recursive: true }));
for (let folder = 0; folder < 12; folder++) {
  mkdirSync(join(base, `${folder}`));
  for (let file = 0; file < 100; file++) writeFileSync(join(base, `${folder}/${file}.txt`), `line ${file}\n`);
}

test.each([
  ["this thread", 10_000],
  ["threads", 1],
])("the stamps of indexed files are compared before the next search, by %s", async (_, comparedInThreads) => {
  const index = { mode: "watched", maxBytes: 10_000_000, scrubbedFiles: 0, comparedInThreads } as const;
  const searcher = openSearcher(base, { backend: "descriptors", threads: 1, index });
  const find = async (pattern: string) => {
    const found = await searcher.search({ pattern, paths: false, isExtended: true });
    return { paths: found.content_matches.map(({ path }) => path), index: found.index };
  };
  expect((await find("absent")).index).toBe("scan");
  await searcher.index!.filled();
  expect(searcher.index!.files).toBe(1200);
  while (!searcher.index!.isConfirmed) await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(join(base, "3/7.txt"), "changed\n");
  expect(await find("changed")).toEqual({ paths: ["3/7.txt"], index: "watched" });
  expect((await find("line 42")).paths).toHaveLength(12);
  writeFileSync(join(base, "3/7.txt"), "line 7\n");
  expect((await find("changed")).paths).toEqual([]);
  // Before a new folder was watched, a file may have been changed through a link in it.
  const changeUnseen = (path: string, text: string) => {
    mkdirSync(join(base, "new"));
    linkSync(join(base, path), join(base, "new/link"));
    writeFileSync(join(base, "new/link"), text);
    rmSync(join(base, "new"), { recursive: true });
  };
  changeUnseen("5/8.txt", "changed\n");
  expect(await find("changed")).toEqual({ paths: ["5/8.txt"], index: "watched" });
  await searcher.index!.filled();
  while (!searcher.index!.isConfirmed) await new Promise((resolve) => setImmediate(resolve));
  changeUnseen("5/8.txt", "line 8\n");
  // The searcher notices it, and compares the stamps although nothing is searched.
  while (searcher.index!.isConfirmed) await new Promise((resolve) => setImmediate(resolve));
  while (!searcher.index!.isConfirmed) await new Promise((resolve) => setImmediate(resolve));
  expect(await find("changed")).toEqual({ paths: [], index: "watched" });
  await searcher.close();
});
