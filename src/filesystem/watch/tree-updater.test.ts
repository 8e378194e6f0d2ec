import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { ChangedNames } from "./changed-names.ts";
import type { FolderReader } from "./folder-reader.ts";
import { FolderTable } from "./folder-table.ts";
import { TreeUpdater } from "./tree-updater.ts";

test("a file may be another one where the system did not say what has its name, although a listing has it still", () => {
  const inotify = { watch: () => 1, unwatch: () => {}, read: () => false, close: () => {} };
  const [table, pending] = [new FolderTable(inotify, {}), new ChangedNames()];
  const listing = { keys: ["f"], kinds: ["file"] } as const;
  table.setWatch(table.base, 1);
  runAtOnce(table.setListing(table.base, listing));
  table.base.inode = 7n;
  pending.add(table.base, "f");
  const reader = {
    // The descriptor of a file, so that no name in it can be read.
    open: () => ({ descriptor: openSync(import.meta.filename, "r"), inode: 7n }),
    *list() {
      yield;
      return listing;
    },
  } as unknown as FolderReader;
  let unseen = 0;
  const listener = { onUnseenWrite: () => unseen++ };
  const readEvents = () => undefined;
  const updater = new TreeUpdater({
    inotify,
    table,
    reader,
    pending,
    listener,
    readEvents,
    maxFolders: () => 100,
  });
  expect([...updater.settle()].length).toBeGreaterThan(0);
  expect(table.base.keys).toEqual(["f"]);
  expect(unseen).toBe(1);
});

test("where no more folders can be watched, the ends of the watches do not overflow the queue", () => {
  const queue = { events: 0, most: 0, watches: 0 };
  const inotify = {
    watch: () => (queue.watches < 1500 ? ++queue.watches : "limit"),
    unwatch() {
      queue.watches--;
      queue.most = Math.max(queue.most, ++queue.events);
    },
    read() {
      queue.events = 0;
      return true;
    },
    close() {},
  } as const;
  const table = new FolderTable(inotify, {});
  const keys = Array.from({ length: 2000 }, (_, index) => `${1000 + index}/`);
  const reader = {
    open: (path: string) => ({ descriptor: openSync("/dev/null", "r"), inode: path === "" ? 1n : 2n }),
    *list() {
      const listed = queue.watches === 1 ? keys : [];
      return { keys: listed, kinds: listed.map(() => "dir") };
    },
  } as unknown as FolderReader;
  const updater = new TreeUpdater({
    inotify,
    table,
    reader,
    pending: new ChangedNames(),
    listener: {},
    readEvents: () => undefined,
    maxFolders: () => Number.POSITIVE_INFINITY,
  });
  const steps = updater.build();
  let step = steps.next();
  while (!step.done) step = steps.next();
  expect(step.value).toBe("limit");
  expect(queue).toMatchObject({ watches: 0, most: 256 });
  expect(table.folders).toBe(1);
});

test("fewer names of a step change in a folder where many others move up for each", () => {
  const inotify = { watch: () => 1, unwatch: () => {}, read: () => false, close: () => {} };
  const stepsBeside = (count: number) => {
    const [table, pending] = [new FolderTable(inotify, {}), new ChangedNames()];
    const keys = Array.from({ length: count }, (_, index) => `${100_000 + index}`);
    table.setWatch(table.base, 1);
    runAtOnce(table.setListing(table.base, { keys, kinds: keys.map(() => "file") }));
    table.base.inode = 7n;
    for (let index = 0; index < 512; index++) pending.add(table.base, `no such name ${index}`);
    const reader = { open: () => ({ descriptor: openSync("/", "r"), inode: 7n }) } as unknown as FolderReader;
    const updater = new TreeUpdater({
      ...{ inotify, table, reader, pending, listener: {} },
      readEvents: () => undefined,
      maxFolders: () => 100,
    });
    return [...updater.settle()].length;
  };
  expect(stepsBeside(100)).toBeLessThan(8);
  expect(stepsBeside(20_000)).toBeGreaterThanOrEqual(512 / 16);
});
