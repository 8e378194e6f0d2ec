import { expect, jest, test } from "bun:test";
import { appendFileSync, closeSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { SharedTree, type TreeSubscription } from "./shared-tree.ts";
import type { TreeChange, TreeListener, WatchedTree } from "./watched-tree.ts";

class SharedFixture extends JailFixture {
  readonly incomplete: string[] = [];
  readonly shared = new SharedTree({
    openBase: () => this.jail("openat").admitFolder("."),
    onIncomplete: (reason) => this.incomplete.push(reason),
  });

  subscribe(listener: TreeListener): TreeSubscription {
    const subscription = this.shared.subscribe(listener);
    if (typeof subscription === "string") throw new Error(`no tree: ${subscription}`);
    return subscription;
  }

  override [Symbol.dispose](): void {
    this.shared.close();
    super[Symbol.dispose]();
  }
}

/** Returns a listener method, and a promise of the first argument that it is called with. */
function firstCall<T>(): { readonly method: (value: T) => void; readonly value: Promise<T> } {
  let method: ((value: T) => void) | undefined;
  const value = new Promise<T>((resolve) => {
    method = resolve;
  });
  return { method: (given) => method?.(given), value };
}

test("all listeners share one tree, which is built and drained without a call", async () => {
  using fixture = new SharedFixture({ f: "text" });
  const [built, one, other] = [firstCall<void>(), firstCall<number>(), firstCall<number>()];
  const first = fixture.subscribe({ onAllDirty: () => built.method(), onDirty: one.method });
  const second = fixture.subscribe({ onDirty: other.method });
  expect(second.tree).toBe(first.tree);
  await built.value;
  expect(first.tree.state).toEqual({ isComplete: true });
  appendFileSync(fixture.at("f"), "more");
  expect(await one.value).toBe(await other.value);
});

test("changes are reported to those that want them, from when they listen on until they end", async () => {
  using fixture = new SharedFixture({ f: "" });
  const built = firstCall<void>();
  const { drain } = fixture.subscribe({ onAllDirty: () => built.method() });
  await built.value;
  const changes: TreeChange[] = [];
  const listening = fixture.subscribe({ onChange: (change) => changes.push(change) });
  renameSync(fixture.at("f"), fixture.at("g"));
  expect(await drain()).toEqual({ isComplete: true });
  listening.end();
  renameSync(fixture.at("g"), fixture.at("h"));
  await drain();
  expect(changes.map(({ kind, path, from }) => [kind, String(from), String(path)])).toEqual([
    ["moved", "f", "g"],
  ]);
});

test("a tree that has become incomplete is built again, and says why", async () => {
  using fixture = new SharedFixture({ a: "", b: "" });
  // It is built, overflows, and is built again.
  const calls = [firstCall<void>(), firstCall<void>(), firstCall<void>()];
  let reported = 0;
  const { drain, tree } = fixture.subscribe({ onAllDirty: () => calls[reported++]!.method() });
  await calls[0]!.value;
  const files = ["a", "b"].map((name) => openSync(fixture.at(name), "r+"));
  const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  for (let i = 0; i <= limit; i++) for (const file of files) writeSync(file, "x", 0);
  for (const file of files) closeSync(file);
  expect(await drain()).toEqual({ isComplete: false, reason: "overflow" });
  await calls[2]!.value;
  expect(tree.state).toEqual({ isComplete: true });
  expect(fixture.incomplete).toEqual(["overflow"]);
});

test("the last listener that ends closes the tree, and the next one opens another", () => {
  using fixture = new SharedFixture({});
  const [one, other] = [fixture.subscribe({}), fixture.subscribe({})];
  one.end();
  other.end();
  expect(other.tree.state.isComplete).toBe(false);
  expect(fixture.subscribe({}).tree).not.toBe(other.tree);
  fixture.shared.close();
  expect(fixture.shared.subscribe({})).toBe("unsupported");
});

test("where no tree can be watched, a listener gets to know why", () => {
  using fixture = new JailFixture({});
  const shared = new SharedTree({
    openBase: () => fixture.jail("openat").admitFolder("."),
    open: () => "filesystem",
  });
  expect(shared.subscribe({})).toBe("filesystem");
});

test("a base whose tree cannot be opened is closed", () => {
  using fixture = new JailFixture({});
  let closed = 0;
  const shared = new SharedTree({
    openBase() {
      const base = fixture.jail("openat").admitFolder(".");
      const close = base.close.bind(base);
      const closeCounted = () => {
        closed++;
        close();
      };
      return Object.assign(base, { close: closeCounted });
    },
    open() {
      throw new Error("no descriptors");
    },
  });
  expect(() => shared.subscribe({})).toThrow("no descriptors");
  expect(closed).toBe(1);
});

/** Counts the drains of the tree in the next ten seconds of fake time. */
async function drainsIn(drains: () => number): Promise<number> {
  const before = drains();
  for (let step = 0; step < 100; step++) {
    jest.advanceTimersByTime(100);
    // Everything that a drain waits for has settled after this.
    await new Promise((resolve) => process.nextTick(() => setImmediate(resolve)));
  }
  return drains() - before;
}

test("at rest a tree is drained once in a second, until there is a request, an event, or who wants each change", async () => {
  using fixture = new JailFixture({});
  jest.useFakeTimers();
  let drains = 0;
  let [listener, isChanged]: [TreeListener, boolean] = [{}, false];
  const drain = async () => {
    drains++;
    if (isChanged) listener.onDirty?.(1);
    isChanged = false;
    return { isComplete: true } as const;
  };
  const shared = new SharedTree({
    openBase: () => fixture.jail("openat").admitFolder("."),
    open: (_, own) => {
      listener = own;
      return { state: { isComplete: true }, drain, close() {} } as unknown as WatchedTree;
    },
  });
  const subscription = shared.subscribe({}) as TreeSubscription;
  const next = () => drainsIn(() => drains);
  const wakeups = [
    () => {},
    () => subscription.drain(),
    () => {
      isChanged = true;
    },
  ];
  for (const wakeUp of wakeups) {
    await wakeUp();
    await next();
    expect(await next()).toBeGreaterThan(90);
    await next();
    await next();
    expect(await next()).toBeLessThan(12);
  }
  shared.subscribe({ onChange() {} });
  await next();
  expect(await next()).toBeGreaterThan(90);
  shared.close();
  jest.useRealTimers();
});
