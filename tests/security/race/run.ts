import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { temporaryFolder } from "../../harness/worker-fixture.ts";
import type { RaceCase } from "./cells.ts";
import { isWaitedAt } from "./fifo.ts";
import { buildRaceTree, fifoOf, type RaceLayout, swapOf } from "./race-tree.ts";
import { checked, type RaceJob, type RaceReport } from "./victim.ts";
import { victimFor } from "./victims.ts";

/** The report of a race, and the end of its processes. */
export interface RaceResult extends RaceReport {
  /** Whether a call did not return, so that its process had to be killed. */
  readonly isHung: boolean;
  /** The number of times that the swapper has swapped the path. */
  readonly swaps: number;
}

export type Swapper = readonly [string, ...string[]];

/** The swapper that does not need a compiler. */
export const portableSwapper: Swapper = [process.execPath, join(import.meta.dir, "swapper.ts")];

/** Returns the fastest swapper that this machine can have, compiled into `folder` if possible. */
export async function bestSwapper(folder: string): Promise<Swapper> {
  const compiler = Bun.which("cc");
  if (compiler === null) return portableSwapper;
  const program = join(folder, "swapper");
  const compiling = Bun.spawn([compiler, "-O2", "-o", program, join(import.meta.dir, "swapper.c")]);
  if ((await compiling.exited) !== 0) throw new Error("swapper.c does not compile");
  return [program];
}

export interface RaceOptions extends RaceCase {
  readonly subject: string;
  readonly seconds: number;
  readonly swapper: Swapper;
  readonly layout?: RaceLayout;
}

/** Maximum seconds that a victim may exceed its time before it counts as hung. */
const graceSeconds = 45;
const pollMilliseconds = 10;

/** Runs one race in a new tree, and repeats it until the swapper has swapped often enough. */
export async function runRace({
  cell,
  argument,
  subject,
  seconds,
  swapper,
  layout = "base",
}: RaceOptions): Promise<RaceResult> {
  const root = temporaryFolder();
  buildRaceTree(root);
  try {
    await using swapping = await startSwapping(swapper, swapOf(cell.swap, root));
    const job = { cell, argument, root, subject, seconds, layout };
    let result = await runVictim(job);
    // On a busy machine, the swapper may have swapped only a few times so far.
    while (!swapping.isMany && !result.isHung) result = together(result, await runVictim(job));
    return { ...result, swaps: await swapping.end() };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Victims = Omit<RaceResult, "swaps">;

/** Merges the results of two races with one tree, the second after the first. */
const together = (one: Victims, other: Victims): Victims => ({
  ...other,
  calls: one.calls + other.calls,
  escapes: one.escapes + other.escapes,
  faults: [...one.faults, ...other.faults],
  descriptors: [one.descriptors[0], other.descriptors[1]],
});

/** A running swapper. Disposal kills it. */
export interface Swapping extends AsyncDisposable {
  /** Whether it has swapped more than ten times. */
  readonly isMany: boolean;
  /** Ends the swapper, and returns the number of its swaps. */
  end(): Promise<number>;
}

/** Starts a swapper. Resolves once it has swapped. */
export async function startSwapping(
  [program, ...words]: Swapper,
  names: readonly string[],
): Promise<Swapping> {
  const child = spawn(program, [...words, ...names], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const ended = once(child.stdout, "close");
  const lines: string[] = [];
  const input = createInterface({ input: child.stdout });
  input.on("line", (line) => lines.push(line));
  await Promise.race([once(input, "line"), ended]);
  if (lines[0] !== "begun") throw new Error("the swapper does not swap");
  return {
    get isMany() {
      return lines.includes("many");
    },
    async end() {
      child.kill("SIGTERM");
      await once(input, "close");
      return Number(lines.at(-1));
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function runVictim(job: RaceJob): Promise<Victims> {
  const { subject, seconds, root } = job;
  const victim = victimFor(join(import.meta.dir, "victim.ts"), subject === checked ? "" : subject);
  // The design that checks by realpath opens without O_NONBLOCK, so it hangs at a FIFO without another end.
  const poll = () => subject === checked && isWaitedAt(fifoOf(root)) && victim.kill();
  const polling = setInterval(poll, pollMilliseconds);
  try {
    const report = await victim.run<RaceReport>(job, (seconds + graceSeconds) * 1000);
    return report === undefined ? { ...nothing, isHung: true } : { ...report, isHung: false };
  } finally {
    clearInterval(polling);
  }
}

const nothing: RaceReport = { calls: 0, escapes: 0, faults: [], descriptors: [0, 0], outcomes: {} };
