import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { temporaryFolder } from "../harness/served.ts";
import { backends } from "./backends.ts";
import { ways } from "./calls.ts";
import { type Cell, cells, nameOf, racesOf } from "./race/cells.ts";
import { bestSwapper, type Outcome, portableSwapper, runRace, type Swapper } from "./race/run.ts";
import { checked } from "./race/victim.ts";

const testMilliseconds = 40_000;
const seconds = 0.5;
/** A check by realpath ends with its first loss: a machine that is busy may need long until then. */
const untilLost = { seconds: 100, milliseconds: 115_000 } as const;

let folder: string;
let swapper: Swapper;

beforeAll(async () => {
  folder = temporaryFolder();
  swapper = await bestSwapper(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const races = racesOf(ways);
const table = cells.map((cell): [string, Cell] => [nameOf(cell), cell]);

/** Nothing got out, nothing was told, nothing blocked, nothing is held; and somebody really was at it. */
function expectHeld({ escapes, faults, isHung, descriptors, calls, swaps }: Outcome): void {
  expect({ escapes, faults, isHung }).toEqual({ escapes: 0, faults: [], isHung: false });
  expect(descriptors[1]).toBe(descriptors[0]);
  expect(calls).toBeGreaterThan(0);
  expect(swaps).toBeGreaterThan(10);
}

describe.each(backends)("%s holds", (backend) => {
  test.each(races.map((raced) => [raced.way, nameOf(raced.cell), raced] as const))(
    "%s: %s",
    async (_way, _cell, raced) => expectHeld(await runRace({ ...raced, subject: backend, seconds, swapper })),
    testMilliseconds,
  );
});

describe("a check by realpath loses", () => {
  test.each(table)(
    "%s",
    async (_, cell) => {
      const race = { cell, way: cell.call, subject: checked, swapper };
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
  const raced = new Set(races.map(({ way }) => way));
  expect(ways.map(({ name }) => name).filter((name) => !raced.has(name))).toEqual([]);
});
