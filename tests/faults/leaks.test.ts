import { expect, test } from "bun:test";
import { type LeakOptions, leakFaults, runLeaks } from "./leaks.ts";

test.each([true, false])(
  "5,000 mixed calls, with threads %p: descriptors and memory do not grow",
  async (withThreads) => {
    const options: LeakOptions = { calls: 5000, seed: 20_260_101, withThreads };
    expect(leakFaults(await runLeaks(options), options)).toEqual([]);
  },
  60_000,
);
