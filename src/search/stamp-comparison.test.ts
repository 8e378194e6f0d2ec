/** Searches of a tree whose files were indexed, over a real folder. */
import { afterAll, expect, test } from "bun:test";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { filesOver } from "../filesystem/files/files.ts";
import { openJail } from "../filesystem/jail/jail.ts";
import { SharedTree } from "../filesystem/watch/shared-tree.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { openSearcher, requestOf } from "./search.test-kit.ts";
import { SharedFolder } from "./walk/shared-folder.ts";

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

test("a comparison during which every file may have changed does not count", async () => {
  const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "openat" });
  const tree = new SharedTree({ openBase: () => jail.admitFolder(".") });
  const index = { mode: "watched", maxBytes: 10_000_000, scrubbedFiles: 0, tree } as const;
  const searcher = openSearcher(base, { backend: "openat", threads: 1, index });
  await searcher.search({ pattern: "absent", isExtended: true });
  await searcher.index!.filled();
  await searcher.watched();
  const deadline = deadlineIn(60_000);
  const folder = new SharedFolder(jail.admitFolder("."));
  const request = requestOf({ paths: false });
  const confirm = async (change: () => void) => {
    let turns = 0;
    const slice = {
      isDue: true,
      async yieldIfDue() {
        if (turns++ > 0) return;
        change();
        // The tree is updated for another search.
        await searcher.search({ pattern: "absent", content: false });
      },
    };
    const walk = { jail, files: filesOver(jail, () => 0), ...request };
    await searcher.index!.confirm({ request, deadline, slice, folder, walk });
  };
  await confirm(() => {});
  expect(searcher.index!.isConfirmed).toBe(true);
  await confirm(() => mkdirSync(join(base, "node_modules")));
  expect(searcher.index!.isConfirmed).toBe(false);
  deadline.end();
  folder.release();
  await searcher.close();
  jail.close();
});
