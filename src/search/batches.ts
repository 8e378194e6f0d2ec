import { openerOf } from "../files/file-buffer.ts";
import type { BatchFile } from "./files.ts";
import type { Run } from "./walk.ts";

/** Folders that a batch holds open, at most. */
const mostRuns = 32;

/** Files that are searched together, in the order of their paths. Their folders are held until `release`. */
export class Batch {
  readonly runs: readonly Run[];

  constructor(runs: readonly Run[]) {
    this.runs = runs;
  }

  /** Whether there is nothing to search in it: the walk made a pause before it came to a file. */
  get isEmpty(): boolean {
    return this.runs.every(({ files }) => files.length === 0);
  }

  files(): BatchFile[] {
    return this.runs.flatMap(({ folder, files }) => {
      const open = openerOf(folder.folder);
      return files.map(({ entry, path }) => ({ open, name: entry.raw, path }));
    });
  }

  pathOf(index: number): string {
    let rest = index;
    for (const { files } of this.runs) {
      const found = files[rest];
      if (found !== undefined) return found.path;
      rest -= files.length;
    }
    throw new Error("a finding names a file that is not in its batch");
  }

  release(): void {
    for (const { folder } of this.runs) folder.release();
  }
}

/** Takes runs from the walk until they hold `files` files, or it makes a pause; undefined when there are no more. */
export function takeBatch(runs: Iterator<Run>, files: number): Batch | undefined {
  const taken: Run[] = [];
  for (let count = 0; count < files && taken.length < mostRuns; ) {
    const { value: run, done } = runs.next();
    if (done) break;
    taken.push(run);
    count += run.files.length;
    if (run.files.length === 0) break;
  }
  return taken.length === 0 ? undefined : new Batch(taken);
}
