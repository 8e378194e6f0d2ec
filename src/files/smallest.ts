import { mergeSort, sortChunk } from "../scheduling/merge-sort.ts";
import type { Steps } from "../scheduling/time-slice.ts";

/** The `count` smallest of the items that are added. Few of very many cost little more than looking at each. */
export class Smallest<T> {
  readonly #count: number;
  readonly #isBefore: (one: T, other: T) => boolean;
  #kept: T[] = [];
  /** What is not before this is not among them. */
  #bound: T | undefined;

  /** `isBefore` must never be true both ways. */
  constructor(count: number, isBefore: (one: T, other: T) => boolean) {
    this.#count = count;
    this.#isBefore = isBefore;
  }

  add(item: T): void {
    if (this.#bound === undefined || this.#isBefore(item, this.#bound)) this.#kept.push(item);
  }

  /** Forgets what is not among them, when that is worth the work. To be called now and then. */
  *trim(): Steps<void> {
    if (this.#kept.length >= 2 * this.#count) yield* this.#sort();
  }

  /** All of them, sorted, if that takes one step. */
  fewInOrder(): readonly T[] | undefined {
    const sorted = sortChunk(this.#kept, this.#isBefore);
    return sorted !== undefined && sorted.length > this.#count ? sorted.slice(0, this.#count) : sorted;
  }

  /** All of them, sorted. */
  *inOrder(): Steps<readonly T[]> {
    yield* this.#sort();
    return this.#kept;
  }

  *#sort(): Steps<void> {
    this.#kept = (yield* mergeSort(this.#kept, this.#isBefore)).slice(0, this.#count);
    if (this.#kept.length === this.#count) this.#bound = this.#kept.at(-1);
  }
}
