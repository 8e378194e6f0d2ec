/**
 * Searches while another program changes thousands of files, each compared with what must have been on the disk: a file that no
 * step touched while the search ran is found exactly where it matches. `npm run suite -- storm` does so with git and npm too.
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
 * Runs the plan in a program of its own, beside searches and reads by a worker for each index; again until each index was of use for
 * `least` of the searches.
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

/** Kinds of queries for the files of one kind. */
const queriesOf = (kind: number): StormQuery[] => [
  { query: queryOf(kind) },
  { query: queryOf(kind).toUpperCase(), ignore_case: true },
  { query: `${queryOf(kind)} \\d+, \\w`, regex: true },
];

/** How far the writer is, which it says in a file. */
class Progress {
  readonly #folder = temporaryFolder();
  readonly path = join(this.#folder, "progress");
  readonly #descriptor: number;
  readonly #started = new Uint32Array(1);

  constructor() {
    writeFileSync(this.path, new Uint8Array(4));
    this.#descriptor = openSync(this.path, "r");
  }

  /** Steps that have been started: all but the last of them are done. */
  get started(): number {
    readSync(this.#descriptor, this.#started, 0, 4, 0);
    return this.#started[0]!;
  }

  close(): void {
    closeSync(this.#descriptor);
    rmSync(this.#folder, { recursive: true });
  }
}

/** What a search may be compared with. */
export interface ExpectedFiles {
  /** A search is about to begin. */
  begin(): void;
  /** It has ended: the files that nothing has touched meanwhile, by their paths. */
  end(): UntouchedFiles;
}

const expectedByPlan = (plan: StormPlan, progress: Progress): ExpectedFiles => {
  const model = new StormModel(plan);
  return {
    begin: () => model.advance(Math.max(0, progress.started - 1)),
    end() {
      const { files, isTouched } = model.untouchedUntil(progress.started);
      // Other storms have left files there.
      return { files, isTouched: (path) => isTouched(path) || !/^(kept|storm)\//.test(path) };
    },
  };
};

/** Between two searches of one caller, as all have it: the index gets to know files while no search runs. */
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

/** What a search for this kind finds in these files. */
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

/** Nothing changes any more: the index must answer as a scan, byte for byte, before the worker has found its way back and after. */
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

/** A program that runs beside the test. */
interface RunningProgram {
  readonly isOver: boolean;
  /** Rejects when it fails. */
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
