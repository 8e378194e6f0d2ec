/**
 * `npm run suite -- crash --kills 300` kills a worker over and over in the middle of writes, and checks the
 * files that are left. With `--transactions`, it kills a transaction at a call of the file system, and then
 * the next start. `--points` is the number of calls to try for each form of a transaction, evenly spread from
 * a random first one; the default takes about ten minutes on an idle machine, and `all` half an hour.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Engine, startEngine } from "../../src/embedded-engine/engine.ts";
import { freshSeed, type Random, randomFrom } from "../harness/random.ts";
import { type CoderProcess, startCoder } from "../harness/subject.ts";
import { buildTree } from "../harness/tree.ts";
import { temporaryFolder, waitForRegistration } from "../harness/worker-fixture.ts";
import { openTreeWorks, type TreeWork } from "./crash-trees.ts";
import { type KillReport, killTransactions } from "./kill-transactions.ts";

export interface CrashReport {
  readonly kills: number;
  /** The number of writes that were acknowledged. */
  readonly writes: number;
  /** The number of acknowledged calls of each kind of move and copy. */
  readonly moves: readonly number[];
  /** The number of kills that left a temporary file or folder. */
  readonly leftTemporaries: number;
  /**
   * Files that are torn, lost or rolled back, parts of a move or copy, and temporary files that can be seen
   * or stay.
   */
  readonly faults: readonly string[];
}

/** Kills a worker `kills` times, each time while it writes, moves and copies its files. */
export async function runCrashes({ kills, seed }: { kills: number; seed: number }): Promise<CrashReport> {
  const site = await openSite();
  const random = randomFrom(seed);
  const faults: string[] = [];
  let leftTemporaries = 0;
  try {
    let worker = await site.start();
    // One undisturbed call of each, as a kill interrupts most copies of the folder.
    for (const work of site.trees) await work.next(site.engine);
    for (let kill = 0; kill < kills; kill++) {
      await crash(site, worker, random);
      const temporaries = temporariesIn(site.base);
      if (temporaries.length > 0) leftTemporaries++;
      faults.push(...site.files.flatMap((file) => fileFaults(site.base, file)));
      faults.push(...site.trees.flatMap((work) => work.faults()));
      worker = await site.start();
      faults.push(...(await sweepFaults(site, worker, temporaries)));
    }
    worker.child.kill("SIGTERM");
    await worker.exited;
    const writes = site.files.reduce((sum, file) => sum + file.writes, 0);
    const moves = site.trees.map(({ done }) => done);
    return { kills, writes, moves, leftTemporaries, faults };
  } finally {
    await site.close();
  }
}

/** A file that is written over and over. */
interface Written {
  readonly name: string;
  /** The function that writes it: update-file, or create-file with overwrite. */
  readonly by: "update" | "overwrite";
  /** The last version that was acknowledged; `sent` is the last one that was sent. */
  acknowledged: number;
  sent: number;
  writes: number;
}

interface Site {
  readonly engine: Engine;
  readonly base: string;
  readonly files: readonly Written[];
  readonly trees: readonly TreeWork[];
  start(): Promise<CoderProcess>;
  close(): Promise<void>;
}

async function openSite(): Promise<Site> {
  const root = temporaryFolder();
  buildTree(root, {});
  const base = join(root, "base");
  const config = join(root, "config.yaml");
  writeFileSync(config, JSON.stringify({ base_path: base, max_read_bytes: 200_000 }));
  const files = Array.from({ length: 6 }, (_, index): Written => {
    const by = index % 2 === 0 ? "update" : "overwrite";
    return { name: `${by}-${index}.txt`, by, acknowledged: 0, sent: 0, writes: 0 };
  });
  for (const { name } of files) writeFileSync(join(base, name), bodyOf(0));
  const trees = openTreeWorks(base);
  const engine = await startEngine();
  return {
    engine,
    base,
    files,
    trees,
    async start() {
      const worker = startCoder("source", ["--config", config, "--url", engine.url], {
        env: { CODER_LOG: "debug" },
      });
      await waitForRegistration(engine, worker);
      return worker;
    },
    async close() {
      await engine.stop();
      rmSync(root, { recursive: true });
    },
  };
}

/**
 * Maximum calls of a worker before it is killed: its first ones, while its code is slow, and some later ones.
 */
const maxWrites = 30;
/** Maximum milliseconds between the last counted call and the kill, which is longer than a write takes. */
const maxMilliseconds = 10;

