import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Refusal } from "../../base/errors.ts";
import type { Step } from "../disk/steps.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { DiskTree } from "../operations/disk-tree.ts";
import { type Verbs, verbsOn } from "../operations/verbs.test-kit.ts";
import { PlannedTree } from "../overlay/planned-tree.ts";
import { anyChange, makeChange, type RandomChange, treeFor } from "../overlay/random-changes.test-kit.ts";
import { TransactionsFixture } from "./transactions.test-kit.ts";

const changes = fc.array(anyChange, { minLength: 1, maxLength: 12 });

/** Makes the changes that are not refused. */
async function makeAll(
  files: Verbs,
  list: readonly RandomChange[],
  { call }: TransactionsFixture,
): Promise<void> {
  for (const change of list) {
    try {
      await makeChange(files, change, call);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
}

async function planAll(
  list: readonly RandomChange[],
  fixture: TransactionsFixture,
): Promise<readonly Step[]> {
  const { jail, config } = fixture.context;
  const pending = new PlannedTree({ jail, config }, { maxBytes: 1_000_000 });
  await makeAll(verbsOn(pending), list, fixture);
  return pending.steps;
}

describe.each(backends)("transactions over %s", (backend) => {
  test("leave what the same changes leave one by one", async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        using single = new TransactionsFixture(backend, treeFor(list));
        using together = new TransactionsFixture(backend, treeFor(list));
        const verbs = verbsOn(new DiskTree(single.context));
        await makeAll(verbs, list, single);
        await together.commit(await planAll(list, together));
        expect(together.snapshot()).toEqual(single.snapshot());
        expect(together.records()).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test("leave nothing when the process is killed between two steps", async () => {
    await fc.assert(
      fc.asyncProperty(changes, fc.nat(), async (list, after) => {
        using fixture = new TransactionsFixture(backend, treeFor(list));
        const before = fixture.snapshot();
        const steps = await planAll(list, fixture);
        if (steps.length === 0) return;
        await fixture.crashAfter(steps, after % (steps.length + 1));
        await fixture.recover();
        expect(fixture.snapshot()).toEqual(before);
        expect(fixture.records()).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
