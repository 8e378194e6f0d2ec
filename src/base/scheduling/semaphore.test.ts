import { expect, test } from "bun:test";
import { createSemaphore } from "./semaphore.ts";

const unhurried = { permits: 1, patience: 60_000 };

/** Waits until all pending promises have settled. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("so many hold a permit, and the next one waits until one is given back", async () => {
  const semaphore = createSemaphore({ permits: 2, patience: 60_000 });
  const [first] = [await semaphore.acquire({ key: "a" }), await semaphore.acquire({ key: "a" })];
  let has = false;
  const third = semaphore.acquire({ key: "a" }).then(() => {
    has = true;
  });
  await settle();
  expect(has).toBe(false);
  first![Symbol.dispose]();
  first![Symbol.dispose]();
  await third;
});

test("keys take turns, and those under one key go in their order", async () => {
  const semaphore = createSemaphore(unhurried);
  let permit = await semaphore.acquire({ key: "a" });
  const order: string[] = [];
  const waiting = ["a1", "a2", "a3", "b1", "c1", "b2"].map(async (name) => {
    const taken = await semaphore.acquire({ key: name[0] });
    order.push(name);
    permit = taken;
  });
  for (const _ of waiting) {
    permit![Symbol.dispose]();
    await settle();
  }
  await Promise.all(waiting);
  expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("who gives up waiting gets none, and takes nobody's", async () => {
  const semaphore = createSemaphore(unhurried);
  const held = await semaphore.acquire({ key: "a" });
  const stop = new AbortController();
  const [gone, next] = [
    semaphore.acquire({ key: "b", signal: stop.signal }),
    semaphore.acquire({ key: "c" }),
  ];
  stop.abort(new Error("gave up"));
  await expect(gone).rejects.toThrow("gave up");
  await expect(semaphore.acquire({ key: "d", signal: stop.signal })).rejects.toThrow("gave up");
  held[Symbol.dispose]();
  const last = await next;
  expect(semaphore.tryAcquire()).toBeUndefined();
  last[Symbol.dispose]();
  await expect(semaphore.acquire({ signal: stop.signal })).rejects.toThrow("gave up");
  expect(semaphore.isFree).toBe(true);
});

test("who has waited long goes beside those who do not come to an end, one at a time", async () => {
  const semaphore = createSemaphore({ permits: 1, patience: 1 });
  const order: string[] = [];
  const all = ["a", "b", "c"].map((key) => semaphore.acquire({ key }).then(() => order.push(key)));
  await Promise.all(all);
  expect(order).toEqual(["a", "b", "c"]);
});

test("without keys they go in the order they came, and nobody overtakes who was given a permit", async () => {
  const semaphore = createSemaphore({ permits: 1 });
  const held = semaphore.tryAcquire()!;
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    using _permit = await semaphore.acquire();
    order.push(number);
  });
  held[Symbol.dispose]();
  expect([semaphore.isFree, semaphore.tryAcquire()]).toEqual([false, undefined]);
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
  expect(semaphore.isFree).toBe(true);
});
