import { expect, test } from "bun:test";
import { runFuzz } from "./fuzz.ts";

test("5,000 random calls: each is answered as specified, and nothing outside the base is told or touched", async () => {
  const seed = 20_260_101;
  console.log(`fuzz seed ${seed}`);
  const { outcomes, faults } = await runFuzz({ payloads: 5000, seed });
  expect(faults).toEqual([]);
  // Guards against a run that tried too little.
  for (const outcome of ["ok", "C210", "C211", "C215", "C217"]) expect(outcomes[outcome]).toBeGreaterThan(10);
});
