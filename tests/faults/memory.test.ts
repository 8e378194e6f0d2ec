/**
 * Callers that request more than they read, or more than fits into memory at once. Every call ends in an
 * answer or an error, the memory of the worker stays within a bound, and a small read gets through.
 */
import { describe, expect, test } from "bun:test";
import { type Load, transports } from "./memory.ts";

/** Without a budget, 60 such reads took 750 MB or more, so these would exceed the maximum. */
const reads = 50;
const maxMebibytes = 560;

const loads: Readonly<Record<string, Load>> = {
  "answers are read": { reads, isRead: true },
  "answers are not read": { reads, isRead: false, callMilliseconds: 2000 },
};

describe.each(Object.entries(transports))("%s", (_, transport) => {
  test.each(Object.entries(loads))("%s", async (_, load) => {
    const report = await transport(load);
    expect(report.answered + report.refused).toBe(reads);
    expect(report.answered).toBeGreaterThan(0);
    expect(report.endedBeforeSmall).toBeLessThan(reads);
    expect(report.peakMebibytes).toBeLessThan(maxMebibytes);
  });
});
