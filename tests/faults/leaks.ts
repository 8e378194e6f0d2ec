/** `npm run suite -- leaks --calls 100000`: whether descriptors or memory grow over many mixed calls. */
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
  /** Open descriptors after each tenth of the calls, and those of them that lead into the base. */
  readonly descriptors: readonly number[];
  readonly held: readonly number[];
  /** Resident MiB after each tenth, at rest. */
  readonly mebibytes: readonly number[];
}

export interface LeakOptions {
  readonly calls: number;
  readonly seed: number;
  /** Threads come and go, and some descriptors with them; without, descriptors can be compared exactly. */
  readonly withThreads: boolean;
}

/** Calls before the first that count: buffers, compiled code and the engines of the threads grow to what they keep. */
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

/** What it still holds when it gives nothing back any more, and no thread that was given up on holds a folder. */
async function measureAtRest(driven: DriverFixture, held: number): Promise<Measure> {
  let measured = await driven.measure();
  for (let looks = 0; looks < 100; looks++) {
    // Nothing reports that threads have collected and the allocator has returned pages: both do so a moment after the work.
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
    // The calls delete more than they make.
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
 * Growth that is no leak: what threads keep for their next work goes up and down by up to 20. Half a kilobyte lost in
 * each call is 44 MiB over the 90,000 calls between the first measure and the last.
 */
const grownMebibytes = 32;

/** What grew. */
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
