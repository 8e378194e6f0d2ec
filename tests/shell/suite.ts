import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { logFaults } from "../conformance/clean-run.ts";
import type { Subject } from "../conformance/subject.ts";
import type { Case } from "./case.ts";
import { type Served, serveShell } from "./served.ts";

/** Runs cases: one worker for all cases of one configuration. */
export function runCases(subject: Subject, cases: readonly Case[]): void {
  setDefaultTimeout(20_000);
  for (const [config, group] of byConfig(cases)) {
    describe(config, () => {
      let served: Served;
      beforeAll(async () => {
        served = await serveShell(subject, JSON.parse(config));
      });
      afterAll(async () => {
        if (served === undefined) return;
        expect(await served.stop()).toBe(0);
        expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
      });
      for (const { number, name, run } of group) test(`${number}: ${name}`, () => run(served));
    });
  }
}

function byConfig(cases: readonly Case[]): Map<string, Case[]> {
  const groups = new Map<string, Case[]>();
  for (const one of cases) {
    const config = JSON.stringify(one.config);
    groups.set(config, [...(groups.get(config) ?? []), one]);
  }
  return groups;
}
