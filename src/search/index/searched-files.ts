import { createOutcomes, type PassedOver } from "../walk/tally.ts";
import type { FileResult } from "./kept-results.ts";
import { basePathAt, type WalkList, walkedAt } from "./walk-list.ts";

export interface SearchedFilesOptions {
  readonly list: WalkList;
  /** The index of each file in the list. */
  readonly entries: readonly number[];
  readonly results: readonly FileResult[];
  /** The entries that the walk had passed over before each file. */
  readonly passedOver: readonly PassedOver[];
}

/**
 * Files in path order whose results are known from earlier searches. Stands for a batch of files, and opens
 * none of them.
 */
export class SearchedFiles {
  readonly isEmpty = false;
  readonly #options: SearchedFilesOptions;

  constructor(options: SearchedFilesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#options.entries.length;
  }

  get results(): readonly FileResult[] {
    return this.#options.results;
  }

  /** Returns the outcomes of the files, as a search for a page needs them. */
  outcomes(): Float64Array {
    const record = createOutcomes(this.count);
    this.results.forEach(({ outcome }, index) => {
      record[index] = outcome;
    });
    return record;
  }

  /** Implements `Batch.pathOf`. */
  pathOf(index: number): string {
    return basePathAt(this.#options.list, this.#options.entries[index]!);
  }

  /** Implements `Batch.walkedPathOf`. */
  walkedPathOf(index: number): string {
    return walkedAt(this.#options.list, this.#options.entries[index]!);
  }

  /** Implements `Batch.passedOverBefore`. */
  passedOverBefore(index: number): PassedOver {
    return this.#options.passedOver[index]!;
  }
}
