import { type HunkReference, refusePatch } from "./patch-errors.ts";

/** Maximum line comparisons for the hunks of one file, about one second of work. */
export const maxComparisons = 2 ** 26;

/** Bounds the search for the places of hunks, each of which may be compared with all lines of the file. */
export class Comparisons {
  #left = maxComparisons;

  /** Counts comparisons. Throws the refusal of the hunk once there are too many. */
  add(count: number, place: HunkReference): void {
    this.#left -= count;
    if (this.#left < 0) throw refusePatch.tooManyComparisons(place, maxComparisons);
  }
}
