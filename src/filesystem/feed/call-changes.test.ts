import { expect, test } from "bun:test";
import type { Mutation, MutationOutcome } from "../disk/mutation.ts";
import { CallChanges } from "./call-changes.ts";

const names = Array.from({ length: 100 }, (_, index) => `f${index}`);

/** Makes a transaction with a step for each name, up to the end of its last step. */
function makeSteps(onStep: (step: Mutation) => void = () => {}) {
  const found: string[] = [];
  const left: string[] = [];
  const work = () => {
    const ends = performance.now() + 1;
    while (performance.now() < ends);
  };
  const calls = new CallChanges({
    onFound: ({ kind, path }) => {
      found.push(`${kind} ${path}`);
      work();
    },
    writtenBy: () => undefined,
    onLeft: (path, stamps) => {
      left.push(`${path} ${stamps}`);
      work();
    },
    onFolderMoved: () => {},
    onFolderRemoved: () => {},
    stampsAt: () => "missing",
  });
  const revisions = { revisionBefore: () => undefined, revisionAfter: () => undefined };
  const whole: Mutation = {
    ...{ kind: "transaction", path: "", entry: "dir", isTree: true, requester: undefined },
    ...revisions,
  };
  calls.before(whole);
  for (const path of names) {
    const step: Mutation = {
      ...{ kind: "create", path, entry: "other", isTree: false, requester: undefined, whole },
      ...revisions,
    };
    onStep(step);
    calls.before(step);
    calls.after(step, "done");
  }
  left.length = 0;
  return { calls, whole, found, left };
}

/** Ends the transaction. Returns how often the event loop ran in the meantime. */
async function end({ calls, whole }: ReturnType<typeof makeSteps>, outcome: MutationOutcome) {
  let turns = 0;
  const count = () => {
    turns++;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  const ended = calls.atEnd(whole, outcome);
  let isReported = false;
  const reported = calls.reported().then(() => {
    isReported = true;
  });
  await Promise.resolve();
  expect([calls.holds("f0"), isReported]).toEqual([true, false]);
  await ended;
  clearImmediate(turn);
  expect(calls.holds("f0")).toBe(true);
  calls.after(whole, outcome);
  await reported;
  expect([calls.holds("f0"), calls.transactionsOver]).toEqual([false, 1]);
  return turns;
}

test("a transaction is reported in slices at its end, and holds its paths as long", async () => {
  const made = makeSteps();
  expect(made.found).toEqual([]);
  expect(await end(made, "done")).toBeGreaterThan(10);
  expect(made.found).toEqual(names.map((name) => `created ${name}`));
});

test("what a failed transaction has put back is read in slices, and none of its steps is reported", async () => {
  const made = makeSteps();
  expect(await end(made, "failed")).toBeGreaterThan(10);
  expect([made.found, made.left]).toEqual([[], names.map((name) => `${name} missing`)]);
});

test("the mutations of a transaction are not kept until its end", () => {
  const steps: WeakRef<Mutation>[] = [];
  const made = makeSteps((step) => steps.push(new WeakRef(step)));
  Bun.gc(true);
  // The stack may still refer to the last ones.
  expect(steps.filter((step) => step.deref() !== undefined).length).toBeLessThan(10);
  expect(made.calls.isBusy).toBe(true);
});

test("nothing is awaited without a transaction", async () => {
  await makeSteps().calls.reported();
});
