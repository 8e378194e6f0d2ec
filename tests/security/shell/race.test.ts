import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../harness/served.ts";
import { backends } from "../backends.ts";
import type { Swap } from "../race/cells.ts";
import { bestSwapper, type Swapper } from "../race/run.ts";
import { buildWorld, swapOf } from "../race/world.ts";
import { ways } from "./shell.ts";
import type { ShellErrand, ShellReport } from "./victim.ts";

const testMilliseconds = 40_000;
const graceMilliseconds = 20_000;
/** Threads start with the first call that gets so far; a leak holds one descriptor for each of twenty calls and more. */
const heldByLateThreads = 6;

type Cell = readonly [way: string, swap: Swap, path: string];

/** Every way to call a function, on a path through a folder that is being swapped with a link out of the base. */
const cells: readonly Cell[] = [
  ["ls", "folder and link", "s/real"],
  ["stat", "folder and link", "s/real/f"],
  ["read", "folder and link", "s/real/f"],
  ["read", "file and link", "s/f"],
  ["read", "file and FIFO", "s/f"],
  ["grep", "folder and link", "s"],
  ["grep", "file and link", "s/f"],
  ["mkdir", "folder and link", "s/real/n#/m"],
  ["rm", "folder and link", "s/real/f"],
  ["rm tree", "folder and link", "s/real/sub"],
  ["rm tree", "folder and link", "s"],
  ["chmod", "folder and link", "s/real/f"],
  ["chmod", "file and link", "s/f"],
  ["chmod tree", "folder and link", "s/real"],
  ["mv away", "folder and link", "s/real/f"],
  ["mv to", "folder and link", "s/real/n#"],
  ["mv onto", "folder and link", "s/real/f"],
  ["sed", "folder and link", "s/real/f"],
  ["sed", "file and link", "s/f"],
  ["sed tree", "folder and link", "s"],
  ["write", "folder and link", "s/real/n#/m/new"],
  ["write", "file and link", "s/f"],
];

let folder: string;
let swapper: Swapper;

beforeAll(async () => {
  folder = temporaryFolder();
  swapper = await bestSwapper(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

test("each way to call a function of files is raced", () => {
  const raced = new Set(cells.map(([way]) => way));
  expect(ways.map(({ name }) => name).filter((name) => !raced.has(name))).toEqual([]);
});

/** The first cell of each way. */
const firstCells = cells.filter(([way], index) => cells.findIndex(([other]) => other === way) === index);

describe.each(backends)("%s holds", (backend) => {
  const isDefault = backend === backends[0];
  const seconds = isDefault ? 0.4 : 0.3;

  test.each(isDefault ? cells : firstCells)(
    "%s, %s, %s",
    async (way, swap, path) => {
      const root = temporaryFolder();
      buildWorld(root);
      const swapping = Bun.spawn([...swapper, ...swapOf(swap, root)], { stdout: "pipe" });
      try {
        const { calls, faults, descriptors } = await runVictim({ way, swap, path, root, seconds }, backend);
        expect(faults).toEqual([]);
        expect(calls).toBeGreaterThan(0);
        expect(descriptors[1] - descriptors[0]).toBeLessThanOrEqual(heldByLateThreads);
        swapping.kill("SIGTERM");
        expect(Number(await swapping.stdout.text())).toBeGreaterThan(10);
      } finally {
        swapping.kill("SIGKILL");
        await swapping.exited;
        rmSync(root, { recursive: true, force: true });
      }
    },
    testMilliseconds,
  );
});

async function runVictim(errand: ShellErrand, backend: string): Promise<ShellReport> {
  const victim = Bun.spawn([process.execPath, join(import.meta.dir, "victim.ts"), JSON.stringify(errand)], {
    cwd: errand.root,
    env: { ...process.env, CODER_JAIL: backend },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: errand.seconds * 1000 + graceMilliseconds,
    killSignal: "SIGKILL",
  });
  const [, report] = (await victim.stdout.text()).split("\n");
  await victim.exited;
  if (!report) throw new Error(`the victim ended without a report (${victim.signalCode ?? victim.exitCode})`);
  return JSON.parse(report) as ShellReport;
}
