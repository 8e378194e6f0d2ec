import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { ChangedNames } from "./changed-names.ts";
import { EventReader } from "./event-reader.ts";
import { FolderTable } from "./folder-table.ts";

/** A queue that watches all, and counts the events of watches that have ended. */
function countingQueue() {
  const counts = { watches: 0, events: 0, most: 0 };
  const queue = {
    watch: () => ++counts.watches,
    unwatch() {
      counts.most = Math.max(counts.most, ++counts.events);
    },
    read() {
      counts.events = 0;
      return false;
    },
    close() {},
  };
  return { counts, queue };
}

const numbered = (count: number, suffix = "") =>
  Array.from({ length: count }, (_, index) => `${10_000 + index}${suffix}`);

const listingOf = (keys: readonly string[]) => ({
  keys,
  kinds: keys.map((key) => (key.endsWith("/") ? ("dir" as const) : ("file" as const))),
});

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
  expect(changes(() => runAtOnce(table.setListing(table.base, { keys: [], kinds: [] })))).toBe(false);
});

test("a large folder is listed in steps, between which it has entries in order, each its own", () => {
  const { queue } = countingQueue();
  const used = new Set<number>();
  const table = new FolderTable(queue, {
    onAdded: (file) => used.add(file),
    onRemoved: (file) => used.delete(file),
  });
  const { base } = table;
  const keys = numbered(20_000);
  const [first, second] = [keys, keys.filter((_, index) => index % 3 > 0)];
  for (const listed of [first, second, first]) {
    const before = new Map(base.keys.map((key, index) => [key, base.entries[index]]));
    let { version } = table;
    let steps = 0;
    for (const _ of table.setListing(base, listingOf(listed))) {
      steps++;
      expect(table.version).toBeGreaterThan(version);
      version = table.version;
      expect(base.keys.every((key, index) => index === 0 || base.keys[index - 1]! < key)).toBe(true);
      expect(new Set(base.entries)).toEqual(used);
      expect(base.entries.length).toBe(base.keys.length);
    }
    expect(steps).toBeGreaterThanOrEqual(4);
    expect(base.keys).toEqual([...listed]);
    expect(base.keys.every((key, index) => !before.has(key) || before.get(key) === base.entries[index])).toBe(
      true,
    );
  }
});

test("many folders leave in steps, and the ends of their watches do not overflow the queue", () => {
  const { counts, queue } = countingQueue();
  const table = new FolderTable(queue, {});
  const { base } = table;
  const list = (folder: typeof base, keys: readonly string[]) => {
    table.setWatch(folder, queue.watch());
    runAtOnce(table.setListing(folder, listingOf(keys)));
  };
  list(base, ["top/"]);
  const top = base.entries[0] as typeof base;
  list(top, numbered(3000, "/"));
  for (const folder of top.entries) list(folder as typeof base, []);
  expect(table.folders).toBe(3002);
  expect([...table.setListing(base, listingOf([]))].length).toBeGreaterThan(10);
  expect(table.folders).toBe(1);
  const reader = new EventReader({ inotify: queue, table, pending: new ChangedNames(), listener: {} });
  expect([...reader.settle()].length).toBeGreaterThan(10);
  expect(counts.most).toBe(256);
  expect(counts.events).toBeLessThan(256);
});

test("many folders that leave with some others each do so in steps", () => {
  const { queue } = countingQueue();
  const table = new FolderTable(queue, {});
  const { base } = table;
  const list = (folder: typeof base, keys: readonly string[]) => {
    table.setWatch(folder, queue.watch());
    runAtOnce(table.setListing(folder, listingOf(keys)));
  };
  list(base, numbered(40, "/"));
  for (const folder of base.entries) list(folder as typeof base, numbered(200, "/"));
  let before = table.folders;
  for (const _ of table.setListing(base, listingOf([]))) {
    expect(before - table.folders).toBeLessThanOrEqual(2 * 256);
    before = table.folders;
  }
  expect(table.folders).toBe(1);
  expect(before).toBeLessThanOrEqual(2 * 256);
});
