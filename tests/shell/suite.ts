import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Subject } from "../harness/subject.ts";
import { logFaults } from "../harness/with-worker.ts";
import type { ShellCase } from "./case.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

/** Runs cases. One worker runs all cases of a configuration, while each slow case waits on its own worker. */
export function runCases(subject: Subject, cases: readonly ShellCase[]): void {
  const slow = cases.filter(({ isSlow }) => isSlow);
  const begun = new Map<ShellCase, Promise<PromiseSettledResult<void>[]>>();
  beforeAll(() => {
    for (const one of slow) begun.set(one, Promise.allSettled([runAlone(subject, one)]));
  });
  for (const group of groupsOf(cases.filter(({ isSlow }) => !isSlow))) {
    const { config, options } = group[0]!;
    describe(JSON.stringify({ ...config, ...options }), () => {
      let served: ShellFixture;
      beforeAll(async () => {
        served = await startShell(subject, config, options);
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

async function runAlone(subject: Subject, { config, options, run }: ShellCase): Promise<void> {
  const served = await startShell(subject, config, options);
  await run(served).finally(() => stopCleanly(served));
}

async function stopCleanly(served: ShellFixture): Promise<void> {
  expect(await served.stop()).toBe(0);
  expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
}

function groupsOf(cases: readonly ShellCase[]): ShellCase[][] {
  const groups = new Map<string, ShellCase[]>();
  for (const one of cases) {
    const key = JSON.stringify([one.config, one.options]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}
