import { type HunkPlace, refusePatch } from "./errors.ts";

/** Of lines, for the hunks of one file: about a second of work. */
export const mostComparisons = 2 ** 26;

/** Bounds the search for the places of hunks, of which each may look at all lines of the file. */
export class Comparisons {
  #left = mostComparisons;

  /** Throws the refusal of the hunk once there were too many. */
  add(count: number, place: HunkPlace): void {
    this.#left -= count;
    if (this.#left < 0) throw refusePatch.tooManyComparisons(place, mostComparisons);
  }
}
