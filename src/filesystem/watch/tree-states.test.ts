import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { events, Inotify } from "./inotify.ts";
import { InotifyTree } from "./inotify-tree.ts";
import { MountTable } from "./mount-table.ts";
import type { openWatchedTree } from "./open-tree.ts";
import { openWith, TreeFixture } from "./watched-tree.test-kit.ts";
import type { IncompleteReason, TreeChange, WatchState } from "./watched-tree.ts";

/** Opens a tree that yields after each step. */
const inSteps = { open: openWith({ sliceMilliseconds: 0 }) };

const complete: WatchState = { isComplete: true };
const incomplete = (reason: IncompleteReason): WatchState => ({ isComplete: false, reason });

test("a queue that overflows is reported; after it has been built again, the tree is right and the numbers are the same", async () => {
  using fixture = await new TreeFixture({ a: "", b: "", "d/f": "" }).build();
  const numbers = new Map(
    [...fixture.tree.filesBelow(fixture.tree.base)].map(({ key, file }) => [key, file]),
  );
  const before = fixture.reported.allDirty;
  const files = ["a", "b"].map((name) => openSync(fixture.at(name), "r+"));
  // Two equal events in a row would be merged.
  const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  for (let i = 0; i <= limit; i++) for (const file of files) writeSync(file, "x", 0);
  for (const file of files) closeSync(file);
  renameSync(fixture.at("d"), fixture.at("e"));
  mkdirSync(fixture.at("new"));
  writeFileSync(fixture.at("new/f"), "");
  expect(await fixture.tree.drain()).toEqual(incomplete("overflow"));
  expect(await fixture.tree.drain()).toEqual(incomplete("overflow"));
  expect(fixture.reported.allDirty).toBe(before + 1);
  expect(await fixture.tree.build()).toEqual(complete);
  expect(fixture.reported.allDirty).toBe(before + 2);
  expect(fixture.paths).toEqual(["a", "b", "e/f", "new/f"]);
  for (const { key, file } of fixture.tree.filesBelow(fixture.tree.base))
    if (key.length === 1 && key !== "f") expect(numbers.get(key)).toBe(file);
  await fixture.drain();
  appendFileSync(fixture.at("e/f"), "more");
  expect(await fixture.drain()).toEqual(["e/f"]);
});

test("a tree that is built while it changes has all changes", async () => {
  using fixture = new TreeFixture(
    Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`d${index % 20}/e${index}/f`, ""])),
    inSteps,
  );
  const built = fixture.tree.build();
  expect(await fixture.tree.drain()).toEqual(incomplete("unlisted"));
  for (let i = 0; i < 20; i++) renameSync(fixture.at(`d${i}`), fixture.at(`moved${i}`));
  for (let i = 0; i < 20; i++) writeFileSync(fixture.at(`moved${i}/new`), "");
  expect(await built).toEqual(complete);
  await fixture.drain();
  expect(fixture.paths.length).toBe(120);
  expect(fixture.paths.every((path) => path.startsWith("moved"))).toBe(true);
});

test("a drain that begins while another one runs has what happened between", async () => {
  using fixture = await new TreeFixture({ f: "" }, inSteps).build();
  const made = Array.from({ length: 20 }, (_, index) => [`new${index}/a/b/f`, ""]);
  fixture.add(Object.fromEntries(made));
  const first = fixture.tree.drain();
  appendFileSync(fixture.at("f"), "more");
  fixture.add({ last: "" });
  const second = fixture.tree.drain();
  expect(await first).toEqual(complete);
  expect(await second).toEqual(complete);
  expect(fixture.paths.length).toBe(22);
  expect(fixture.paths).toContain("last");
});

test("too few watches: the tree is incomplete, and complete once there are more", async () => {
  const limit = { watches: 3 };
  using fixture = new TreeFixture({ "a/f": "", "b/f": "", "c/f": "" }, { open: openWith({ limit }) });
  expect(await fixture.tree.build()).toEqual(incomplete("limit"));
  // Four were tried before, and each folder takes one again.
  limit.watches = 4 + 4;
  expect(await fixture.tree.build()).toEqual(complete);
  expect(fixture.paths).toEqual(["a/f", "b/f", "c/f"]);
  mkdirSync(fixture.at("d"));
  expect(await fixture.tree.drain()).toEqual(incomplete("limit"));
});

