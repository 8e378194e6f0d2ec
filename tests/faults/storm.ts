/**
 * Searches while another program changes thousands of files. Each answer is compared with the known content
 * of the disk: a file that no step touched during the search must be found exactly where it matches.
 * `npm run suite -- storm` adds storms of git and npm.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Subject } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import {
  keptBefore,
  lineOf,
  queryOf,
  StormModel,
  type StormPlan,
  type UntouchedFiles,
} from "./storm-plan.ts";
import { StormRecord, type StormReport } from "./storm-record.ts";
import { type StormAnswer, type StormQuery, type StormWorker, startStormWorkers } from "./storm-workers.ts";

/**
 * Runs the plan in a separate program while a worker for each index searches and reads. Repeats until each
 * index has answered `least` searches.
 */
export async function runStorm(subject: Subject, plan: StormPlan, least: number): Promise<StormReport> {
  const workers = await startStormWorkers(subject, keptBefore());
  const [scan, ...indexed] = workers;
  const record = new StormRecord();
  const isEnough = ({ index }: StormWorker) => (record.searches[`${index}: ${index}`] ?? 0) >= least;
  try {
    for (const worker of indexed) await worker.untilIndexed();
    do {
      await runPlan(plan, indexed, record);
      for (const worker of indexed) await compareWithScan(worker, scan!, record);
    } while (record.faults.length === 0 && !indexed.every(isEnough));
  } finally {
    for (const worker of workers.reverse()) await worker.served.stop();
  }
  return record;
}

export async function runPlan(
  plan: StormPlan,
  workers: readonly StormWorker[],
  record: StormRecord,
): Promise<void> {
  const progress = new Progress();
  const args = [workers[0]!.base, progress.path, plan.files, plan.rounds].map(String);
  const file = join(import.meta.dirname, "storm-writer.ts");
  const writer = watchProgram(spawn(process.execPath, [file, ...args], { stdio: "inherit" }));
  const isOver = () => writer.isOver;
  await Promise.all([
    writer.ended,
    ...workers.map((worker) => searchUntil(worker, expectedByPlan(plan, progress), record, isOver)),
    ...workers.map((worker) => readUntil(worker, record, isOver)),
  ]);
  progress.close();
}

/** Returns queries that find the files of one kind. */
const queriesOf = (kind: number): StormQuery[] => [
  { query: queryOf(kind) },
  { query: queryOf(kind).toUpperCase(), ignore_case: true },
  { query: `${queryOf(kind)} \\d+, \\w`, regex: true },
];

/** The progress of the writer, which writes it to a file. */
class Progress {
  readonly #folder = temporaryFolder();
  readonly path = join(this.#folder, "progress");
  readonly #descriptor: number;
  readonly #started = new Uint32Array(1);

  constructor() {
    writeFileSync(this.path, new Uint8Array(4));
    this.#descriptor = openSync(this.path, "r");
  }

  /** The number of started steps. All but the last are finished. */
  get started(): number {
    readSync(this.#descriptor, this.#started, 0, 4, 0);
    return this.#started[0]!;
  }

  close(): void {
    closeSync(this.#descriptor);
    rmSync(this.#folder, { recursive: true });
  }
}

/** The files that the answer of a search is compared with. */
export interface ExpectedFiles {
  /** Marks the start of a search. */
  begin(): void;
  /** Marks the end of the search, and returns the files that nothing has touched since its start. */
  end(): UntouchedFiles;
}

const expectedByPlan = (plan: StormPlan, progress: Progress): ExpectedFiles => {
  const model = new StormModel(plan);
  return {
    begin: () => model.advance(Math.max(0, progress.started - 1)),
    end() {
      const { files, isTouched } = model.untouchedUntil(progress.started);
      // Other storms have left files in other folders.
      return { files, isTouched: (path) => isTouched(path) || !/^(kept|storm)\//.test(path) };
    },
  };
};

/** Milliseconds between two searches of one caller. The index takes up files only while no search runs. */
const thinkMilliseconds = 10;

export async function searchUntil(
  worker: StormWorker,
  expected: ExpectedFiles,
  record: StormRecord,
  isOver: () => boolean,
): Promise<void> {
  for (let count = 0; !isOver() && record.faults.length < 5; count++) {
    const kind = count % 20;
    const query = queriesOf(kind)[count % 3]!;
    expected.begin();
    const answer = await record.time("search", worker.search(query));
    const { files, isTouched } = expected.end();
    record.count(worker.index, answer);
    const what = `${worker.index}, ${answer.index}, ${query.query}`;
    record.compare(what, foundIn(answer, isTouched), matchesIn(files, kind));
    for (const { path, text } of answer.content_matches) {
      const number = /(\d+)\.txt$/.exec(path)?.[1];
      if (number === undefined || !text.startsWith(lineOf(Number(number), "")))
        record.faults.push(`${what}: ${path} never had the line ${text}`);
    }
    await pause(thinkMilliseconds);
  }
}

const foundIn = ({ content_matches }: StormAnswer, isLeftOut: (path: string) => boolean): string[] =>
  content_matches
    .filter(({ path }) => !isLeftOut(path))
    .map(({ path, text }) => `${path}: ${text}`)
    .sort();

/** Returns the matches of a search for this kind in these files. */
const matchesIn = (files: ReadonlyMap<string, string>, kind: number): string[] =>
  [...files]
    .map(([path, text]) => `${path}: ${text.split("\n")[2]}`)
    .filter((line) => line.includes(`: ${queryOf(kind)} `))
    .sort();

export async function readUntil(
  worker: StormWorker,
  record: StormRecord,
  isOver: () => boolean,
): Promise<void> {
  for (; !isOver(); record.reads++) await record.time("read", worker.readShort());
}

/**
 * Compares the index with a scan, byte for byte, after all changes: before the worker has caught up, and
 * after.
 */
export async function compareWithScan(
  worker: StormWorker,
  scan: StormWorker,
  record: StormRecord,
): Promise<void> {
  const compareAll = async () => {
    for (let kind = 0; kind < 20; kind += 4) {
      const query = queriesOf(kind)[kind % 3]!;
      const [found, expected] = [await worker.search(query), await scan.search(query)];
      const [own, its] = [found, expected].map((answer) => JSON.stringify({ ...answer, index: undefined }));
      if (own !== its)
        record.faults.push(`${worker.index}, at the end, ${query.query}: ${own} and not ${its}`);
    }
  };
  await compareAll();
  await worker.untilIndexed();
  await compareAll();
}

/** A program that runs during the test. */
interface RunningProgram {
  readonly isOver: boolean;
  /** Rejects if the program does not start or ends with an error. */
  readonly ended: Promise<void>;
}

export function watchProgram(child: ChildProcess): RunningProgram {
  const program = { isOver: false, ended: Promise.resolve() };
  program.ended = new Promise((resolve, reject) => {
    child.once("error", reject).once("exit", (code, signal) => {
      program.isOver = true;
      if (code === 0) resolve();
      else reject(new Error(`a program of the storm ended: ${signal ?? code}`));
    });
  });
  return program;
}
