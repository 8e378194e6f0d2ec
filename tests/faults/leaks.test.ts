import { expect, test } from "bun:test";
import { type LeakOptions, type LeakReport, leakFaults, runLeaks } from "./leaks.ts";

test.each([true, false])(
  "5,000 mixed calls, with threads %p: descriptors and memory do not grow",
  async (withThreads) => {
    const options: LeakOptions = { calls: 5000, seed: 20_260_101, withThreads };
    expect(leakFaults(await runLeaks(options), options)).toEqual([]);
  },
  60_000,
);

test("what grows without end is told from what goes up and down", () => {
  const options: LeakOptions = { calls: 100_000, seed: 1, withThreads: true };
  const report = (mebibytes: number[]): LeakReport => ({
    calls: 100_000,
    descriptors: [],
    held: [],
    mebibytes,
  });
  const swinging = report([135, 171, 127, 146, 175, 118, 172, 203, 208, 253]);
  const growing = report([100, 120, 140, 160, 180, 200, 220, 240, 260, 280]);
  expect(leakFaults(swinging, options)).toEqual([]);
  expect(leakFaults(growing, options)).toHaveLength(1);
});
