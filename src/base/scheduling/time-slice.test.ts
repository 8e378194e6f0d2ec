import { expect, spyOn, test } from "bun:test";
import {
  createBackgroundSlice,
  createTimeSlice,
  createTurnSlice,
  runAtOnce,
  runInSlices,
  type Steps,
  skipSlice,
} from "./time-slice.ts";

/** Returns a slice without time, which is used up at once. */
const noTime = () => createTimeSlice(0);

test("a slice that is not used up is gone on with at once", async () => {
  const slice = createTimeSlice(60_000);
  const order: string[] = [];
  setImmediate(() => order.push("turn"));
  for (let i = 0; i < 10; i++) await slice.yieldIfDue();
  expect(slice.isDue).toBe(false);
  expect(order).toEqual([]);
});

/** Stops the clock, so that a slice is due only when the test says so. */
function stoppedClock(): Disposable & { pass(milliseconds: number): void } {
  let now = performance.now();
  const spy = spyOn(performance, "now").mockImplementation(() => now);
  return {
    pass(milliseconds) {
      now += milliseconds;
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

test("all that begins in one turn shares a slice, and the next turn has another one", async () => {
  using clock = stoppedClock();
  const slice = createTurnSlice();
  const isDue = () => slice.isDue;
  expect(isDue()).toBe(false);
  clock.pass(100);
  expect(isDue()).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDue()).toBe(false);
});

test("work that has waited shares the slice of its turn with all that begins in it", async () => {
  using clock = stoppedClock();
  const slice = createTurnSlice();
  const due: boolean[] = [];
  const work = async () => {
    await slice.yieldIfDue();
    clock.pass(100);
    due.push(slice.isDue);
  };
  due.push(slice.isDue);
  clock.pass(100);
  await Promise.all([work(), work(), work()]);
  expect(due).toEqual([false, true, true, true]);
});

test("work in the background goes on after many turns of others", async () => {
  using clock = stoppedClock();
  const slice = createBackgroundSlice();
  const isDue = () => slice.isDue;
  clock.pass(100);
  expect(isDue()).toBe(true);
  const state = { turns: 0, isOver: false };
  const turn = () => {
    state.turns++;
    if (!state.isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await slice.yieldIfDue();
  state.isOver = true;
  expect(state.turns).toBeGreaterThan(10);
  expect(isDue()).toBe(false);
});

test("in one turn of the event loop one of all goes on, and each in its turn", async () => {
  const order: string[] = [];
  const work = async (name: string) => {
    const slice = noTime();
    for (let i = 0; i < 3; i++) {
      await slice.yieldIfDue();
      order.push(name);
    }
  };
  let isDone = false;
  const turns = () => {
    order.push("|");
    if (!isDone) setImmediate(turns);
  };
  setImmediate(turns);
  await Promise.all([work("a"), work("b"), work("c")]);
  isDone = true;
  expect(order.join("").replaceAll("|", "")).toBe("abcabcabc");
  expect(order.join("")).not.toMatch(/[abc]{2}/);
});

/** Runs work of many slices, and returns how many have run by each of the next turns of the event loop. */
async function slicesByTurn(turns: number, inEachTurn: () => void): Promise<number[]> {
  const [counts, slice]: [number[], ReturnType<typeof noTime>] = [[], noTime()];
  let slices = 0;
  const work = async () => {
    for (; counts.length < turns; slices++) await slice.yieldIfDue();
  };
  const working = work();
  const observing = new Promise<void>((resolve) => {
    const turn = () => {
      inEachTurn();
      if (counts.push(slices) === turns) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
  await Promise.all([working, observing]);
  return counts;
}

test("the turn that delivers a message runs no slice", async () => {
  let turn = 0;
  const counts = await slicesByTurn(6, () => {
    if (++turn === 2 || turn === 4) skipSlice();
  });
  const perTurn = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(perTurn.slice(1)).toEqual([1, 0, 1, 0, 1]);
});

test("messages in each turn stop no work", async () => {
  const counts = await slicesByTurn(52, skipSlice);
  expect(counts.at(-1)).toBeGreaterThanOrEqual(10);
  expect(counts.at(-1)).toBeLessThanOrEqual(11);
});

function* counting(to: number, ended: () => void): Steps<number> {
  try {
    for (let i = 0; i < to; i++) yield;
    return to;
  } finally {
    ended();
  }
}

test("steps are taken to their end, in slices or at once", async () => {
  let ended = 0;
  expect(
    await runInSlices(
      counting(5, () => ended++),
      noTime(),
    ),
  ).toBe(5);
  expect(runAtOnce(counting(5, () => ended++))).toBe(5);
  expect(ended).toBe(2);
});

test("a check that throws ends the work, and what it holds is freed", async () => {
  let ended = 0;
  let checks = 0;
  const check = () => {
    if (++checks === 3) throw new Error("the time is up");
  };
  await expect(
    runInSlices(
      counting(100, () => ended++),
      noTime(),
      check,
    ),
  ).rejects.toThrow("the time is up");
  expect([checks, ended]).toEqual([3, 1]);
});
