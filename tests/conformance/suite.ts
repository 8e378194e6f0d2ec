import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorFaults, parseWireError } from "../harness/errors.ts";
import { schemaFaults } from "../harness/golden.ts";
import type { Subject } from "../harness/subject.ts";
import { applyChanges, compareSnapshots, expandPayload } from "../harness/tree.ts";
import { logFaults } from "../harness/with-worker.ts";
import {
  type ClientOutcome,
  type ConfigFields,
  startWorker,
  type WorkerFixture,
} from "../harness/worker-fixture.ts";
import { type Case, compareAnswer, missingWords } from "./case.ts";
import { catalogue } from "./catalogue.ts";

/** The parts of a worker fixture that the cases use. */
export type SuiteWorker = Pick<WorkerFixture, "base" | "root" | "build" | "snapshot" | "call" | "stop"> & {
  readonly worker: Pick<WorkerFixture["worker"], "stdout" | "stderr">;
  /** Changes the configuration, and returns whether the worker could. */
  readonly reload?: WorkerFixture["reload"];
};

/** The transport of the calls. The default is the bus. */
export interface Transport {
  readonly start?: (subject: Subject, config: ConfigFields) => Promise<SuiteWorker>;
  /** Whether the transport can carry a case. By default, it carries all. */
  readonly supports?: (one: Case) => boolean;
}

/** Runs every case of the catalogue. */
export const runCatalogue = (subject: Subject, transport?: Transport): void =>
  runConformanceCases(Object.values(catalogue).flat(), subject, transport);

/**
 * Runs cases grouped by configuration, and rebuilds the tree before each. Between groups, the worker reloads
 * its configuration, or another worker replaces it.
 */
export function runConformanceCases(
  all: readonly Case[],
  subject: Subject,
  { start = startWorker, supports = () => true }: Transport = {},
): void {
  let served: SuiteWorker | undefined;
  const stop = async () => {
    const stopping = served;
    served = undefined;
    if (stopping === undefined) return;
    expect(await stopping.stop()).toBe(0);
    expect(logFaults(stopping.worker.stdout(), stopping.worker.stderr())).toEqual([]);
  };
  for (const [config, cases] of byConfig(all.filter(supports))) {
    describe(config, () => {
      beforeAll(async () => {
        const fields = JSON.parse(config) as ConfigFields;
        const reportsReloads = cases.some(({ call }) => call.function === "coder::config-status");
        if (!reportsReloads && (await served?.reload?.(fields))) return;
        await stop();
        served = await start(subject, fields);
      });
      for (const one of cases) test(`${one.call.function}: ${one.name}`, () => runCase(served!, one));
    });
  }
  afterAll(stop);
}

function byConfig(cases: readonly Case[]): Map<string, Case[]> {
  const groups = new Map<string, Case[]>();
  for (const one of cases) {
    const config = JSON.stringify(one.config ?? {});
    groups.set(config, [...(groups.get(config) ?? []), one]);
  }
  return groups;
}

async function runCase(served: SuiteWorker, one: Case): Promise<void> {
  served.build(one.tree);
  const before = served.snapshot();
  const payload = expandPayload(one.call.payload, served.base);
  const outcome = await served.call(one.call.function, payload);
  const call = { payload, root: served.root };
  expect([...judge(one, outcome, served.base), ...errorFaults(outcome, call)]).toEqual([]);
  const after = applyChanges(before, one.expect.tree ?? {}, served.base);
  expect(compareSnapshots(served.snapshot(), after)).toEqual([]);
}

/** Returns the differences between the outcome and the expected one. */
function judge(one: Case, outcome: ClientOutcome, base: string): string[] {
  const expected = one.expect;
  if ("answer" in expected) {
    if (outcome.error !== undefined) return [`refused: ${outcome.error.message}`];
    return [
      ...compareAnswer(withoutCheckpoint(one, outcome.answer), expandExpected(expected.answer, base)),
      ...schemaFaults(one.call.function, outcome.answer),
    ];
  }
  if (outcome.error === undefined)
    return [`answered ${JSON.stringify(outcome.answer)}, should be refused with ${expected.error.code}`];
  const error = parseWireError(outcome.error);
  const missing = missingWords(error.message, expected.error.says);
  return [
    ...(error.code === expected.error.code
      ? []
      : [`${error.code}, should be ${expected.error.code}: ${error.message}`]),
    ...missing.map((word) => `the message does not say "${word}": ${error.message}`),
  ];
}

/**
 * Returns the answer without the number of its checkpoint, which depends on earlier calls. Only answers in
 * the profile `agent` have it.
 */
function withoutCheckpoint({ config }: Case, answer: unknown): unknown {
  const { checkpoint, ...others } = answer as { readonly checkpoint?: unknown };
  const isNumber = Number.isInteger(checkpoint) && Number(checkpoint) > 0;
  return isNumber && config?.["profile"] === "agent" ? others : answer;
}

/** Expands `<base>` in the expected answer, because answers repeat paths of the request. */
function expandExpected(answer: unknown, base: string): unknown {
  if (typeof answer === "string") return answer.replaceAll("<base>", base);
  if (Array.isArray(answer)) return answer.map((item) => expandExpected(item, base));
  if (answer === null || typeof answer !== "object" || Object.getPrototypeOf(answer) !== Object.prototype)
    return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, expandExpected(value, base)]));
}
