/**
 * Measures the cost of a greedy caller for another one: reads of 1 KiB alone, and while a thousand searches
 * of the greedy caller are outstanding.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { median, type Ratio } from "./comparison.ts";
import { ensureCorpus } from "./corpus.ts";
import { makeNote } from "./disk.ts";
import { type BusServer, startBusServer } from "./programs.ts";

/** Searches of the whole tree, without a match or with a thousand. */
const searches = {
  "a literal": { query: "zebraQuokka" },
  "a regex": { query: "\\b[a-z]+Quokka\\d\\b", regex: true },
  "a literal, 1,000 matches": { query: "return", max_matches: 1000 },
} as const;

const outstanding = 1000;
const warmUp = 300;
const reads = 1000;
/** Maximum p99 beside the searches, as a multiple of the p99 alone. */
const target = 5;

export async function measureFairness(rounds: number): Promise<Ratio[]> {
  const tree = ensureCorpus("S");
  const path = makeNote(tree);
  const rows: Ratio[] = [];
  for (const [name, payload] of Object.entries(searches)) {
    const samples: Sample[] = [];
    for (let round = 0; round < rounds; round++) samples.push(await measureOnce(tree, path, payload));
    rows.push(rowOf(name, samples));
  }
  rmSync(join(tree, "one"), { recursive: true });
  return rows;
}

/** The 99th percentiles of the reads, in milliseconds. */
interface Sample {
  readonly alone: number;
  readonly beside: number;
}

async function measureOnce(tree: string, path: string, payload: object): Promise<Sample> {
  await using server = await startBusServer(tree);
  await timeReads(server, path, warmUp);
  const alone = await timeReads(server, path, reads);
  const args = [server.url, String(outstanding), JSON.stringify(payload)];
  const greedy = spawn(process.execPath, [join(import.meta.dirname, "outstanding-searches.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(greedy.stdout, "data");
  await timeReads(server, path, warmUp);
  const beside = await timeReads(server, path, reads);
  greedy.kill("SIGKILL");
  return { alone, beside };
}

async function timeReads(server: BusServer, path: string, count: number): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const started = performance.now();
    await server.call("coder::read-file", { path });
    times.push(performance.now() - started);
  }
  return times.toSorted((one, other) => one - other)[Math.floor(count * 0.99)]!;
}

function rowOf(name: string, samples: readonly Sample[]): Ratio {
  const quotients = samples.map(({ alone, beside }) => beside / alone);
  return {
    group: `p99 of reading 1 KiB, beside ${outstanding.toLocaleString("en")} searches of another caller`,
    name,
    peer: "alone",
    ours: median(samples.map(({ beside }) => beside)),
    theirs: median(samples.map(({ alone }) => alone)),
    ratio: median(quotients),
    spread: [Math.min(...quotients), Math.max(...quotients)],
    target,
    cpuRatio: undefined,
  };
}
