/**
 * `npm run suite -- storm`: searches and short reads by the compiled worker while git checks out 20,000
 * files, npm and cp unpack packages, and a program of this repository changes 20,000 files. For each storm,
 * prints the indexes that answered, the wrong answers, and the durations of the calls; quiet times before and
 * after show the usual ones. `--index verified` selects that index. `npm ci` needs the packages of this
 * repository in the npm cache.
 */
import { execFile, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause, setImmediate as yieldTurn } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { repository } from "../harness/subject.ts";
import { compareWithScan, readUntil, runPlan, searchUntil, watchProgram } from "./storm.ts";
import { keptBefore, stormTextOf } from "./storm-plan.ts";
import { StormRecord } from "./storm-record.ts";
import { type StormIndex, type StormWorker, startStormWorkers } from "./storm-workers.ts";

/** A program that changes the entries below one folder of the base. */
interface Storm {
  readonly name: string;
  readonly folder: string;
  /** Lines of sh that run in that folder, one after the other. */
  readonly lines: readonly string[];
}

const packages = join(repository, "node_modules");
const npm = "npm ci --offline --ignore-scripts --no-audit --no-fund --loglevel=error";

const storms: readonly Storm[] = [
  {
    name: "git checkout",
    folder: "checkout",
    lines: ["two", "one", "two", "one"].map((branch) => `git checkout -q ${branch}`),
  },
  { name: "npm ci", folder: "package", lines: [npm, npm] },
  { name: "cp -r, rm -r", folder: "copy", lines: [`cp -r '${packages}' packages`, "rm -r packages"] },
];

/** Yields the files of one branch. Half of them are in the other one too, with other lines. */
function* filesOfBranch(branch: string, count: number): Generator<readonly [string, string]> {
  for (let number = 0; number < count; number++) {
    const folder = number % 2 === 0 ? `both/${number % 300}` : `${branch}/${number % 300}`;
    yield [`${folder}/${number}.txt`, stormTextOf(number, branch)];
  }
}

/** Creates a repository with the branches `one`, which is checked out, and `two`. */
async function makeRepository(folder: string, count: number): Promise<void> {
  const settings = ["gc.auto=0", "maintenance.auto=false", "user.name=a", "user.email=a@b"];
  const options = settings.flatMap((setting) => ["-c", setting]);
  const git = (...args: string[]) => promisify(execFile)("git", [...options, ...args], { cwd: folder });
  await git("init", "-q", ".");
  for (const branch of ["two", "one"]) {
    await git("checkout", "-q", "--orphan", branch);
    for (const part of ["both", "one", "two"]) await rm(join(folder, part), { recursive: true, force: true });
    for (const [path, text] of filesOfBranch(branch, count)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      // Lets the engine run, which is in this process.
      await yieldTurn();
    }
    await git("add", "-A");
    await git("commit", "-qm", branch);
  }
  await git("gc", "-q");
}

async function makeFolders(base: string, count: number): Promise<void> {
  for (const { folder } of storms) mkdirSync(join(base, folder));
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(repository, file), join(base, "package", file));
  await makeRepository(join(base, "checkout"), count);
}

/** Searches and reads until `work`, which changes files below `folder`, has ended. */
async function besides(
  worker: StormWorker,
  record: StormRecord,
  folder: string,
  work: Promise<void>,
): Promise<void> {
  // Files of the checkout may have the lines of either branch.
  const isTouched = (path: string) => path.startsWith(`${folder}/`) || path.startsWith("checkout/");
  const expected = { begin: () => undefined, end: () => ({ files: keptBefore(), isTouched }) };
  let hasEnded = false;
  const isOver = () => hasEnded;
  const ended = work.finally(() => {
    hasEnded = true;
  });
  await Promise.all([
    ended,
    searchUntil(worker, expected, record, isOver),
    readUntil(worker, record, isOver),
  ]);
}

async function runForeign({ folder, lines }: Storm, worker: StormWorker, scan: StormWorker) {
  const record = new StormRecord();
  for (const line of lines) {
    const cwd = join(worker.base, folder);
    const program = watchProgram(spawn("sh", ["-c", line], { cwd, stdio: ["ignore", "ignore", "inherit"] }));
    await besides(worker, record, folder, program.ended);
    await compareWithScan(worker, scan, record);
  }
  return record;
}

function summaryOf(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return [at(0.5), at(0.99), at(1)].map((value) => value?.toFixed(1) ?? "-").join(" / ");
}

/** Returns the number of times that the worker has lost events, from its log. */
const overflowsOf = ({ served }: StormWorker): number =>
  served.worker.stderr().split('"overflow"').length - 1;

function print(name: string, record: StormRecord, overflows: number): void {
  const { searches, faults, reads, times } = record;
  console.log({
    storm: name,
    searches: { ...searches },
    reads,
    wrong: faults.length,
    overflows,
    "read, ms: p50 / p99 / most": summaryOf(times.read),
    "search, ms: p50 / p99 / most": summaryOf(times.search),
  });
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
}

/** Searches and reads for some seconds without a storm. */
async function runQuiet(worker: StormWorker, seconds: number): Promise<StormRecord> {
  const record = new StormRecord();
  await besides(worker, record, "checkout", pause(1000 * seconds));
  return record;
}

async function runOwn(count: number, worker: StormWorker, scan: StormWorker): Promise<StormRecord> {
  const record = new StormRecord();
  await runPlan({ files: count, rounds: 1 }, [worker], record);
  await compareWithScan(worker, scan, record);
  return record;
}

async function runAll(worker: StormWorker, scan: StormWorker, count: number): Promise<void> {
  const run = async (name: string, storm: () => Promise<StormRecord>) => {
    const before = overflowsOf(worker);
    print(name, await storm(), overflowsOf(worker) - before);
  };
  const quietSeconds = 10;
  await makeFolders(worker.base, count);
  await worker.untilIndexed();
  await run("none", () => runQuiet(worker, quietSeconds));
  for (const storm of storms) await run(storm.name, () => runForeign(storm, worker, scan));
  await run(`${count} files of a program of ours`, () => runOwn(count, worker, scan));
  await run("none, at the end", () => runQuiet(worker, quietSeconds));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      files: { type: "string", default: "20000" },
      index: { type: "string", default: "watched" },
    },
  });
  const index = values.index as StormIndex;
  const workers = await startStormWorkers("executable", keptBefore(), [index]);
  const [scan, worker] = workers as [StormWorker, StormWorker];
  try {
    await runAll(worker, scan, Number(values.files));
  } finally {
    for (const { served } of workers.reverse()) await served.stop();
  }
}

if (import.meta.main) {
  await main();
  process.exit();
}
