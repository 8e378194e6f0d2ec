import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { filesOver } from "../../filesystem/files/files.ts";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { SharedTree } from "../../filesystem/watch/shared-tree.ts";
import { requestOf } from "../search.test-kit.ts";
import { FileTable } from "../signatures/file-records.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import type { FileSink } from "../walk/walk.ts";
import type { QueryResults } from "./kept-results.ts";
import { WatchedIndex } from "./watched-index.ts";

/** Opens an index of a tree with these files, and searches of all of it in slices of one step. */
async function openIndex(paths: readonly string[]) {
  const fixture = new JailFixture(Object.fromEntries(paths.map((path) => [path, ""])));
  const jail = fixture.jail("openat");
  const tree = new SharedTree({ openBase: () => jail.admitFolder(".") });
  const index = new WatchedIndex(tree, { scrubbedFiles: 0 });
  await index.opened();
  const slices = { count: 0, onNext: async (_: number) => {} };
  const slice = {
    isDue: true,
    async yieldIfDue() {
      slices.count++;
      await slices.onNext(slices.count);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const request = requestOf({ paths: false });
  const walk = { jail, files: filesOver(jail, () => 0), ...request };
  const deadline = deadlineIn(60_000);
  const folder = new SharedFolder(jail.admitFolder("."));
  const table = new FileTable();
  table.put({ stamps: new Uint32Array(stampWords), flags: 0 });
  return {
    ...{ index, fixture, slices, table },
    options: { request, deadline, slice, folder, walk },
    [Symbol.dispose]() {
      deadline.end();
      folder.release();
      index.close();
      tree.close();
      fixture[Symbol.dispose]();
    },
  };
}

test("each file is compared once, and the first ones while the others are being listed", async () => {
  const paths = Array.from({ length: 1200 }, (_, file) => `d${100 + (file % 40)}/f${1000 + file}`).sort();
  using opened = await openIndex(paths);
  const { index, slices, options, table } = opened;
  let jobs: { readonly slice: number; readonly paths: readonly string[] }[] = [];
  const isKnown = (path: string) => /[05]$/.test(path);
  const confirm = () =>
    index.confirm(options, {
      records: table.records,
      filesAtOnce: 7,
      async run({ names, folders, firsts }) {
        const inFolders = folders.split("\0");
        const folderOf = (file: number) => inFolders[firsts.findLastIndex((first) => first <= file)];
        const own = names
          .split("\0")
          .slice(0, -1)
          .map((name, file) => `${folderOf(file)}${name}`);
        jobs.push({ slice: slices.count, paths: own });
        return { records: Int32Array.from(own, (path) => (isKnown(path) ? 0 : -1)) };
      },
    });
  await confirm();
  expect(jobs.flatMap((job) => job.paths)).toEqual(paths);
  expect(jobs.every((job) => job.paths.length <= 7)).toBe(true);
  // The list takes several slices.
  expect(jobs.slice(0, 3).map((job) => job.slice)).toEqual([1, 2, 3]);
  jobs = [];
  await confirm();
  expect(jobs.flatMap((job) => job.paths)).toEqual(paths.filter((path) => !isKnown(path)));
});

test("a folder of very many files is listed in steps", async () => {
  using opened = await openIndex(Array.from({ length: 2000 }, (_, file) => `.f${1000 + file}`));
  const kept = await opened.index.prepare(opened.options);
  expect(kept!.list.files).toHaveLength(2000);
  expect(opened.slices.count).toBeGreaterThanOrEqual(2000 / 256 - 1);
});

/** Opens an index of 5,000 files that it has seen, and returns a function that selects those to search. */
async function openSelection() {
  const paths = Array.from({ length: 5000 }, (_, file) => `d${100 + (file % 40)}/f${1000 + file}`).sort();
  const opened = await openIndex(paths);
  const { index, slices, options, table } = opened;
  await index.confirm(options, {
    records: table.records,
    filesAtOnce: 1000,
    run: ({ count }) => Promise.resolve({ records: new Int32Array(count) }),
  });
  const candidates = { records: table.buffer, mayMatch: new SharedArrayBuffer(4), count: 0, isFull: false };
  const results = { matchesIn: () => undefined } as unknown as QueryResults;
  const select = async (within: Partial<typeof options> = {}) => {
    slices.count = 0;
    const judged = { needed: [], candidates, results, after: undefined, compare: undefined };
    const replay = await index.select({ ...options, ...within }, judged);
    const found: string[] = [];
    const add: FileSink["add"] = (_, bytes, from, to) => found.push(bytes.toString("latin1", from, to)) > 0;
    // It also ends when a time slice is used up.
    while (replay?.fill({ add }));
    replay?.close();
    return replay && { found, slices: slices.count };
  };
  return { ...opened, paths, select };
}

test("files are selected again only if a name in their list changes before the end", async () => {
  using opened = await openSelection();
  const { index, fixture, slices, options, paths, select } = opened;
  // One slice for each 512 files.
  expect(await select()).toEqual({ found: [], slices: 10 });
  const changing = async (change: () => void) => {
    slices.onNext = async (count) => {
      if (count !== 2) return;
      change();
      // Another search updates the tree.
      await index.prepare(options);
    };
    const selected = await select();
    slices.onNext = async () => {};
    return selected;
  };
  const [first = ""] = paths;
  // The search has begun before the change.
  expect(await changing(() => writeFileSync(fixture.at(first), "changed"))).toEqual({
    found: [],
    slices: 10,
  });
  expect(await select()).toEqual({ found: [first.split("/")[1]!], slices: 10 });
  const again = await changing(() => writeFileSync(fixture.at("d100/new"), ""));
  expect(again).toMatchObject({ found: [first.split("/")[1]!, "new"] });
  expect(again!.slices).toBeGreaterThan(10);
});

test("a selection ends at the deadline", async () => {
  using opened = await openSelection();
  const cancelled = new AbortController();
  opened.slices.onNext = async (count) => {
    if (count === 1) cancelled.abort();
  };
  const deadline = deadlineIn(60_000, cancelled.signal);
  expect(await opened.select({ deadline })).toBeUndefined();
  expect(opened.slices.count).toBe(1);
  deadline.end();
});

test("a comparison that a change has ended is not complete", async () => {
  const paths = Array.from({ length: 1200 }, (_, file) => `d${100 + (file % 40)}/f${1000 + file}`);
  using opened = await openIndex(paths);
  const { index, fixture, slices, options, table } = opened;
  const compare = {
    records: table.records,
    filesAtOnce: 1000,
    run: ({ count }: { readonly count: number }) => Promise.resolve({ records: new Int32Array(count) }),
  };
  slices.onNext = async (count) => {
    if (count !== 2) return;
    writeFileSync(fixture.at("d100/new"), "");
    await index.prepare(options);
  };
  expect(await index.confirm(options, compare)).toBe(false);
  slices.onNext = async () => {};
  expect(await index.confirm(options, compare)).toBe(true);
});
