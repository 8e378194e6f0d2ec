/**
 * Compares the stamps of all files with the index while no search of them is under way, so that the next one
 * need not.
 */
import { deadlineIn, unlessOver } from "../base/scheduling/deadline.ts";
import type { SearchIndex } from "./index/search-index.ts";
import type { SearchRequest } from "./request.ts";
import type { PartialSearch } from "./state.ts";

/** Maximum milliseconds of a comparison. A million files take some ten seconds. */
const maxMilliseconds = 60_000;
/** Maximum milliseconds that a search waits for it. */
const maxWait = 1000;

export class StampComparison {
  readonly #index: SearchIndex;
  readonly #compare: (options: PartialSearch) => Promise<void>;
  #ending = new AbortController();
  #running: Promise<void> | undefined;

  /** `compare` compares the stamps of all files of a search. */
  constructor(index: SearchIndex, compare: (options: PartialSearch) => Promise<void>) {
    this.#index = index;
    this.#compare = compare;
  }

  /** Watches the tree, and compares the stamps of all files of the search. Never rejects. */
  async run(request: SearchRequest): Promise<void> {
    if (this.#running === undefined) {
      this.#ending = new AbortController();
      // A search will meet and report any error.
      const running = this.#run(request).catch(() => {});
      this.#running = running.finally(() => {
        this.#running = undefined;
      });
    }
    await this.#running;
  }

  async #run(request: SearchRequest): Promise<void> {
    const deadline = deadlineIn(maxMilliseconds, this.#ending.signal);
    try {
      const isWatched = await unlessOver(this.#index.watch(), deadline);
      if (isWatched === true) await this.#compare({ request, walker: { deadline } });
    } finally {
      deadline.end();
    }
  }

  /** Ends it, after a moment, because a search begins that would have to compare the stamps itself. */
  async endSoon(): Promise<void> {
    if (this.#running !== undefined) {
      const patience = deadlineIn(maxWait);
      await unlessOver(this.#running, patience);
      patience.end();
    }
    await this.end();
  }

  /** Ends it, and resolves once no thread compares stamps. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }
}
