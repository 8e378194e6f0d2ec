import type { FeedChange, FoundChange } from "./change.ts";

/** Maximum changes that are kept, and maximum characters of their paths. */
export const maxKept = { changes: 16_384, characters: 4 * 1024 * 1024 } as const;

/** Keeps the newest changes, each with its number. */
export class ChangeRing {
  readonly #changes: FeedChange[] = [];
  readonly #most: { readonly changes: number; readonly characters: number };
  #characters = 0;
  /** The number of the oldest change that is kept. */
  #first = 1;
  /** The number of the newest change, or 0 before the first. */
  newest = 0;

  constructor(most: { readonly changes: number; readonly characters: number } = maxKept) {
    this.#most = most;
  }

  add(found: FoundChange): void {
    const { changes, characters } = this.#most;
    if (this.newest - this.#first + 1 === changes) this.#dropOldest();
    this.newest++;
    this.#changes[this.newest % changes] = { ...found, seq: this.newest };
    this.#characters += lengthOf(found);
    while (this.#characters > characters && this.#first < this.newest) this.#dropOldest();
  }

  /** Returns whether this number exists and every later change is kept. */
  follows(seq: number): boolean {
    return seq >= this.#first - 1 && seq <= this.newest;
  }

  /** Returns the change of this number, which must be kept. */
  at(seq: number): FeedChange {
    return this.#changes[seq % this.#most.changes]!;
  }

  #dropOldest(): void {
    this.#characters -= lengthOf(this.at(this.#first));
    this.#first++;
  }
}

const lengthOf = ({ path, from = "" }: FoundChange): number => path.length + from.length;
