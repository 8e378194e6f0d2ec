import { expect, test } from "bun:test";
import { runCrashes } from "./crash.ts";

test("15 kills in the middle of writes, moves and copies: each is whole or not begun, and no temporary file is seen or stays", async () => {
  const report = await runCrashes({ kills: 15, seed: 20_260_101 });
  expect(report.faults).toEqual([]);
  // Guards against a run that tried nothing.
  expect(report.writes).toBeGreaterThan(15);
  expect(report.moves.reduce((sum, calls) => sum + calls, 0)).toBeGreaterThan(15);
  expect(report.leftTemporaries).toBeGreaterThan(2);
});
