import { expect, test } from "bun:test";
import { createSemaphore } from "./semaphore.ts";

const never = new AbortController().signal;
const unhurried = { permits: 1, patience: 60_000 };

/** Lets all promises go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("so many hold a permit, and the next one waits until one is given back", async () => {
  const semaphore = createSemaphore({ permits: 2, patience: 60_000 });
  const [first] = [await semaphore.acquire("a", never), await semaphore.acquire("a", never)];
  let has = false;
  const third = semaphore.acquire("a", never).then(() => {
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
  let permit = await semaphore.acquire("a", never);
  const order: string[] = [];
  const waiting = ["a1", "a2", "a3", "b1", "c1", "b2"].map(async (name) => {
    const taken = await semaphore.acquire(name[0], never);
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
  const held = await semaphore.acquire("a", never);
  const stop = new AbortController();
  const [gone, next] = [semaphore.acquire("b", stop.signal), semaphore.acquire("c", never)];
  stop.abort();
  expect(await gone).toBeUndefined();
  expect(await semaphore.acquire("d", stop.signal)).toBeUndefined();
  held![Symbol.dispose]();
  expect(await next).toBeDefined();
});

test("who has waited long goes beside those who do not come to an end, one at a time", async () => {
  const semaphore = createSemaphore({ permits: 1, patience: 1 });
  const order: string[] = [];
  const all = ["a", "b", "c"].map((key) => semaphore.acquire(key, never).then(() => order.push(key)));
  await Promise.all(all);
  expect(order).toEqual(["a", "b", "c"]);
});
