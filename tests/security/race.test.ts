import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { backends } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import { outsideName, secrets } from "./escape-case.ts";
import { type Cell, cellName, cells, raceCasesOf } from "./race/cells.ts";
import { callChecked } from "./race/checked.ts";
import { breachesOf, buildRaceTree, swapOf } from "./race/race-tree.ts";
import {
  bestSwapper,
  portableSwapper,
  type RaceResult,
  runRace,
  type Swapper,
  startSwapping,
} from "./race/run.ts";
import { takeTexts } from "./race/take-texts.ts";
import { checked } from "./race/victim.ts";

const testMilliseconds = 90_000;
const seconds = 0.03;
/** A check by realpath ends with its first loss, which may take long on a busy machine. */
const untilLost = { seconds: 100, milliseconds: 160_000 } as const;

let folder: string;
let swapper: Swapper;

beforeAll(async () => {
  folder = temporaryFolder();
  swapper = await bestSwapper(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const races = raceCasesOf(pathCalls);
const table = cells.map((cell): [string, Cell] => [cellName(cell), cell]);

/**
 * Expects swaps, but no escape, no leak, no hang and no descriptor left. A watched tree may still list
 * folders when the descriptors are first counted.
 */
function expectHeld({ escapes, faults, isHung, descriptors, calls, swaps }: RaceResult): void {
  expect({ escapes, faults, isHung }).toEqual({ escapes: 0, faults: [], isHung: false });
  expect(descriptors[1]).toBeLessThanOrEqual(descriptors[0]);
  expect(calls).toBeGreaterThan(0);
  expect(swaps).toBeGreaterThan(10);
}

describe.each(backends)("%s holds", (backend) => {
  test.each(races.map((raced) => [raced.argument, cellName(raced.cell), raced] as const))(
    "%s: %s",
    async (_way, _cell, raced) => expectHeld(await runRace({ ...raced, subject: backend, seconds, swapper })),
    testMilliseconds,
  );
});

describe.each([
  ["a root beside one that is what lies outside", "roots", 5],
  ["a scope in a base that holds what lies outside", "scope", 8],
] as const)("%s holds", (_what, layout, first) => {
  const sample = races.filter((_, index) => index % 12 === first);
  test.each(sample.map((raced) => [raced.argument, cellName(raced.cell), raced] as const))(
    "%s: %s",
    async (_way, _cell, raced) =>
      expectHeld(await runRace({ ...raced, subject: backends[0]!, seconds, swapper, layout })),
    testMilliseconds,
  );
});

describe("a check by realpath holds while nobody swaps", () => {
  test.each(table)("%s", (_, { call, path }) => {
    const root = mkdtempSync(join(folder, "quiet-"));
    buildRaceTree(root);
    const shown = callChecked(call, join(root, "base"), path.replace("#", "0"));
    expect([...secrets, outsideName].filter((word) => shown.includes(word))).toEqual([]);
    expect(breachesOf(root)).toEqual([]);
  });
});

describe("a check by realpath loses", () => {
  test.each(table)(
    "%s",
    async (_, cell) => {
      const race = { cell, argument: cell.call, subject: checked, swapper };
      const outcome = await runRace({ ...race, seconds: untilLost.seconds });
      expect(cell.swap === "file and FIFO" ? outcome.isHung : outcome.escapes > 0).toBe(true);
    },
    untilLost.milliseconds,
  );
});

test("the swapper that needs no compiler bends paths too", async () => {
  const race = { ...races[0]!, swapper: portableSwapper };
  expectHeld(await runRace({ ...race, subject: backends[0]!, seconds }));
  expect((await runRace({ ...race, subject: checked, seconds: untilLost.seconds })).escapes).toBeGreaterThan(
    0,
  );
});

test("each way to call a function is raced", () => {
  const raced = new Set(races.map(({ argument }) => argument));
  expect(pathCalls.map(({ name }) => name).filter((name) => !raced.has(name))).toEqual([]);
});

test("the texts of a moved folder are taken without following what is swapped there meanwhile", async () => {
  let shown = "";
  for (let round = 0; round < 40; round++) {
    const root = mkdtempSync(join(folder, "taken-"));
    buildRaceTree(root);
    await using _swapping = await startSwapping(swapper, swapOf("folder and link", root));
    shown += takeTexts(join(root, "base/s"));
    expect(breachesOf(root)).toEqual([]);
  }
  expect(secrets.filter((word) => shown.includes(word))).toEqual([]);
});
