/** What became of the files of a search. */

/** The contents of a file: their bytes, or one of these. */
export const outcomes = { notReached: -1, gone: -2, tooLarge: -3, binary: -4, unreadable: -5 } as const;

/** For the files of a batch, of which none is searched. */
export const createOutcomes = (count: number): Float64Array =>
  new Float64Array(count).fill(outcomes.notReached);

/** Counts; nothing that is denied is in any of them. */
export class Tally {
  readonly searched = { files: 0, bytes: 0 };
  readonly skipped = { too_large: 0, binary: 0, unreadable: 0 };

  /** Counts the first `count` files of a batch. */
  add(batch: Float64Array, count: number): void {
    for (const outcome of batch.subarray(0, count)) this.#addFile(outcome);
  }

  #addFile(outcome: number): void {
    if (outcome >= 0) {
      this.searched.files++;
      this.searched.bytes += outcome;
    } else if (outcome === outcomes.tooLarge) this.skipped.too_large++;
    else if (outcome === outcomes.binary) this.skipped.binary++;
    else if (outcome === outcomes.unreadable) this.skipped.unreadable++;
  }
}
