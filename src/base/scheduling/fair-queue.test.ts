import { expect, test } from "bun:test";
import { FairQueue } from "./fair-queue.ts";

const oldest = (queue: FairQueue<string>) => [...queue.oldest()].map(({ request }) => request);

test("the oldest of each key is shown in the order of the keys' turns", async () => {
  const queue = new FairQueue<string>();
  const waits = ["a1", "a2", "b1", "a3"].map((request) => queue.wait(request[0], request, undefined));
  expect([queue.size, ...oldest(queue)]).toEqual([4, "a1", "b1"]);
  const [first] = queue.oldest();
  queue.admit(first!);
  expect([queue.size, ...oldest(queue)]).toEqual([3, "b1", "a2"]);
  const [, second] = queue.oldest();
  queue.admit(second!);
  expect(oldest(queue)).toEqual(["b1", "a3"]);
  for (const waiter of [...queue.oldest()]) queue.admit(waiter);
  await Promise.all(waits);
  expect(queue.size).toBe(0);
});

test("who gives up leaves at once, and who was admitted cannot", async () => {
  const queue = new FairQueue<string>();
  const stop = new AbortController();
  const admitted = queue.wait("a", "a1", stop.signal);
  const gone = queue.wait("a", "a2", stop.signal);
  const [first] = queue.oldest();
  queue.admit(first!);
  stop.abort(new Error("gave up"));
  expect(queue.size).toBe(0);
  await admitted;
  await expect(gone).rejects.toThrow("gave up");
  await expect(queue.wait("a", "a3", stop.signal)).rejects.toThrow("gave up");
  expect([queue.size, ...oldest(queue)]).toEqual([0]);
});
