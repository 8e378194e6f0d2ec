import { expect, test } from "bun:test";
import { createFifoSemaphore } from "./semaphore.ts";

test("those who wait are served in the order they came", async () => {
  const turns = createFifoSemaphore(1);
  await turns.acquire();
  const served: number[] = [];
  const waiting = [1, 2, 3].map((number) => turns.acquire().then(() => served.push(number)));
  for (const _ of waiting) turns.release();
  await Promise.all(waiting);
  expect(served).toEqual([1, 2, 3]);
});

test("who gives up loses no turn and gets none", async () => {
  const turns = createFifoSemaphore(1);
  await turns.acquire();
  const controller = new AbortController();
  const impatient = turns.acquire(controller.signal);
  const patient = turns.acquire();
  controller.abort(new Error("gave up"));
  expect(impatient).rejects.toThrow("gave up");
  turns.release();
  await patient;
  expect(turns.acquire(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
  turns.release();
  await turns.acquire();
});
