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

/** How a race ended. */
export interface RaceResult extends RaceReport {
  /** A call did not return, and its process had to be killed. */
  readonly isHung: boolean;
  /** How often the swapper swapped the path. */
  readonly swaps: number;
}

export type Swapper = readonly [string, ...string[]];

/** The swapper without a compiler. */
export const portableSwapper: Swapper = [process.execPath, join(import.meta.dir, "swapper.ts")];

/** The fastest swapper that this machine can have; what is compiled goes into `folder`. */
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

/** How much longer than agreed a victim may run before it counts as hung. */
const graceSeconds = 45;
const pollMilliseconds = 10;

/** Runs one race in a tree of its own. */
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
    // On a busy machine the swapper may have swapped only a few times by now.
    while (!swapping.isMany && !result.isHung) result = together(result, await runVictim(job));
    return { ...result, swaps: await swapping.end() };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Victims = Omit<RaceResult, "swaps">;

/** What two races with one tree came to, the second after the first. */
const together = (one: Victims, other: Victims): Victims => ({
  ...other,
  calls: one.calls + other.calls,
  escapes: one.escapes + other.escapes,
  faults: [...one.faults, ...other.faults],
  descriptors: [one.descriptors[0], other.descriptors[1]],
});

/** A swapper at work. */
export interface Swapping extends AsyncDisposable {
  /** Whether it has swapped more than ten times. */
  readonly isMany: boolean;
  /** Ends it, and returns how often it has swapped. */
  end(): Promise<number>;
}

/** Starts a swapper, and resolves when it has swapped for the first time. */
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
  // The design that checks by realpath opens without O_NONBLOCK: at a FIFO without another end it never returns.
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
