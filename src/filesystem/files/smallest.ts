import { mergeSort, sortChunk } from "../../base/scheduling/merge-sort.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";

/**
 * Collects the `count` smallest of the added items. For a few of very many, each item costs little more than
 * one comparison.
 */
export class Smallest<T> {
  readonly #count: number;
  readonly #isBefore: (one: T, other: T) => boolean;
  #kept: T[] = [];
  /** An item that is not before this bound is not among the smallest. */
  #bound: T | undefined;

  /** Creates a collection. `isBefore` must never be true both ways. */
  constructor(count: number, isBefore: (one: T, other: T) => boolean) {
    this.#count = count;
    this.#isBefore = isBefore;
  }

  add(item: T): void {
    if (this.#bound === undefined || this.#isBefore(item, this.#bound)) this.#kept.push(item);
  }

  /** Drops items that are not among the smallest, if that is worth the work. Call it from time to time. */
  *trim(): Steps<void> {
    if (this.#kept.length >= 2 * this.#count) yield* this.#sort();
  }

  /** Returns all of them, sorted, if that takes one step. */
  fewInOrder(): readonly T[] | undefined {
    const sorted = sortChunk(this.#kept, this.#isBefore);
    return sorted !== undefined && sorted.length > this.#count ? sorted.slice(0, this.#count) : sorted;
  }

  /** Returns all of them, sorted. */
  *inOrder(): Steps<readonly T[]> {
    yield* this.#sort();
    return this.#kept;
  }

  *#sort(): Steps<void> {
    this.#kept = (yield* mergeSort(this.#kept, this.#isBefore)).slice(0, this.#count);
    if (this.#kept.length === this.#count) this.#bound = this.#kept.at(-1);
  }
}
