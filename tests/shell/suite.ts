import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logFaults } from "../harness/clean-run.ts";
import type { Subject } from "../harness/subject.ts";
import type { Case } from "./case.ts";
import { type Served, serveShell } from "./served.ts";

/** Runs cases: one worker for all cases of one configuration, while those that are slow wait on workers of their own. */
export function runCases(subject: Subject, cases: readonly Case[]): void {
  const slow = cases.filter(({ isSlow }) => isSlow);
  const begun = new Map<Case, Promise<PromiseSettledResult<void>[]>>();
  beforeAll(() => {
    for (const one of slow) begun.set(one, Promise.allSettled([runAlone(subject, one)]));
  });
  for (const group of groupsOf(cases.filter(({ isSlow }) => !isSlow))) {
    const { config, around } = group[0]!;
    describe(JSON.stringify({ ...config, ...around }), () => {
      let served: Served;
      beforeAll(async () => {
        served = await serveShell(subject, config, around);
      });
      afterAll(async () => {
        if (served !== undefined) await stopCleanly(served);
      });
      for (const { number, name, run } of group) test(`${number}: ${name}`, () => run(served));
    });
  }
  for (const one of slow) {
    const judge = async () =>
      expect(await begun.get(one)).toEqual([{ status: "fulfilled", value: undefined }]);
    test(`${one.number}: ${one.name}`, judge);
  }
}

async function runAlone(subject: Subject, { config, around, run }: Case): Promise<void> {
  const served = await serveShell(subject, config, around);
  await run(served).finally(() => stopCleanly(served));
}

async function stopCleanly(served: Served): Promise<void> {
  expect(await served.stop()).toBe(0);
  expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
}

function groupsOf(cases: readonly Case[]): Case[][] {
  const groups = new Map<string, Case[]>();
  for (const one of cases) {
    const key = JSON.stringify([one.config, one.around]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}
