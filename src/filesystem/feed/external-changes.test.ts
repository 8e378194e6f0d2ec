import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { TreeChange } from "../watch/watched-tree.ts";
import { ExternalChanges, type ExternalChangesOptions } from "./external-changes.ts";
import { atRest } from "./feed.test-kit.ts";

const folder = { kind: "dir", inode: "1", state: "1" } as unknown as ReturnType<
  ExternalChangesOptions["stampsAt"]
>;

/** Returns the changes found after these events, in a tree that has listed a folder under every name. */
function foundAfter(...events: Omit<TreeChange, "path" | "isFolder">[]): string[] {
  const found: string[] = [];
  const external = new ExternalChanges({
    ...atRest,
    stampsAt: () => folder,
    presenceAt: () => "folder",
    isWatchedAt: () => true,
    isHeld: () => false,
    transactionsOver: () => 0,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  for (const event of events) external.add({ isFolder: true, path: Buffer.from("new/in"), ...event });
  runAtOnce(external.reconcile(1));
  return found;
}

test("a folder that was listed before its event came is created, and nothing was deleted", () => {
  expect(foundAfter({ kind: "created" })).toEqual(["created new/in"]);
  expect(foundAfter({ kind: "created" }, { kind: "attributes" })).toEqual(["created new/in"]);
});

test("a folder that took the name of another is said to have done so", () => {
  const replaced = ["deleted new/in", "created new/in"];
  expect(foundAfter({ kind: "removed" }, { kind: "created" })).toEqual(replaced);
  expect(foundAfter({ kind: "created", isMovedIn: true })).toEqual(replaced);
});

test("a file in a folder that is moved to a new name, and removed, is not said to be deleted there", () => {
  const found: string[] = [];
  const external = new ExternalChanges({
    ...atRest,
    stampsAt: () => "missing",
    presenceAt: (place) => (place === "old" ? "folder" : "nothing"),
    isWatchedAt: () => true,
    isHeld: () => false,
    transactionsOver: () => 0,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  external.add({ kind: "moved", isFolder: true, path: Buffer.from("new"), from: Buffer.from("old") });
  external.add({ kind: "removed", isFolder: false, path: Buffer.from("new/file") });
  external.add({ kind: "removed", isFolder: true, path: Buffer.from("new") });
  runAtOnce(external.reconcile(1));
  expect(found).toEqual(["deleted old"]);
});

test("and however many files it had", () => {
  const found: string[] = [];
  const external = new ExternalChanges({
    ...atRest,
    stampsAt: () => "missing",
    presenceAt: (place) => (place === "old" ? "folder" : "nothing"),
    isWatchedAt: () => true,
    isHeld: () => false,
    transactionsOver: () => 0,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  const add = (kind: "created" | "removed", path: string, isFolder = false) =>
    external.add({ kind, isFolder, path: Buffer.from(path) });
  for (const name of numbered(300)) add("removed", `old/${name}`);
  external.add({ kind: "moved", isFolder: true, path: Buffer.from("new"), from: Buffer.from("old") });
  for (const name of numbered(300)) add("removed", `new/more${name}`);
  add("removed", "new", true);
  runAtOnce(external.reconcile(1));
  expect(found).toEqual(["deleted old"]);
});

type FileEvent = readonly [kind: TreeChange["kind"], path: string, from?: string];

/** Returns the changes found after these events about `a`, a file, in a tree that has it and nothing else. */
function foundOfFile(...events: readonly FileEvent[]): string[] {
  const found: string[] = [];
  const external = new ExternalChanges({
    ...atRest,
    stampsAt: (place) =>
      place === "a"
        ? ({ kind: "file", inode: "1", state: "1" } as unknown as ReturnType<
            ExternalChangesOptions["stampsAt"]
          >)
        : "missing",
    presenceAt: (place) => (place === "a" ? "entry" : "nothing"),
    isWatchedAt: () => true,
    isHeld: () => false,
    transactionsOver: () => 0,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  for (const [kind, path, from] of events)
    external.add({
      ...{ kind, isFolder: false, path: Buffer.from(path) },
      ...(from !== undefined && { from: Buffer.from(from) }),
    });
  runAtOnce(external.reconcile(1));
  return found;
}

test("an entry that was moved away and back has not changed, unless it was written to or replaced", () => {
  expect(foundOfFile(["moved", "b", "a"], ["moved", "a", "b"])).toEqual([]);
  expect(foundOfFile(["moved", "b", "a"], ["moved", "c", "b"], ["moved", "a", "c"])).toEqual([]);
  expect(foundOfFile(["moved", "b", "a"], ["created", "a"], ["moved", "a", "b"])).toEqual([]);
  const changed = ["modified a"];
  expect(foundOfFile(["moved", "b", "a"], ["modified", "b"], ["moved", "a", "b"])).toEqual(changed);
  expect(foundOfFile(["attributes", "a"], ["moved", "b", "a"], ["moved", "a", "b"])).toEqual(changed);
  expect(foundOfFile(["moved", "b", "a"], ["moved", "a", "b"], ["attributes", "a"])).toEqual(changed);
  const other: FileEvent[] = [
    ["removed", "a"],
    ["created", "a"],
  ];
  expect(foundOfFile(...other, ["moved", "b", "a"], ["moved", "a", "b"])).toEqual(changed);
  expect(foundOfFile(["moved", "b", "a"], ["moved", "a", "b"], ...other)).toEqual(changed);
});

test("an entry that is gone before the event of that was read is compared after it", () => {
  const fixture = new Fixture(["back"]);
  fixture.add({ kind: "created", path: "passing" }, { kind: "moved", path: "away", from: "back" });
  runAtOnce(fixture.external.reconcile(1));
  expect(fixture.found).toEqual([]);
  fixture.add({ kind: "removed", path: "passing" }, { kind: "moved", path: "back", from: "away" });
  runAtOnce(fixture.external.reconcile(2));
  expect(fixture.found).toEqual([]);
  fixture.add({ kind: "moved", path: "away", from: "back" });
  runAtOnce(fixture.external.reconcile(3));
  expect(fixture.found).toEqual([]);
  // It has no other event, so the disk is right.
  runAtOnce(fixture.external.reconcile(4));
  expect(fixture.found).toEqual(["modified back"]);
});

test("an entry that a call moved away, and another program back, is created", () => {
  const fixture = new Fixture(["a"]);
  fixture.add({ kind: "moved", path: "b", from: "a" }, { kind: "moved", path: "a", from: "b" });
  fixture.external.leave("a", "missing", 1);
  runAtOnce(fixture.external.reconcile(1));
  expect(fixture.found).toEqual(["created a"]);
});

test("an entry that a call left, and another program moved before the drain was compared, is not deleted too", () => {
  const fixture = new Fixture(["b"]);
  fixture.external.leave("a", { kind: "file", inode: 0n, state: "" } as unknown as typeof folder, 1);
  fixture.add({ kind: "moved", path: "b", from: "a" });
  for (const drain of [1, 2]) runAtOnce(fixture.external.reconcile(drain));
  expect(fixture.found).toEqual(["moved a b"]);
});

test("names that a transaction holds are read only when it is over", () => {
  const found: string[] = [];
  let [reads, over] = [0, 0];
  const external = new ExternalChanges({
    ...atRest,
    stampsAt: () => {
      reads++;
      return folder;
    },
    presenceAt: () => "nothing",
    isWatchedAt: () => true,
    isHeld: () => over === 0,
    transactionsOver: () => over,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  const names = Array.from({ length: 100 }, (_, index) => `${index}`);
  for (const [index, name] of names.entries()) {
    external.add({ kind: "created", isFolder: true, path: Buffer.from(name) });
    external.leave(`left${name}`, undefined, 1);
    runAtOnce(external.reconcile(index + 1));
  }
  expect([found, reads]).toEqual([[], 0]);
  over++;
  runAtOnce(external.reconcile(101));
  expect(found).toEqual(names.map((name) => `created ${name}`));
  expect(reads).toBe(100);
});

/** A tree with these entries, each with an inode of its own, and the changes found in it. */
class Fixture {
  readonly found: string[] = [];
  readonly external: ExternalChanges;

  constructor(entries: readonly string[]) {
    const inodes = new Map(entries.map((entry, index) => [entry, `${index}`]));
    this.external = new ExternalChanges({
      ...atRest,
      stampsAt: (place) => {
        const inode = inodes.get(place);
        const stamps = { kind: "file", inode, state: "" } as unknown;
        return inode === undefined ? "missing" : (stamps as ReturnType<ExternalChangesOptions["stampsAt"]>);
      },
      presenceAt: () => "nothing",
      isWatchedAt: () => true,
      isHeld: () => false,
      transactionsOver: () => 0,
      onFound: ({ kind, path, from }) =>
        this.found.push(from === undefined ? `${kind} ${path}` : `${kind} ${from} ${path}`),
    });
  }

  add(...events: (Omit<TreeChange, "path" | "isFolder" | "from"> & { path: string; from?: string })[]): void {
    for (const { path, from, ...event } of events)
      this.external.add({
        ...event,
        isFolder: false,
        path: Buffer.from(path),
        ...(from !== undefined && { from: Buffer.from(from) }),
      });
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);

test("very many names are compared in steps, and a move whose ends are far apart in one", () => {
  const names = numbered(1000);
  const fixture = new Fixture(names.slice(1));
  fixture.add(...names.map((path) => ({ kind: "created", path }) as const));
  fixture.add({ kind: "moved", from: "f0", path: "f999" });
  const steps = fixture.external.reconcile(1);
  const counts: number[] = [];
  while (!steps.next().done) counts.push(fixture.found.length);
  expect(counts.length).toBeGreaterThan(5);
  expect(Math.max(...counts.map((count, index) => count - (counts[index - 1] ?? 0)))).toBeLessThan(200);
  const unmoved = names.slice(1, -1).map((path) => `created ${path}`);
  expect([...fixture.found].sort()).toEqual(["created f999", ...unmoved].sort());
});

test("a move of a known file is one change, however many names were noted in between", () => {
  const names = numbered(1000);
  const fixture = new Fixture(names.slice(1));
  const [first, ...rest] = names;
  fixture.add({ kind: "modified", path: first! });
  fixture.add(...rest.map((path) => ({ kind: "created", path }) as const));
  fixture.add({ kind: "moved", from: first!, path: "f999" });
  runAtOnce(fixture.external.reconcile(1));
  expect(fixture.found).toContain("moved f0 f999");
  expect(fixture.found).toContain("modified f999");
  expect(fixture.found).toHaveLength(1000);
});

test("the names that a call is about to change are compared before all others", () => {
  const names = numbered(1000);
  const fixture = new Fixture(names);
  fixture.add(...names.map((path) => ({ kind: "created", path }) as const));
  fixture.external.reconcileAt(["f900"]);
  expect(fixture.found[0]).toBe("created f900");
  expect(fixture.found.length).toBeLessThan(200);
  runAtOnce(fixture.external.reconcile(1));
  expect(new Set(fixture.found)).toEqual(new Set(names.map((path) => `created ${path}`)));
  expect(fixture.found).toHaveLength(1000);
});

test("changes that are noted between two steps are found too", () => {
  const names = numbered(300);
  const fixture = new Fixture([...names, "later"]);
  fixture.add(...names.map((path) => ({ kind: "created", path }) as const));
  const steps = fixture.external.reconcile(1);
  steps.next();
  fixture.add({ kind: "created", path: "later" });
  runAtOnce(steps);
  expect(fixture.found).toEqual([...names, "later"].map((path) => `created ${path}`));
});

test("files that take the names of one another in a long chain are compared in steps", () => {
  const names = numbered(2000);
  const fixture = new Fixture(names.slice(0, -1));
  for (const [index, path] of names.slice(0, -1).entries())
    fixture.add({ kind: "moved", from: names[index + 1]!, path });
  let before = 0;
  let steps = 0;
  for (const _ of fixture.external.reconcile(1)) {
    expect(fixture.found.length - before).toBeLessThanOrEqual(512);
    before = fixture.found.length;
    steps++;
  }
  expect(steps).toBeGreaterThan(3);
  // All names but the last have an entry still, and are said to have changed.
  expect(fixture.found).toHaveLength(1999);
});

test("a step of reading events ends once moved folders have taken thousands of names along", () => {
  const names = numbered(1000).map((name) => `d0/${name}`);
  const fixture = new Fixture([]);
  fixture.add(...names.map((path) => ({ kind: "created", path }) as const));
  const ends = Array.from({ length: 6 }, (_, move) =>
    fixture.external.add({
      kind: "moved",
      isFolder: true,
      path: Buffer.from(`d${move + 1}`),
      from: Buffer.from(`d${move}`),
    }),
  );
  const none = undefined;
  expect(ends).toEqual([none, none, "long", none, none, "long"]);
});

test("a moved folder takes its noted names along, and too many of them are a gap", () => {
  const names = numbered(1000).map((name) => `in/${name}`);
  const fixture = new Fixture([...names.map((name) => name.replace("in", "out")), "other"]);
  fixture.add(...[...names, "other"].map((path) => ({ kind: "created", path }) as const));
  for (let moves = 0; moves < 31; moves++) {
    fixture.external.moveBelow("in", "out");
    fixture.external.moveBelow("out", "in");
  }
  fixture.external.moveBelow("in", "out");
  expect(fixture.external.isOverfull).toBe(false);
  runAtOnce(fixture.external.reconcile(1));
  expect(new Set(fixture.found)).toEqual(
    new Set(["created other", ...names.map((name) => `created ${name.replace("in", "out")}`)]),
  );
  fixture.add(
    ...Array.from({ length: 10_000 }, (_, index) => ({ kind: "created", path: `in/${index}` }) as const),
  );
  for (let moves = 0; moves < 4; moves++) {
    fixture.external.moveBelow("in", "out");
    fixture.external.moveBelow("out", "in");
  }
  expect(fixture.external.isOverfull).toBe(true);
  fixture.external.clear(1);
  expect(fixture.external.isOverfull).toBe(false);
});
