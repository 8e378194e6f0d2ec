import { expect } from "bun:test";
import { codesOf, type DriverFixture, outcomeFaults } from "./driver-fixture.ts";

/** Makes a call whose outcome must be well-formed. Returns its codes and its answer. */
export async function callDriver(driven: DriverFixture, functionId: string, payload: unknown) {
  const outcome = await driven.call(functionId, payload);
  expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  return { codes: codesOf(outcome), answer: outcome.answer as Record<string, unknown> };
}
