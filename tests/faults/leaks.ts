/**
 * `npm run suite -- leaks --calls 100000`: checks that descriptors and memory do not grow over many mixed
 * calls.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshSeed, type Random, randomFrom } from "../harness/random.ts";
import { buildTree } from "../harness/tree.ts";
import type { Measure } from "./driver.ts";
import { type DriverFixture, startDriver } from "./driver-fixture.ts";
import { fuzzTree, randomCall } from "./payloads.ts";
import { typicalCall } from "./typical-calls.ts";

export interface LeakReport {
  readonly calls: number;
  /** The number of open descriptors after each tenth of the calls; `held` counts those in the base. */
  readonly descriptors: readonly number[];
  readonly held: readonly number[];
  /** Resident MiB after each tenth of the calls, at rest. */
  readonly mebibytes: readonly number[];
}

export interface LeakOptions {
  readonly calls: number;
  readonly seed: number;
  /**
   * Whether to use threads, which come and go with some descriptors. Without threads, descriptors must be
   * constant.
   */
  readonly withThreads: boolean;
}

/**
 * Calls before the first tenth, in which buffers, compiled code and the engines of threads grow to their
 * usual size.
 */
const warmUpCalls = 1500;

/** Makes `calls` mixed calls and measures the process after each tenth of them. */
export async function runLeaks({ calls, seed, withThreads }: LeakOptions): Promise<LeakReport> {
  const random = randomFrom(seed);
  const env = { CODER_THREADS: withThreads ? "" : "0" };
  const driven = await startDriver({ tree: fuzzTree, config: { call_timeout_ms: 2000 }, env });
  const descriptors: number[] = [];
  const held: number[] = [];
  const mebibytes: number[] = [];
  try {
    await callOften(driven, random, warmUpCalls);
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

/** Measures the process once its memory stops falling and no abandoned thread holds a folder. */
async function measureAtRest(driven: DriverFixture, held: number): Promise<Measure> {
  let measured = await driven.measure();
  for (let looks = 0; looks < 100; looks++) {
    // Nothing reports that threads have collected garbage or the allocator has returned pages, which happens
    // soon after the calls.
    await pause(100);
    const before = measured.residentBytes;
    measured = await driven.measure();
    if (measured.held <= held && measured.residentBytes > before - 2 ** 20) break;
  }
  return measured;
}

async function callOften(driven: DriverFixture, random: Random, calls: number): Promise<void> {
  const atOnce = 20;
  for (let made = 0; made < calls; made += atOnce) {
    // The calls delete more than they create.
    if (made % 1000 === 0) buildTree(driven.root, fuzzTree);
    await Promise.all(
      Array.from({ length: atOnce }, () => {
        const { functionId, payload } = random.chance(0.25) ? typicalCall(random) : randomCall(random);
        return driven.call(functionId, payload);
      }),
    );
  }
}

/**
 * Maximum MiB of growth that is not a leak: memory that threads keep for later calls varies by up to 20 MiB.
 * Half a kilobyte lost in each call is 44 MiB over the 90,000 calls between the first measure and the last.
 */
const grownMebibytes = 32;

/** Returns a sentence for each measure that grew. */
export function leakFaults(
  { descriptors, held, mebibytes }: LeakReport,
  { withThreads }: LeakOptions,
): string[] {
  const faults: string[] = [];
  if (new Set(held).size > 1) faults.push(`descriptors into the base: ${held}`);
  if (!withThreads && new Set(descriptors).size > 1) faults.push(`descriptors: ${descriptors}`);
  const grown = mebibytes.at(-1)! - mebibytes[0]!;
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
