import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { runCoder } from "../harness/subject.ts";
import { logFaults } from "../harness/with-worker.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { backends, isWhole, triedThrough } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import { escapeCases } from "./escape-cases.ts";
import { Judge } from "./matrix-cell.ts";

const schema = JSON.parse((await runCoder("source", ["--print-schema"])).stdout) as {
  functions: { name: string }[];
};
const functions = schema.functions.map(({ name }) => name);

test("each function of the worker that takes a path is called on each escape case", () => {
  // These take a plan, or paths that are compared as text with those of the journal, or nothing.
  const others = [
    "coder::commit",
    "coder::checkpoints",
    "coder::undo",
    "coder::info",
    "coder::changes",
    "coder::config-status",
  ];
  expect(functions.filter((id) => !pathCalls.some((call) => call.id === id))).toEqual(others);
});

let cells = 0;

describe.each(backends)("%s", (backend) => {
  let served: WorkerFixture;
  let judge: Judge;

  beforeAll(async () => {
    served = await startWorker(
      "source",
      { fsync: false, index: "watched" },
      { env: { CODER_JAIL: backend } },
    );
    judge = await Judge.of(served);
  });
  afterAll(async () => {
    expect(await served.stop()).toBe(0);
    expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
  });

  test.each(escapeCases.map((escapeCase, index) => [escapeCase.name, escapeCase, index] as const))(
    "%s",
    async (_, escapeCase, index) => {
      const faults: string[] = [];
      for (const pathCall of triedThrough(backend, pathCalls, index)) {
        const found = await judge.faults(escapeCase, pathCall);
        faults.push(...found.map((fault) => `${pathCall.name}: ${fault}`));
        cells++;
      }
      expect(faults).toEqual([]);
    },
  );
});

test("no cell was left out", () => {
  expect(escapeCases.length).toBeGreaterThanOrEqual(60);
  const all = escapeCases.length * pathCalls.length;
  const further = isWhole ? all : all / 3;
  expect(Math.abs(cells - all - further * (backends.length - 1))).toBeLessThanOrEqual(backends.length);
});
