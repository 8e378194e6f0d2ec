import { expect, test } from "bun:test";
import { type LeakOptions, type LeakReport, leakFaults, runLeaks } from "./leaks.ts";

const testMilliseconds = 400_000;

test.each([true, false])(
  "3,000 mixed calls, with threads %p: descriptors and memory do not grow",
  async (withThreads) => {
    const options: LeakOptions = { calls: 3000, seed: 20_260_101, withThreads };
    expect(leakFaults(await runLeaks(options), options)).toEqual([]);
  },
  testMilliseconds,
);

test("what grows without end is told from what goes up and down", () => {
  const options: LeakOptions = { calls: 100_000, seed: 1, withThreads: true };
  const report = (mebibytes: number[]): LeakReport => ({
    calls: 100_000,
    descriptors: [],
    held: [],
    mebibytes,
  });
  const swinging = report([141, 138, 153, 134, 157, 139, 142, 147, 133, 155]);
  const growing = report([141, 144, 149, 152, 157, 160, 165, 169, 172, 177]);
  expect(leakFaults(swinging, options)).toEqual([]);
  expect(leakFaults(growing, options)).toHaveLength(1);
});
