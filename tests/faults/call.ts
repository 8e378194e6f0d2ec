import { expect } from "bun:test";
import { codesOf, type DriverFixture, outcomeFaults } from "./driver-fixture.ts";

/** The codes of a call, which must be well-formed, and its answer. */
export async function callDriver(driven: DriverFixture, functionId: string, payload: unknown) {
  const outcome = await driven.call(functionId, payload);
  expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  return { codes: codesOf(outcome), answer: outcome.answer as Record<string, unknown> };
}
