import { expect, test } from "bun:test";
import { torture } from "./torture.test-kit.ts";

test("600 random changes by another program: the tree is as the disk, and what was read of files holds until they are dirty", async () => {
  const report = await torture({ operations: 600, seed: 20_261_123 });
  expect(report.faults).toEqual([]);
  // Otherwise nothing was tried. The speed of the other program decides how much is trusted.
  expect(report.operations).toBeGreaterThanOrEqual(600);
  expect(report.checks).toBeGreaterThan(200);
  expect(report.trusted).toBeGreaterThan(1000);
});
