import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { Refusal } from "../../base/errors.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { verbsOn } from "../operations/verbs.test-kit.ts";
import { PlannedFixture } from "./planned.test-kit.ts";
import { anyChange, makeChange, treeFor } from "./random-changes.test-kit.ts";

async function outcomeOf(act: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await act() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { reason: error.reason, message: error.message, details: error.details };
  }
}

describe.each(backends)("a planned tree over %s", (backend) => {
  test("is what the same changes leave when they are made one by one, with the same refusals", async () => {
    const changes = fc.array(anyChange, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        using single = new PlannedFixture(backend, treeFor(list));
        using together = new PlannedFixture(backend, treeFor(list));
        const before = together.snapshot();
        const pending = together.pending();
        for (const [index, change] of list.entries()) {
          const one = await outcomeOf(() => makeChange(single.files, change, single.call));
          const all = await outcomeOf(() => makeChange(verbsOn(pending), change, together.call));
          expect([index, change.op, all]).toEqual([index, change.op, one]);
        }
        expect(together.snapshot()).toEqual(before);
        together.carryOut(pending);
        expect(together.snapshot()).toEqual(single.snapshot());
      }),
      propertyRuns(30),
    );
  });
});
