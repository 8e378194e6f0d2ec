import { afterEach, expect, spyOn, test } from "bun:test";
import { type Deadline, deadlineIn } from "./deadline.ts";
import { createTimeSlice } from "./time-slice.ts";
import { createWalkSlice, freeSlices, yieldIfDue } from "./walk-slice.ts";

/** A clock that advances by a slice each time it is read. */
let time = 0;
const clock = spyOn(performance, "now").mockImplementation(() => (time += 10));
afterEach(() => {
  time = 0;
});

const settle = async () => {
  for (let i = 0; i < 600; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Starts walks that have used up `slices` slices. */
function startWalks(count: number, slices: number, deadline: Deadline) {
  const walks = Array.from({ length: count }, (_, i) => createWalkSlice({ deadline, caller: `${i}` }));
  const gone = new Set<number>();
  for (const [index, slice] of walks.entries()) {
    void (async () => {
      for (let i = 0; i < slices; i++) await slice.yieldIfDue();
      gone.add(index);
    })();
  }
  return { walks, gone };
}

const unlimited = { signal: new AbortController().signal } as Deadline;

test("short walks wait for nobody", async () => {
  const { gone } = startWalks(20, freeSlices - 1, unlimited);
  await settle();
  expect(gone.size).toBe(20);
});

test("of large walks four go on at once, and the next when one of them is over", async () => {
  const { walks, gone } = startWalks(6, freeSlices, unlimited);
  await settle();
  expect([...gone]).toEqual([0, 1, 2, 3]);
  walks[3]![Symbol.dispose]();
  await settle();
  expect([...gone]).toEqual([0, 1, 2, 3, 4]);
  for (const walk of walks) walk[Symbol.dispose]();
  await settle();
  expect(gone.size).toBe(6);
  for (const walk of walks) walk[Symbol.dispose]();
});

test("a walk whose call has run out of time waits no longer", async () => {
  const { walks } = startWalks(4, freeSlices, unlimited);
  await settle();
  clock.mockRestore();
  const deadline = deadlineIn(1);
  const late = createWalkSlice({ deadline });
  await new Promise<void>((resolve) => deadline.signal.addEventListener("abort", () => resolve()));
  for (let i = 0; i < freeSlices; i++) {
    while (!late.isDue) await new Promise((resolve) => setImmediate(resolve));
    await late.yieldIfDue();
  }
  for (const walk of walks) walk[Symbol.dispose]();
});

test("a walk ends at its deadline when its slice is used up, and no sooner", async () => {
  const past = deadlineIn(0);
  await yieldIfDue({ slice: createTimeSlice(60_000), deadline: past });
  await expect(yieldIfDue({ slice: createTimeSlice(0), deadline: past })).rejects.toThrow("within 0 ms");
  await yieldIfDue({ slice: createTimeSlice(0), deadline: deadlineIn(Number.POSITIVE_INFINITY) });
});
