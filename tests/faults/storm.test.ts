import { expect, test } from "bun:test";
import { runStorm } from "./storm.ts";

test("searches answer right while another program makes, writes, moves and removes 2,000 files", async () => {
  const { faults, matches, reads } = await runStorm("executable", { files: 2000, rounds: 1 }, 5);
  expect(faults).toEqual([]);
  // Guards against a run that tried nothing.
  expect(matches).toBeGreaterThan(0);
  expect(reads).toBeGreaterThan(0);
});
