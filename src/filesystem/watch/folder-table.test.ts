import { expect, test } from "bun:test";
import { FolderTable } from "./folder-table.ts";

test("a list of files is no longer right when nothing is known of a folder, although it was empty, and when it is known again", () => {
  const queue = { watch: () => 1, unwatch: () => {}, read: () => false, close: () => {} };
  const table = new FolderTable(queue, {});
  let last = table.version;
  const changes = (act: () => void) => {
    act();
    const before = last;
    last = table.version;
    return last > before;
  };
  expect(changes(() => table.setUnwatched(table.base, "unreadable"))).toBe(true);
  expect(changes(() => table.setUnwatched(table.base, "unreadable"))).toBe(true);
  expect(changes(() => table.setWatch(table.base, 1))).toBe(true);
  expect(changes(() => table.setListing(table.base, { keys: [], kinds: [] }))).toBe(false);
});
