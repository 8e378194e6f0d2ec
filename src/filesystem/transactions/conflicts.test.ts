import { expect, test } from "bun:test";
import type { TimeSlice } from "../../base/scheduling/time-slice.ts";
import { findConflicts, KnownModes } from "./conflicts.ts";
import type { IntendedStep } from "./record.ts";
import { traceSteps } from "./survey.ts";
import { TransactionsFixture } from "./transactions.test-kit.ts";

test("the steps of a transaction are compared with the tree one by one", async () => {
  using fixture = new TransactionsFixture("current-directory", {});
  const count = 1000;
  const steps = Array.from({ length: count }, (_, index): IntendedStep => {
    const staged = { kind: "file", dev: "1", ino: `${index}`, size: "0", mtime: "0", ctime: "1" } as const;
    return { kind: "place", path: `${index}`, temporary: `t${index}`, staged };
  });
  let pauses = 0;
  const slice: TimeSlice = {
    isDue: true,
    async yieldIfDue() {
      pauses++;
    },
  };
  const pausesOf = async <T>(act: () => Promise<T>) => {
    pauses = 0;
    return { value: await act(), pauses };
  };
  const { value: trace, pauses: tracing } = await pausesOf(() => traceSteps(steps, slice));
  const { value: modes, pauses: collecting } = await pausesOf(() => KnownModes.in(trace, slice));
  expect([tracing, collecting]).toEqual([count, count]);
  const found = await pausesOf(() => findConflicts(fixture.jailed, trace, { done: count, slice, modes }));
  expect(found.value).toEqual(steps.map((_, index) => `${index}`).toSorted());
  // They are traced, their entries and times are collected, and each place is read.
  expect(found.pauses).toBeGreaterThanOrEqual(4 * count);
});
