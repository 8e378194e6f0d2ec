import { openerOf } from "../files/file-buffer.ts";
import type { FilesOfFolder } from "./files.ts";
import { prefixOf, type Run } from "./walk.ts";

/** What the batches of all searches hold open together. */
export interface Holdings {
  folders: number;
}

/** Files that are searched together, in the order of their paths. Their folders are held until `release`. */
export class Batch {
  readonly runs: readonly Run[];
  readonly #held: Holdings;
  #isReleased = false;

  constructor(runs: readonly Run[], held: Holdings) {
    this.runs = runs;
    this.#held = held;
    held.folders += runs.length;
  }

  /** Whether there is nothing to search in it: the walk made a pause before it came to a file. */
  get isEmpty(): boolean {
    return this.runs.every(({ names }) => names.length === 0);
  }

  files(): FilesOfFolder[] {
    return this.runs.map(({ folder, names }) => ({
      open: openerOf(folder.folder),
      prefix: prefixOf(folder),
      names,
    }));
  }

  pathOf(index: number): string {
    let rest = index;
    for (const { folder, names } of this.runs) {
      const name = names[rest];
      if (name !== undefined) return prefixOf(folder) + name.toString();
      rest -= names.length;
    }
    throw new Error("a finding names a file that is not in its batch");
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#held.folders -= this.runs.length;
    for (const { folder } of this.runs) folder.release();
  }
}

/** How much a batch may be: of files a few more when the last of its folders has more. Each folder is held open. */
export interface BatchSize {
  readonly files: number;
  readonly folders: number;
}

/** Takes runs from the walk until the batch is full, or the walk makes a pause; undefined when there are no more. */
export function takeBatch(
  runs: Iterator<Run>,
  { files, folders }: BatchSize,
  held: Holdings,
): Batch | undefined {
  const taken: Run[] = [];
  try {
    for (let count = 0; count < files && taken.length < folders; ) {
      const { value: run, done } = runs.next();
      if (done) break;
      taken.push(run);
      count += run.names.length;
      if (run.names.length === 0) break;
    }
  } catch (error) {
    new Batch(taken, held).release();
    throw error;
  }
  return taken.length === 0 ? undefined : new Batch(taken, held);
}
