/** `npm run test:leaks -- --calls 100000`: whether descriptors or memory grow over many mixed calls. */
import { parseArgs } from "node:util";
import { buildTree } from "../conformance/tree.ts";
import { type Driven, drive } from "./driven.ts";
import type { Measure } from "./driver.ts";
import { fuzzTree, randomCall } from "./payloads.ts";
import { freshSeed, type Random, randomFrom } from "./random.ts";

export interface LeakReport {
  readonly calls: number;
  /** Open descriptors after each tenth of the calls, and those of them that lead into the base. */
  readonly descriptors: readonly number[];
  readonly held: readonly number[];
  /** Resident MiB after each tenth, after a garbage collection. */
  readonly mebibytes: readonly number[];
}

export interface LeakOptions {
  readonly calls: number;
  readonly seed: number;
  /** Threads come and go, and some descriptors with them; without, descriptors can be compared exactly. */
  readonly withThreads: boolean;
}

/** Makes `calls` random calls and measures the process after each tenth of them. */
export async function runLeaks({ calls, seed, withThreads }: LeakOptions): Promise<LeakReport> {
  const random = randomFrom(seed);
  const env = { CODER_THREADS: withThreads ? "" : "0" };
  const driven = await drive({ tree: fuzzTree, config: { call_timeout_ms: 2000 }, env });
  const descriptors: number[] = [];
  const held: number[] = [];
  const mebibytes: number[] = [];
  try {
    for (let tenth = 0; tenth < 10; tenth++) {
      await callOften(driven, random, calls / 10);
      const measured = await measureAtRest(driven, held[0] ?? Number.POSITIVE_INFINITY);
      descriptors.push(measured.descriptors);
      held.push(measured.held);
      mebibytes.push(Math.round(measured.residentBytes / 2 ** 20));
    }
  } finally {
    await driven.stop();
  }
  return { calls, descriptors, held, mebibytes };
}

/** A thread that was given up on may take a moment to let go of what it holds. */
async function measureAtRest(driven: Driven, held: number): Promise<Measure> {
  for (let looks = 0; ; looks++) {
    const measured = await driven.measure();
    if (measured.held <= held || looks === 100) return measured;
  }
}

async function callOften(driven: Driven, random: Random, calls: number): Promise<void> {
  const atOnce = 20;
  for (let made = 0; made < calls; made += atOnce) {
    // The calls delete more than they make.
    if (made % 1000 === 0) buildTree(driven.root, fuzzTree);
    await Promise.all(
      Array.from({ length: atOnce }, () => {
        const { functionId, payload } = randomCall(random);
        return driven.call(functionId, payload);
      }),
    );
  }
}

/**
 * Growth that is no leak: buffers that are kept, and an allocator that gives little back. A kilobyte a call would be more
 * than this over 150,000 calls.
 */
const grownMebibytes = 64;

/** What grew. */
export function leakFaults(
  { descriptors, held, mebibytes }: LeakReport,
  { withThreads }: LeakOptions,
): string[] {
  const faults: string[] = [];
  if (new Set(held).size > 1) faults.push(`descriptors into the base: ${held}`);
  if (!withThreads && new Set(descriptors).size > 1) faults.push(`descriptors: ${descriptors}`);
  // The least of several, because what is resident at one moment is up to threads and to the collector: it goes up and
  // down by a hundred, while a leak raises the least too. At first each thread fills the memory that its engine keeps.
  const warm = mebibytes.slice(mebibytes.length / 5);
  const grown = Math.min(...warm.slice(warm.length / 2)) - Math.min(...warm.slice(0, warm.length / 2));
  if (grown > grownMebibytes) faults.push(`resident MiB: ${mebibytes}`);
  return faults;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { calls: { type: "string" }, seed: { type: "string" } } });
  const seed = Number(values.seed ?? freshSeed());
  for (const withThreads of [true, false]) {
    const options = { calls: Number(values.calls ?? 100_000), seed, withThreads };
    const report = await runLeaks(options);
    const faults = leakFaults(report, options);
    console.log({ seed, withThreads, ...report, faults });
    if (faults.length > 0) process.exitCode = 1;
  }
}
