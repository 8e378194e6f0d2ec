/**
 * The escape matrix with the `fs_scope` of a session of iii's harness in each call: twice with the base as
 * its folder, and once with a folder in the served tree, beside everything that a case has outside.
 * `npm run suite -- roots` tries every case.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logFaults } from "../harness/with-worker.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { backends, isWhole } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import { type EscapeCase, theBase } from "./escape-case.ts";
import { escapeCases } from "./escape-cases.ts";
import { asBase, Judge, type Layout } from "./matrix-cell.ts";

/** Returns whether a path is relative. In a session, a host path below the base is a path like others. */
const isRelative = ({ path }: EscapeCase): boolean => !/^(\/|<base>)/.test(path);
const fitting = escapeCases.filter(isRelative);

/** Returns whether a case is an escape from a session too. One that leaves it and returns is not. */
const isOfSession = ({ name, expected }: EscapeCase): boolean =>
  expected !== theBase && !/leaves and returns|out and in again/.test(name);

/** Returns the cases of a layout: all of them, or a sample that differs for each layout. */
const casesOf = (layout: Layout, index: number): readonly EscapeCase[] =>
  fitting.filter(
    (escapeCase, at) =>
      (isWhole || at % 9 === index) && (layout.isSession !== true || isOfSession(escapeCase)),
  );

/** Grants of folders that other workers of the session serve. */
const grants = ["/", "<root>/outside", "../outside", "<base>/../outside/outside-name.txt"];

const layouts: readonly (readonly [string, object, Layout])[] = [
  ["the base", {}, { ...asBase, scope: { root: "<base>", boundary: "workspace", grants } }],
  ["everything", {}, { ...asBase, scope: { root: "<base>/.", boundary: "configured_roots", grants } }],
  [
    "a folder in the served tree",
    { base_path: "<root>" },
    { ...asBase, isSession: true, scope: { root: "<base>", boundary: "workspace", grants: [] } },
  ],
];

const [backend] = backends;
let cells = 0;

describe.each(layouts.map((one, index) => [...one, index] as const))("%s", (_, config, layout, index) => {
  let served: WorkerFixture;
  let judge: Judge;

  beforeAll(async () => {
    served = await startWorker("source", { fsync: false, ...config }, { env: { CODER_JAIL: backend! } });
    judge = await Judge.of(served, layout);
  });
  afterAll(async () => {
    expect(await served.stop()).toBe(0);
    expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
  });

  test.each(casesOf(layout, index).map((escapeCase) => [escapeCase.name, escapeCase] as const))(
    "%s",
    async (_, escapeCase) => {
      const faults: string[] = [];
      for (const pathCall of pathCalls) {
        const found = await judge.faults(escapeCase, pathCall);
        faults.push(...found.map((fault) => `${pathCall.name}: ${fault}`));
        cells++;
      }
      expect(faults).toEqual([]);
    },
  );
});

test("most cases are tried", () => {
  expect(fitting.length).toBeGreaterThanOrEqual(60);
  expect(cells).toBeGreaterThanOrEqual(pathCalls.length * (isWhole ? 500 : 40));
});
