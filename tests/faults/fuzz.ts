/**
 * `npm run suite -- fuzz --payloads 100000 --seed 1`: makes random calls, and reports every answer that
 * breaks a rule.
 */
import { parseArgs } from "node:util";
import { freshSeed, randomFrom } from "../harness/random.ts";
import { buildTree, compareSnapshots, type Snapshot } from "../harness/tree.ts";
import { codesOf, type DriverFixture, outcomeFaults, startDriver } from "./driver-fixture.ts";
import { fuzzTree, type RandomCall, randomCall } from "./payloads.ts";

export interface FuzzReport {
  readonly payloads: number;
  /**
   * The number of occurrences of each code, in a call or an entry of a batch. "ok" counts the answered calls.
   */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Violations, each with its payload if that is known. */
  readonly faults: readonly string[];
}

/** Concurrent calls, and calls between two rebuilds of the tree. */
const atOnce = 25;
const perTree = 250;

/** A call ends by its deadline. One that is not answered long after that hangs. */
const deadlineMilliseconds = 2000;
const hangMilliseconds = 15_000;

export async function runFuzz({ payloads, seed }: { payloads: number; seed: number }): Promise<FuzzReport> {
  const random = randomFrom(seed);
  const driven = await startDriver({ tree: fuzzTree, config: { call_timeout_ms: deadlineMilliseconds } });
  const outcomes: Record<string, number> = {};
  const faults: string[] = [];
  try {
    for (let made = 0; made < payloads && faults.length < 10; ) {
      if (made % perTree === 0) buildTree(driven.root, fuzzTree);
      const outside = outsideOf(driven.snapshot());
      const count = Math.min(atOnce, payloads - made);
      const calls = Array.from({ length: count }, () => randomCall(random));
      await Promise.all(calls.map((call) => fuzzOnce(driven, call, { outcomes, faults })));
      faults.push(...compareSnapshots(outsideOf(driven.snapshot()), outside));
      made += count;
    }
    if (driven.log() !== "") faults.push(`the log: ${driven.log().slice(0, 4000)}`);
  } finally {
    await driven.stop();
  }
  return { payloads, outcomes, faults };
}

interface Found {
  readonly outcomes: Record<string, number>;
  readonly faults: string[];
}

async function fuzzOnce(
  driven: DriverFixture,
  { functionId, payload }: RandomCall,
  found: Found,
): Promise<void> {
  const note = (fault: string) =>
    found.faults.push(`${functionId} ${JSON.stringify(payload)?.slice(0, 2000)}: ${fault}`);
  const outcome = await orHang(driven.call(functionId, payload));
  if (outcome === "hangs") {
    note("is not answered");
    return;
  }
  for (const code of codesOf(outcome).concat(outcome.error === undefined ? "ok" : []))
    if (code !== "") found.outcomes[code] = (found.outcomes[code] ?? 0) + 1;
  for (const fault of outcomeFaults(outcome, { functionId, payload, root: driven.root })) note(fault);
  const text = JSON.stringify(outcome);
  for (const leak of [driven.root, "outside-secret", "denied-secret", "failed in a way it did not expect"])
    if (text.includes(leak)) note(`the answer holds ${leak}`);
}

async function orHang<T>(call: Promise<T>): Promise<T | "hangs"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<"hangs">((resolve) => {
    timer = setTimeout(() => resolve("hangs"), hangMilliseconds);
  });
  try {
    return await Promise.race([call, hang]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the part of a snapshot that lies beside the base. */
const outsideOf = (snapshot: Snapshot): Snapshot =>
  new Map([...snapshot].filter(([key]) => key.startsWith("../")));

if (import.meta.main) {
  const { values } = parseArgs({ options: { payloads: { type: "string" }, seed: { type: "string" } } });
  const seed = Number(values.seed ?? freshSeed());
  console.log({ seed });
  const report = await runFuzz({ payloads: Number(values.payloads ?? 100_000), seed });
  console.log(report);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