test("more folders than its share of the watches: it ends all, and watches again once it may", async () => {
  const limit = { folders: 3 };
  const before = watchesOfProcess();
  using fixture = new TreeFixture({ "a/f": "", "b/f": "", "c/f": "" }, { open: openWith({ limit }) });
  expect(await fixture.tree.build()).toEqual(incomplete("limit"));
  expect(watchesOfProcess()).toBe(before);
  limit.folders = 4;
  expect(await fixture.tree.build()).toEqual(complete);
  expect(watchesOfProcess()).toBe(before + 4);
  mkdirSync(fixture.at("d"));
  expect(await fixture.tree.drain()).toEqual(incomplete("limit"));
  expect(watchesOfProcess()).toBe(before);
  limit.folders = 5;
  expect(await fixture.tree.build()).toEqual(complete);
  fixture.add({ "d/f": "" });
  expect(await fixture.tree.drain()).toEqual(complete);
  expect(fixture.paths).toEqual(["a/f", "b/f", "c/f", "d/f"]);
});

test("a tree that had too many folders is complete once it has fewer", async () => {
  const limit = { folders: 3 };
  using fixture = new TreeFixture({ "a/f": "", "b/f": "" }, { open: openWith({ limit }) });
  fixture.add({ "c/f": "" });
  expect(await fixture.tree.build()).toEqual(incomplete("limit"));
  rmSync(fixture.at("c"), { recursive: true });
  expect(await fixture.tree.build()).toEqual(complete);
  mkdirSync(fixture.at("d"));
  expect(await fixture.tree.drain()).toEqual(incomplete("limit"));
  rmSync(fixture.at("d"), { recursive: true });
  expect(await fixture.tree.build()).toEqual(complete);
  expect(fixture.paths).toEqual(["a/f", "b/f"]);
  appendFileSync(fixture.at("a/f"), "more");
  expect(await fixture.drain()).toContain("a/f");
});

test("a closed tree is incomplete, also while it is built", async () => {
  using fixture = new TreeFixture({ "a/f": "", "b/f": "", "c/f": "" }, inSteps);
  const built = fixture.tree.build();
  fixture.tree.close();
  expect(await built).toEqual(incomplete("unlisted"));
  expect(await fixture.tree.drain()).toEqual(incomplete("unlisted"));
});

test("a folder that is removed while it is listed is in no tree after that", async () => {
  const removal = { isDue: false };
  const open = openWith({
    sliceMilliseconds: 0,
    onWatch() {
      // Runs when the listing yields, between its first call and the next.
      if (removal.isDue) queueMicrotask(() => rmSync(fixture.at("new"), { recursive: true, force: true }));
    },
  });
  using fixture = await new TreeFixture({ f: "" }, { open }).build();
  fixture.add({ "new/f": "" });
  removal.isDue = true;
  expect(await fixture.tree.drain()).toEqual(complete);
  expect(fixture.tree.unwatchedFolders).toBe(1);
  expect(await fixture.tree.drain()).toEqual(complete);
  expect(fixture.tree.unwatchedFolders).toBe(0);
  expect(fixture.tree.base.keys).toEqual(["f"]);
});

test("what is made between the opening of a folder and its watch is listed", async () => {
  let made = 0;
  const onWatch = () => writeFileSync(fixture.at(`new-${made++}`), "");
  using fixture = new TreeFixture({ f: "" }, { open: openWith({ onWatch }) });
  expect(await fixture.tree.build()).toEqual(complete);
  expect(fixture.paths).toEqual(["f", "new-0"]);
});

test("changes are reported as soon as a drain is requested, even if another one is running", async () => {
  const changes: string[] = [];
  const onChange = ({ kind, path }: TreeChange) => changes.push(`${kind} ${path}`);
  using fixture = await new TreeFixture({ "a/f": "" }, { ...inSteps, listener: { onChange } }).build();
  const { tree } = fixture;
  fixture.add({ "b/f": "", "c/f": "" });
  const running = tree.drain();
  changes.length = 0;
  renameSync(fixture.at("a"), fixture.at("d"));
  const next = tree.drain();
  expect(changes).toEqual(["moved d"]);
  expect(await Promise.all([running, next])).toEqual([complete, complete]);
  expect(fixture.paths).toEqual(["b/f", "c/f", "d/f"]);
});

