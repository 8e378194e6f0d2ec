import { afterEach, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { ReportedChange } from "../../calls/contract/tree-changes.ts";
import { maxAddress } from "./resource-uris.ts";
import { maxSubscriptions, ResourceWatch } from "./resource-watch.ts";

let watch: ResourceWatch | undefined;

afterEach(() => watch?.close());

/**
 * A tree that reports the changes passed to `change`, and a client that reads notifications when `ready`
 * resolves.
 */
class Fixture {
  readonly got: string[] = [];
  readonly #reports = new Set<(change: ReportedChange) => void>();
  #seq = 0;
  ready: () => Promise<void> = () => Promise.resolve();
  /** The number of requests to watch the tree. */
  watched = 0;
  isGone = false;
  /** Resolves when the tree is watched. */
  watching = Promise.resolve();
  readonly watch: ResourceWatch;

  constructor(slice?: TimeSlice) {
    this.watch = new ResourceWatch(
      {
        begin: () => "0:0",
        open: (report) => {
          this.#reports.add(report);
          return () => void this.#reports.delete(report);
        },
        watch: async () => {
          this.watched++;
          await this.watching;
          if (this.isGone) throw new Error("the base is gone");
          return this.#seq;
        },
      },
      {
        ready: () => this.ready(),
        resourceUpdated: async (uri) => void this.got.push(uri),
        resourceListChanged: async () => void this.got.push("list"),
      },
      slice,
    );
    watch = this.watch;
  }

  get readers(): number {
    return this.#reports.size;
  }

  change(path: string, more: Partial<ReportedChange> = {}): void {
    const change = { seq: ++this.#seq, path, kind: "modified", isFolder: false, ...more } as const;
    for (const report of this.#reports) report(change);
  }

  async until(count: number): Promise<string[]> {
    while (this.got.length < count) await setImmediate();
    return this.got.splice(0);
  }
}

const uris = ["coder:///a", "coder:///d/b", "coder:///d%2Fb"];

test.each<[string, [string, Partial<ReportedChange>?][], string[]]>([
  ["a file", [["a"]], ["coder:///a"]],
  ["a file that has several addresses, as often as it changes", [["d/b"], ["d/b"]], uris.slice(1)],
  ["a file that is made", [["a", { kind: "created" }]], ["list", "coder:///a"]],
  ["one that another is moved from", [["x", { from: "a", kind: "moved" }]], ["list", "coder:///a"]],
  [
    "a folder above that is moved",
    [["e", { from: "d", kind: "moved", isFolder: true }]],
    ["list", ...uris.slice(1)],
  ],
  [
    "a folder above that is taken away",
    [["d", { kind: "deleted", isFolder: true }]],
    ["list", ...uris.slice(1)],
  ],
  ["what is not known", [[".", { isFolder: true, isGap: true }]], ["list", ...uris]],
])("notifies of %s", async (_, changes, expected) => {
  const fixture = new Fixture();
  fixture.watch.open();
  for (const uri of uris) await fixture.watch.subscribe(uri);
  fixture.change("d", { isFolder: true });
  fixture.change("dd");
  for (const change of changes) fixture.change(...change);
  expect(await fixture.until(expected.length)).toEqual(expected);
});

test("notifies of what comes after, and of nothing that it is unsubscribed from", async () => {
  const fixture = new Fixture();
  fixture.watch.open();
  expect(fixture.watched).toBe(0);
  const began = fixture.watch.subscribe("coder:///a");
  fixture.change("a");
  await began;
  await fixture.watch.subscribe("coder:///b");
  fixture.change("b");
  fixture.watch.unsubscribe("coder:///b");
  fixture.change("c", { kind: "created" });
  expect(await fixture.until(1)).toEqual(["list"]);
});

test("keeps no more for a client that takes nothing than each thing once", async () => {
  const fixture = new Fixture();
  fixture.watch.open();
  await fixture.watch.subscribe("coder:///a");
  const taken = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  fixture.ready = () => {
    waits.resolve();
    return taken.promise;
  };
  for (let count = 0; count < 1000; count++) fixture.change("a", { kind: "created" });
  await waits.promise;
  for (let count = 0; count < 1000; count++) fixture.change("a", { kind: "created" });
  expect(fixture.got).toEqual([]);
  taken.resolve();
  expect(await fixture.until(2)).toEqual(["list", "coder:///a"]);
});

test("bounds the subscriptions, also by the length of their addresses", async () => {
  const { watch } = new Fixture();
  const long = `coder:///${"x".repeat(maxSubscriptions.characters / 2)}`;
  await watch.subscribe(`${long}1`);
  expect(watch.subscribe(`${long}2`)).rejects.toThrow("at most 1000 subscriptions");
  watch.unsubscribe(`${long}1`);
  await watch.subscribe(`${long}2`);
});

test("watches a path whatever empty names its address has, and refuses an address that is too long", async () => {
  const fixture = new Fixture();
  const same = ["coder:///./a//b/.", "coder:///a/././b/", "coder:///.//a/b"];
  for (const uri of same) await fixture.watch.subscribe(uri);
  fixture.change("a/b");
  expect(await fixture.until(same.length)).toEqual(same);
  for (const path of ["", ".", "./", "/a", "a/..", "../a", "a/../b"])
    expect(fixture.watch.subscribe(`coder:///${path}`)).rejects.toThrow("cannot be subscribed to");
  const long = `coder:///${"x".repeat(maxAddress)}`;
  expect(fixture.watch.subscribe(long)).rejects.toThrow(`of a file has at most ${maxAddress}`);
});

test("a subscription that cannot begin takes no room, and the end leaves no reader behind", async () => {
  const fixture = new Fixture();
  fixture.isGone = true;
  const long = `coder:///${"x".repeat(maxSubscriptions.characters - 20)}`;
  expect(fixture.watch.subscribe(long)).rejects.toThrow("the base is gone");
  fixture.isGone = false;
  await setImmediate();
  await fixture.watch.subscribe(long);
  expect(fixture.readers).toBe(1);
  fixture.change("x", { kind: "created" });
  fixture.watch.close();
  expect(fixture.readers).toBe(0);
  fixture.watch.open();
  expect(fixture.readers).toBe(0);
});

test("notifies nothing after the end, also not what waited for the client", async () => {
  const fixture = new Fixture();
  fixture.watch.open();
  const taken = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  fixture.ready = () => {
    waits.resolve();
    return taken.promise;
  };
  fixture.change("a", { kind: "created" });
  await waits.promise;
  fixture.watch.close();
  taken.resolve();
  await setImmediate();
  expect(fixture.got).toEqual([]);
});

test("a subscription that is sent twice at once has begun when either is answered", async () => {
  const fixture = new Fixture();
  const watching = Promise.withResolvers<void>();
  fixture.watching = watching.promise;
  const first = fixture.watch.subscribe("coder:///a");
  let hasBegun = false;
  const second = fixture.watch.subscribe("coder:///a").then(() => {
    hasBegun = true;
  });
  await setImmediate();
  expect(hasBegun).toBe(false);
  watching.resolve();
  await Promise.all([first, second]);
  fixture.change("a");
  expect(await fixture.until(1)).toEqual(["coder:///a"]);
});

test("notifies of what is in a folder that is moved, and of nothing whose name only begins as that does", async () => {
  const fixture = new Fixture();
  const uriOf = (path: string) => `coder:///${path}`;
  const beside = ["d", "d-", "d-/a", "d.", "d0", "d0/a", "D/a", "c/d/a", "\u{1f600}/a"];
  const below = ["d/b", "d/-", "d/e/f", "d/\u{1f600}", "d/\uffff"];
  for (const path of [...beside, ...below]) await fixture.watch.subscribe(uriOf(path));
  const moved = { kind: "moved", isFolder: true } as const;
  fixture.change("x", { ...moved, from: "d" });
  expect(new Set(await fixture.until(6))).toEqual(new Set(["d", ...below].map(uriOf)));
  fixture.watch.unsubscribe(uriOf("d/b"));
  await fixture.watch.subscribe(uriOf("x/y"));
  fixture.change("x", { ...moved, from: "d/e" });
  expect(new Set(await fixture.until(2))).toEqual(new Set(["d/e/f", "x/y"].map(uriOf)));
  expect(fixture.got).toEqual([]);
});

test("between two notifications that take long to send, of any session, others run", async () => {
  const slice = createTimeSlice();
  const fixtures = [new Fixture(slice), new Fixture(slice)];
  const sent: string[] = [];
  for (const fixture of fixtures) {
    for (const uri of uris) await fixture.watch.subscribe(uri);
    fixture.ready = async () => {
      const end = performance.now() + 3;
      while (performance.now() < end);
      sent.push("sent");
    };
  }
  for (const fixture of fixtures) for (const path of ["a", "d/b"]) fixture.change(path);
  const seen = new Set<number>();
  while (sent.length < fixtures.length * uris.length) {
    await setImmediate();
    seen.add(sent.length);
  }
  for (const count of [1, 2, 3, 4, 5]) expect(seen).toContain(count);
  for (const fixture of fixtures) fixture.watch.close();
});
