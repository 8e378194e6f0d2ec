import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { PathAccess } from "../../../src/calls/contract/definition.ts";
import { temporaryFolder } from "../../harness/worker-fixture.ts";
import { backends } from "../backends.ts";
import type { Swap } from "../race/cells.ts";
import { buildRaceTree, swapOf } from "../race/race-tree.ts";
import { bestSwapper, type Swapper, startSwapping } from "../race/run.ts";
import { victimFor } from "../race/victims.ts";
import { shellPathArguments } from "./shell.ts";
import type { ShellRaceJob, ShellReport } from "./victim.ts";

const testMilliseconds = 40_000;
const graceMilliseconds = 20_000;
/**
 * Maximum descriptors of threads that start after the first call. A leak would hold one for each of twenty
 * calls.
 */
const heldByLateThreads = 6;

type Cell = readonly [argument: string, swap: Swap, path: string];

/** The paths to race through a folder that is being swapped with a link out of the base. */
const throughFolder: Readonly<Record<PathAccess, readonly string[]>> = {
  read: ["s/real/f"],
  list: ["s"],
  write: ["s/real/f"],
  "write-tree": ["s", "s/real"],
  create: ["s/real/n#"],
  "create-tree": ["s/real/n#/m"],
  replace: ["s/real/f", "s/real/n#/m/new"],
  remove: ["s/real/f"],
  "remove-tree": ["s/real/sub", "s"],
  move: ["s/real/f"],
  copy: ["s/real/f", "s"],
  "change-mode": ["s/real/f"],
  "make-folder": ["s/real/n#"],
  "make-folder-tree": ["s/real/n#/m"],
};

const fileSwaps: readonly Swap[] = ["file and link", "file and FIFO"];

/** The swaps of the file itself, by the access of a call to it. */
const atFile: Readonly<Partial<Record<PathAccess, readonly Swap[]>>> = {
  read: fileSwaps,
  list: fileSwaps.slice(0, 1),
  write: fileSwaps.slice(0, 1),
};

/** Every path argument, with the swaps of its path. */
const cells: readonly Cell[] = shellPathArguments.flatMap(({ name, access }): Cell[] => [
  ...throughFolder[access].map((path): Cell => [name, "folder and link", path]),
  ...(atFile[access] ?? []).map((swap): Cell => [name, swap, "s/f"]),
]);

let folder: string;
let swapper: Swapper;

beforeAll(async () => {
  folder = temporaryFolder();
  swapper = await bestSwapper(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The first cell of each path argument. */
const firstCells = cells.filter(
  ([argument], index) => cells.findIndex(([other]) => other === argument) === index,
);

describe.each(backends)("%s holds", (backend) => {
  const isDefault = backend === backends[0];
  const seconds = 0.03;

  test.each(isDefault ? cells : firstCells)(
    "%s, %s, %s",
    async (argument, swap, path) => {
      const root = temporaryFolder();
      buildRaceTree(root);
      try {
        await using swapping = await startSwapping(swapper, swapOf(swap, root));
        const { calls, faults, descriptors } = await runVictim(
          { argument, swap, path, root, seconds },
          backend,
        );
        expect(faults).toEqual([]);
        expect(calls).toBeGreaterThan(0);
        expect(descriptors[1] - descriptors[0]).toBeLessThanOrEqual(heldByLateThreads);
        expect(await swapping.end()).toBeGreaterThan(10);
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    },
    testMilliseconds,
  );
});

async function runVictim(job: ShellRaceJob, backend: string): Promise<ShellReport> {
  const victim = victimFor(join(import.meta.dir, "victim.ts"), backend);
  const report = await victim.run<ShellReport>(job, job.seconds * 1000 + graceMilliseconds);
  if (report === undefined) throw new Error("the call did not return, and the victim was killed");
  return report;
}