/** Lets a worker write, and kills it shortly after a write or while it has a temporary file. */
async function crash(site: Site, worker: CoderProcess, random: Random): Promise<void> {
  let isOver = false;
  let left = random.below(maxWrites + 1);
  const enough = Promise.withResolvers<void>();
  if (left === 0) enough.resolve();
  const count = () => {
    if (--left === 0) enough.resolve();
  };
  const writers = site.files.map(async (file) => {
    while (!isOver) await writeNext(site.engine, file).then(count, () => undefined);
  });
  const movers = site.trees.map(async (work) => {
    while (!isOver) await work.next(site.engine).then(count, () => undefined);
  });
  // Counts calls instead of time: on a busy machine, the first may take long.
  await Promise.race([enough.promise, worker.exited]);
  await new Promise((resolve) => setTimeout(resolve, random.below(maxMilliseconds)));
  const wantsTemporary = random.chance(0.5);
  while (wantsTemporary && temporariesIn(site.base).length === 0) await new Promise(setImmediate);
  worker.child.kill("SIGKILL");
  isOver = true;
  await worker.exited;
  // A pending call is settled once the engine knows that the worker is gone.
  await Promise.all([...writers, ...movers]);
}

async function writeNext(engine: Engine, file: Written): Promise<void> {
  const version = ++file.sent;
  const content = bodyOf(version);
  const answer = await (file.by === "update"
    ? engine.call("coder::update-file", {
        files: [
          { path: file.name, ops: [{ op: "update_lines", from_line: 1, to_line: linesOfBody, content }] },
        ],
      })
    : engine.call("coder::create-file", { files: [{ path: file.name, content, overwrite: true }] }));
  const [result] = (answer as { results: { success: boolean; error?: string }[] }).results;
  if (!result!.success) throw new Error(result!.error);
  file.acknowledged = version;
  file.writes++;
}

const linesOfBody = 500;

/**
 * Returns a text of about 20 KB with the version in each line, and a checksum of these lines in the last one.
 */
function bodyOf(version: number): string {
  const text = `${String(version).padEnd(40)}\n`.repeat(linesOfBody - 1);
  return `${text}${checksum(text)}\n`;
}

const checksum = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Returns a fault unless a file is whole, no older than its acknowledged version and no newer than the one
 * sent.
 */
function fileFaults(base: string, file: Written): string[] {
  const body = readFileSync(join(base, file.name), "utf8");
  const version = Number.parseInt(body, 10);
  if (body !== bodyOf(version)) return [`${file.name} is torn: it has ${body.length} bytes`];
  const isExpected = version >= file.acknowledged && version <= file.sent;
  return isExpected ? [] : [`${file.name} is ${version}, after ${file.acknowledged} was acknowledged`];
}

const temporariesIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith(".coder-tmp-"));

/** Checks that a worker that has just started shows none of the temporary files and removes them. */
async function sweepFaults(
  site: Site,
  worker: CoderProcess,
  temporaries: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const path of temporaries) {
    const answers = await Promise.allSettled([
      site.engine.call("coder::read-file", { path }),
      site.engine.call("coder::search", { query: "coder-tmp" }),
      site.engine.call("coder::list-folder", {}),
      site.engine.call("coder::tree", {}),
    ]);
    if (answers[0]?.status === "fulfilled") faults.push(`${path} can be read`);
    if (JSON.stringify(answers.slice(1)).includes(".coder-tmp-")) faults.push(`${path} is shown`);
  }
  await worker.waitForStderr(/"swept"/);
  const left = temporariesIn(site.base);
  if (left.length > 0) faults.push(`${left.length} temporary files stay after the sweep`);
  return faults;
}

/** The forms of a transaction to kill. */
const forms = {
  "one base": { asNode: false },
  "one base, without the calls that only Bun has": { asNode: true },
  "two roots": { asNode: false, inRoots: true },
} as const;

/** Kills each form of a transaction, with two jobs at once, and reports the progress on stderr. */
async function killAllForms(
  seed: number,
  points: number | undefined,
): Promise<(KillReport & { form: string })[]> {
  const reports: (KillReport & { form: string })[] = [];
  for (const [form, options] of Object.entries(forms)) {
    const start = performance.now();
    let reported = start;
    const report = await killTransactions({
      ...options,
      seed,
      killedStarts: 1,
      jobs: 2,
      ...(points !== undefined && { points }),
      onPoint({ tried, points: all, faults }) {
        for (const fault of faults) console.error(`${form}: ${fault}`);
        const now = performance.now();
        if (tried < all && now - reported < progressMilliseconds) return;
        reported = now;
        const left = Math.ceil(((now - start) / tried) * (all - tried) * secondsPerMillisecond);
        console.error(`${form}: ${tried} of ${all} kills, about ${left} s left`);
      },
    });
    reports.push({ form, ...report });
  }
  return reports;
}

const progressMilliseconds = 10_000;
const secondsPerMillisecond = 1e-3;

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      kills: { type: "string" },
      seed: { type: "string" },
      transactions: { type: "boolean" },
      points: { type: "string" },
    },
  });
  const seed = Number(values.seed ?? freshSeed());
  const { points = "300" } = values;
  const reports = values.transactions
    ? await killAllForms(seed, points === "all" ? undefined : Number(points))
    : [await runCrashes({ kills: Number(values.kills ?? 300), seed })];
  for (const report of reports) console.log({ seed, ...report });
  process.exitCode = reports.every(({ faults }) => faults.length === 0) ? 0 : 1;
}
