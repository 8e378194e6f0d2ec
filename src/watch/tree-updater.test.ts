import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { ChangedNames } from "./changed-names.ts";
import type { FolderReader } from "./folder-reader.ts";
import { FolderTable } from "./folder-table.ts";
import { TreeUpdater } from "./tree-updater.ts";

test("a file may be another one where the system did not say what has its name, although a listing has it still", () => {
  const inotify = { watch: () => 1, unwatch: () => {}, read: () => false, close: () => {} };
  const [table, pending] = [new FolderTable(inotify, {}), new ChangedNames()];
  const listing = { keys: ["f"], kinds: ["file"] } as const;
  table.setWatch(table.base, 1);
  table.setListing(table.base, listing);
  table.base.inode = 7n;
  pending.add(table.base, "f");
  const reader = {
    // Of a file: names in it cannot be asked for.
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
    mostFolders: () => 100,
  });
  expect([...updater.settle()].length).toBeGreaterThan(0);
  expect(table.base.keys).toEqual(["f"]);
  expect(unseen).toBe(1);
});
