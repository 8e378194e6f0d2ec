/** Prepares searches while none is under way: the first of a process, and the next once files are indexed. */
import type { Pool } from "../base/threads/pool.ts";
import type { SearchJob, ThreadReply } from "./batches/job.ts";
import { isHelped, type SearchIndex } from "./index/search-index.ts";
import type { Found, SearchRequest } from "./request.ts";
import { StampComparison } from "./stamp-comparison.ts";
import type { PartialSearch } from "./state.ts";
import { type UsualFields, WarmUp } from "./warm-up.ts";

export interface PreparationParts {
  readonly search: (options: PartialSearch) => Promise<Found>;
  /** Compares the stamps of all files of a search with the index. */
  readonly compare: (options: PartialSearch) => Promise<void>;
  readonly pool: Pool<SearchJob, ThreadReply> | undefined;
  readonly index: SearchIndex | undefined;
}

/** A search that begins or has ended. */
export interface PreparedSearch {
  readonly request: SearchRequest;
  /** Whether it is one of the whole tree. */
  readonly isOfAll: boolean;
}

/**
 * Milliseconds after the last change before stamps are compared. Programs make folders in quick succession.
 */
const settledAfter = 200;
/** Milliseconds after a search during which the next one is expected soon. */
const expectedFor = 60_000;
/** The rest after a comparison, as a multiple of its time. */
const restFactor = 10;

export class Preparation {
  readonly #indexed: { readonly index: SearchIndex; readonly comparison: StampComparison } | undefined;
  readonly #warmUp: WarmUp;
  #searching = 0;
  #isClosed = false;
  /** The last search of the whole tree that the index helped, and the time of its end. */
  #last: { readonly request: SearchRequest; readonly endedAt: number } | undefined;
  /** The delay before stamps are compared, and the time before which they are not. */
  #settling: ReturnType<typeof setTimeout> | undefined;
  #restsUntil = 0;

  constructor({ search, compare, pool, index }: PreparationParts) {
    this.#indexed = index && { index, comparison: new StampComparison(index, compare) };
    this.#warmUp = new WarmUp({ search, pool, indexed: this.#indexed });
    if (index !== undefined) index.onDistrusted = () => this.#compareSoon();
  }

  /** Implements `Searcher.warmUp`. */
  warmUp(fields: UsualFields): Promise<void> {
    return this.#warmUp.run(fields);
  }

  /**
   * Called when a search begins. Ends what prepares searches, unless later ones gain more by it than this one
   * loses, and loads the index.
   */
  async begin({ request, isOfAll }: PreparedSearch): Promise<void> {
    this.#searching++;
    const { index, comparison } = this.#indexed ?? {};
    index?.pause();
    if (request.content) {
      if (!isHelped(request)) await comparison?.end();
      // The search would compare these stamps itself.
      else if (isOfAll) await comparison?.endSoon();
    }
    await this.#warmUp.end();
    if (index?.isLoaded === false) await index.load();
  }

  /** Called when the search has ended. */
  end({ request, isOfAll }: PreparedSearch): void {
    this.#searching--;
    this.#indexed?.index.resume(this.#searching === 0);
    if (!isOfAll || !isHelped(request)) return;
    this.#last = { request, endedAt: performance.now() };
    void this.#compareWhenFilled(request);
  }

  async #compareWhenFilled(request: SearchRequest): Promise<void> {
    if (this.#indexed === undefined) return;
    const { index, comparison } = this.#indexed;
    await index.filled();
    if (this.#searching > 0 || this.#isClosed || index.isConfirmed) return;
    const started = performance.now();
    await comparison.run(request);
    const now = performance.now();
    this.#restsUntil = now + restFactor * (now - started);
    if (!index.isConfirmed && this.#searching === 0) this.#compareSoon();
  }

  /** Compares stamps once programs have finished making changes, if a search is expected soon. */
  #compareSoon(): void {
    clearTimeout(this.#settling);
    if (this.#isClosed || this.#last === undefined) return;
    const { request, endedAt } = this.#last;
    const now = performance.now();
    if (now - endedAt > expectedFor) return;
    const delay = Math.max(settledAfter, this.#restsUntil - now);
    this.#settling = setTimeout(() => void this.#compareWhenFilled(request), delay).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#settling);
    void this.#warmUp.end();
    void this.#indexed?.comparison.end();
    this.#indexed?.index.close();
  }
}