test("a long queue is read in steps without a drain", async () => {
  let changes = 0;
  const onChange = () => changes++;
  using fixture = await new TreeFixture({ "d/": null }, { listener: { onChange } }).build();
  for (let index = 0; index < 4000; index++) writeFileSync(fixture.at(`f${index}`), "");
  const inStep: number[] = [];
  for (const _ of fixture.tree.readEventsInSteps()) inStep.push(changes - inStep.reduce((a, b) => a + b, 0));
  expect(Math.max(...inStep)).toBeLessThan(1000);
  expect(changes).toBeGreaterThan(4000);
  expect(fixture.tree.hasUnreadEvents).toBe(false);
});

test("a long queue is read in steps, or at once before a call changes something", async () => {
  const changes: string[] = [];
  const onChange = ({ kind, path }: TreeChange) => changes.push(`${kind} ${path}`);
  using fixture = await new TreeFixture({ "d/": null }, { ...inSteps, listener: { onChange } }).build();
  const { tree } = fixture;
  const make = (count: number) => {
    for (let index = 0; index < count; index++) writeFileSync(fixture.at(`${count} ${index}`), "");
  };
  make(4000);
  const drained = tree.drain();
  expect(changes.length).toBeGreaterThan(100);
  expect(changes.length).toBeLessThan(2000);
  expect(tree.hasUnreadEvents).toBe(true);
  renameSync(fixture.at("d"), fixture.at("e"));
  // Another drain reads on, and the first one has all that was made before.
  const next = tree.drain();
  expect(await drained).toEqual(complete);
  expect(tree.hasUnreadEvents).toBe(false);
  expect(tree.files).toBe(4000);
  expect(changes.at(-1)).toBe("moved e");
  await next;
  changes.length = 0;
  make(3000);
  tree.readEvents();
  expect(changes.filter((line) => line.startsWith("created"))).toHaveLength(3000);
  expect([tree.hasUnreadEvents, tree.files]).toEqual([false, 4000]);
  expect(await tree.drain()).toEqual(complete);
  expect(tree.files).toBe(7000);
});

test("no more is read at once than the queue can have, however fast it is filled", async () => {
  let isFilled = false;
  let reads = 0;
  const open: typeof openWatchedTree = (base, listener) => {
    const inotify = Inotify.open() as Inotify;
    return new InotifyTree({
      ...{ descriptor: base.descriptor!, type: 0xef53, mounts: MountTable.open(base)!, listener },
      maxFolders: () => 10,
      maxQueuedEvents: 1000,
      inotify: {
        watch: (folder) => inotify.watch(folder),
        unwatch: (watch) => inotify.unwatch(watch),
        read(onEvent) {
          if (!isFilled) return inotify.read(onEvent);
          reads++;
          for (let index = 0; index < 100; index++)
            onEvent({ watch: -7, mask: events.modify, cookie: 0, bytes: Buffer.from("f"), from: 0, to: 1 });
          return true;
        },
        close: () => inotify.close(),
      },
    });
  };
  using fixture = await new TreeFixture({ f: "" }, { open }).build();
  isFilled = true;
  fixture.tree.readEvents();
  expect(reads).toBeGreaterThanOrEqual(10);
  expect(reads).toBeLessThan(20);
});

test("a drain that fails does not stand for later ones", async () => {
  const disk = { fails: false };
  const onWatch = () => {
    if (disk.fails) throw new Error("no descriptors");
  };
  const open = openWith({ sliceMilliseconds: 0, onWatch });
  using fixture = await new TreeFixture({ a: "" }, { open }).build();
  const { tree } = fixture;
  disk.fails = true;
  mkdirSync(fixture.at("d"));
  const [failed, after] = [tree.drain(), tree.drain()];
  await expect(failed).rejects.toThrow("no descriptors");
  expect(await after).toEqual(incomplete("busy"));
  disk.fails = false;
  await tree.build();
  mkdirSync(fixture.at("e"));
  const first = tree.drain();
  writeFileSync(fixture.at("e/f"), "");
  expect(await tree.drain()).toEqual(complete);
  expect(fixture.paths).toEqual(["a", "e/f"]);
  await first;
});

/** Counts the folders that this process watches, according to the kernel. */
function watchesOfProcess(): number {
  const folder = "/proc/self/fdinfo";
  const ofDescriptor = (name: string): number => {
    try {
      return readFileSync(join(folder, name), "latin1").split("inotify wd:").length - 1;
    } catch {
      // The descriptor of the listing itself is already closed.
      return 0;
    }
  };
  return readdirSync(folder).reduce((sum, name) => sum + ofDescriptor(name), 0);
}
