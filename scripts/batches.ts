/**
 * Divides test files into batches of about equal length, by the seconds that each file took in the last
 * measurement.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Seconds by the path of a test file, followed by `@` and the name of a backend for a run on that backend.
 */
export type Seconds = Readonly<Record<string, number>>;

const secondsFile = "scripts/test-seconds.json";

/** Reads the seconds of the last measurement. */
export function readSeconds(root: string): Seconds {
  const path = join(root, secondsFile);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Seconds) : {};
}

/** Replaces the seconds of the last measurement. */
export function writeSeconds(root: string, measured: Seconds): void {
  const sorted = Object.entries(measured)
    .map(([path, seconds]) => [path, Math.round(seconds * 10) / 10] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(join(root, secondsFile), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/**
 * Returns the seconds that a file took. A file that has not been measured yet is assumed to take as long as
 * the average file in its folder, or in the nearest folder above that has measured files.
 */
export function secondsOf(key: string, seconds: Seconds): number {
  const known = seconds[key];
  if (known !== undefined) return known;
  for (let folder = dirname(key); ; folder = dirname(folder)) {
    const near = Object.keys(seconds).filter((other) => folder === "." || other.startsWith(`${folder}/`));
    if (near.length > 0) return near.reduce((sum, other) => sum + seconds[other]!, 0) / near.length;
    if (folder === ".") return 1;
  }
}

export interface Batch {
  readonly files: readonly string[];
  readonly seconds: number;
}

/**
 * The seconds that a batch should take. Each batch costs the start of a process, and long ones leave a
 * processor idle at the end.
 */
const batchSeconds = 40;

/**
 * Distributes the files over batches, the longest files first, each into the batch that is currently the
 * shortest.
 */
export function batchesOf(files: readonly string[], seconds: Seconds): Batch[] {
  const cost = (file: string) => secondsOf(file, seconds);
  const total = files.reduce((sum, file) => sum + cost(file), 0);
  const batches = Array.from(
    { length: Math.min(files.length, Math.max(1, Math.ceil(total / batchSeconds))) },
    () => ({
      files: [] as string[],
      seconds: 0,
    }),
  );
  for (const file of files.toSorted((one, other) => cost(other) - cost(one))) {
    const shortest = batches.reduce((best, batch) => (batch.seconds < best.seconds ? batch : best));
    shortest.files.push(file);
    shortest.seconds += cost(file);
  }
  return batches;
}

/**
 * Divides the files, in their order, into batches of at most `maxSeconds` or of a single file. The first
 * batches have the first files.
 */
export function batchesInOrder(files: readonly string[], seconds: Seconds, maxSeconds: number): Batch[] {
  const batches: { files: string[]; seconds: number }[] = [];
  for (const file of files) {
    const cost = secondsOf(file, seconds);
    const last = batches.at(-1);
    if (last !== undefined && last.seconds + cost <= maxSeconds) {
      last.files.push(file);
      last.seconds += cost;
    } else batches.push({ files: [file], seconds: cost });
  }
  return batches;
}

/**
 * Takes items in order while their cost fits into `budget` seconds. An item that does not fit is passed over.
 */
export function withinBudget<T>(items: readonly T[], costOf: (item: T) => number, budget: number): T[] {
  let left = budget;
  return items.filter((item) => {
    const cost = costOf(item);
    if (cost > left) return false;
    left -= cost;
    return true;
  });
}
