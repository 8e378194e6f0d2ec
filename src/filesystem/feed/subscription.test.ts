import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { FeedChange } from "./change.ts";
import { gap } from "./change.ts";
import { ChangeRing } from "./change-ring.ts";
import { type Delivery, Subscription } from "./subscription.ts";

/** A reader that gives the scripted answers, and after them reports every change as delivered. */
class Reader {
  readonly ring = new ChangeRing({ changes: 4, characters: 1000 });
  readonly got: string[] = [];
  readonly kinds: string[] = [];
  readonly #answers: Delivery[];
  /** The delivery to use instead of an answer. */
  deliver: (() => Promise<Delivery>) | undefined;

  constructor(...answers: Delivery[]) {
    this.#answers = answers;
  }

  subscribe(from = 0, hasGap = false): Subscription {
    const { ring } = this;
    return new Subscription({
      feed: {
        newest: async () => ring.newest,
        follows: (seq) => ring.follows(seq),
        at: (seq) => ring.at(seq),
      },
      ...{ from, hasGap, every: 1 },
      selects: ({ path }) => path !== "other",
      deliver: async ({ path, isGap, kind }: FeedChange) => {
        this.kinds.push(`${path} ${kind}`);
        const answer = this.#answers.shift() ?? "delivered";
        this.got.push(`${isGap ? "gap" : path} ${answer}`);
        return this.deliver?.() ?? answer;
      },
    });
  }

  change(path: string, kind: FeedChange["kind"]): void {
    this.ring.add({ ...gap, isGap: false, isFolder: false, path, kind });
  }

  add(...paths: string[]): void {
    for (const path of paths) this.ring.add({ ...gap, isGap: false, isFolder: false, path });
  }

  async until(line: string): Promise<string[]> {
    while (!this.got.includes(line)) await setImmediate();
    return this.got;
  }
}

test("changes that are selected are delivered in order, and the end says where it was", async () => {
  const reader = new Reader();
  const subscription = reader.subscribe();
  reader.add("a", "other", "b");
  expect(await reader.until("b delivered")).toEqual(["a delivered", "b delivered"]);
  expect(subscription.end()).toBe(3);
  reader.add("c");
  const again = reader.subscribe(3);
  await reader.until("c delivered");
  again.end();
  expect(reader.got).toHaveLength(3);
});

test("what a reader did not get is delivered again, and what it may have got is not, but said", async () => {
  const reader = new Reader("delivered", "absent", "delivered", "unknown");
  const subscription = reader.subscribe();
  reader.add("a", "b", "c", "d");
  expect(await reader.until("d delivered")).toEqual([
    "a delivered",
    "b absent",
    "b delivered",
    "c unknown",
    "gap delivered",
    "d delivered",
  ]);
  expect(subscription.end()).toBe(4);
});

test("a reader that falls behind what is kept gets a gap, and then what comes", async () => {
  const reader = new Reader();
  reader.add("a", "b", "c", "d", "e", "f");
  const subscription = reader.subscribe();
  await reader.until("gap delivered");
  reader.add("g");
  expect(await reader.until("g delivered")).toEqual(["gap delivered", "g delivered"]);
  subscription.end();
  const unknown = new Reader("unknown");
  const lost = unknown.subscribe(0, true);
  await unknown.until("gap unknown");
  expect(lost.end()).toBeUndefined();
});

test("who ends while a change is being delivered gets no place to go on from: the reader may have got it", async () => {
  const reader = new Reader();
  const delivery = Promise.withResolvers<Delivery>();
  reader.deliver = () => delivery.promise;
  const subscription = reader.subscribe();
  reader.add("a");
  await reader.until("a delivered");
  expect(subscription.end()).toBeUndefined();
  delivery.resolve("delivered");
});

test("a change that cannot be described now is delivered later", async () => {
  const reader = new Reader();
  reader.deliver = () => {
    reader.deliver = undefined;
    throw new Error("EMFILE");
  };
  const subscription = reader.subscribe();
  reader.add("a");
  while (reader.got.length < 2) await setImmediate();
  expect(subscription.end()).toBe(1);
});

test("a file that was created is not lost to a reader that was not there between that and its modification", async () => {
  const reader = new Reader("delivered", "absent");
  reader.change("a", "created");
  reader.change("b", "modified");
  for (let count = 0; count < 2; count++) reader.change("a", "modified");
  const subscription = reader.subscribe();
  while (reader.got.length < 4) await setImmediate();
  subscription.end();
  const delivered = reader.kinds.filter((_, index) => reader.got[index]?.endsWith("delivered"));
  expect(delivered).toEqual(["a created", "b modified", "a modified"]);
});

test("a reader that waits for what is due is asked for nothing before", async () => {
  const ring = new ChangeRing({ changes: 4, characters: 1000 });
  const got: number[] = [];
  let looks = 0;
  const waits: (() => void)[] = [];
  const subscription = new Subscription({
    feed: {
      newest: async () => {
        looks++;
        return ring.newest;
      },
      follows: (seq) => ring.follows(seq),
      at: (seq) => ring.at(seq),
    },
    ...{ from: 0, hasGap: false, every: 1, selects: () => true },
    due: (after) => (ring.newest > after ? Promise.resolve() : new Promise((resolve) => waits.push(resolve))),
    deliver: async ({ seq }) => {
      got.push(seq);
      return "delivered";
    },
  });
  while (waits.length === 0) await setImmediate();
  expect(looks).toBe(0);
  ring.add({ ...gap, isGap: false, isFolder: false, path: "a" });
  waits[0]?.();
  while (waits.length === 1) await setImmediate();
  expect([looks, got]).toEqual([1, [1]]);
  expect(subscription.end()).toBe(1);
});

test("changes do not wait for the answer to one that was sent again, except a second such", async () => {
  const reader = new Reader();
  const answers: ((outcome: "delivered" | "unknown") => void)[] = [];
  reader.deliver = async () => {
    if (!/^[ad] /.test(reader.got.at(-1)!)) return "delivered";
    const { promise, resolve } = Promise.withResolvers<"delivered" | "unknown">();
    answers.push(resolve);
    return { outcome: promise };
  };
  const subscription = reader.subscribe();
  reader.add("a", "b");
  await reader.until("b delivered");
  expect(subscription.end()).toBeUndefined();
  const again = reader.subscribe(2);
  reader.add("c");
  await reader.until("c delivered");
  answers[0]?.("delivered");
  reader.add("d");
  await reader.until("d delivered");
  answers[1]?.("unknown");
  await setImmediate();
  reader.add("e");
  await reader.until("e delivered");
  again.end();
  expect(reader.got.map((line) => line.split(" ")[0])).toEqual(["a", "b", "c", "d", "gap", "e"]);
});

test("between two changes whose delivery takes long, others run", async () => {
  const reader = new Reader();
  reader.deliver = async () => {
    const end = performance.now() + 3;
    while (performance.now() < end);
    return "delivered";
  };
  reader.add("a", "b", "c", "d");
  const subscription = reader.subscribe();
  const seen = new Set<number>();
  while (reader.got.length < 4) {
    await setImmediate();
    seen.add(reader.got.length);
  }
  subscription.end();
  for (const count of [1, 2, 3]) expect(seen).toContain(count);
});
