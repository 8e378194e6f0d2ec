import { expect, test } from "bun:test";
import { LineSteps } from "./line-steps.ts";

/** Returns the number of steps that reading the lines takes. */
function stepsFor(lines: number, bytes: number): number {
  const steps = new LineSteps();
  let count = 0;
  for (let line = 0; line < lines; line++) if (steps.isDueAfter(bytes)) count++;
  return count;
}

test("steps end after some lines, and after some bytes of long lines", () => {
  expect(stepsFor(100, 80)).toBe(0);
  expect(stepsFor(1_000_000, 0)).toBeGreaterThan(50);
  expect(stepsFor(1000, 100_000)).toBeGreaterThan(50);
});
