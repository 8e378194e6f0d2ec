/** Searches of a tree whose files were indexed, over a real folder. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
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
  await searcher.close();
});
