/**
 * Searches for nothing before the first search of a client, which then finds code that is compiled, threads
 * that have started, and the index that an earlier process saved.
 */
import { deadlineIn, unlessOver } from "../base/scheduling/deadline.ts";
import type { Walker } from "../base/scheduling/walk-slice.ts";
import type { Pool } from "../base/threads/pool.ts";
import type { SearchJob, ThreadReply } from "./batches/job.ts";
import type { SearchIndex } from "./index/search-index.ts";
import type { Found, SearchRequest } from "./request.ts";
import type { StampComparison } from "./stamp-comparison.ts";
import type { LeftOut, PartialSearch } from "./state.ts";

/** The fields of a caller's usual request. */
export type UsualFields = Pick<SearchRequest, "lines" | "ignoreFiles" | "defaultExcludes" | "maxFileBytes">;

export interface WarmUpParts {
  readonly search: (options: PartialSearch) => Promise<Found>;
  readonly pool: Pick<Pool<SearchJob, ThreadReply>, "prepare" | "ready"> | undefined;
  readonly indexed: WarmUpIndex | undefined;
}

export interface WarmUpIndex {
  readonly index: SearchIndex;
  readonly comparison: StampComparison;
}

/** The number of files that are read. Reading more, perhaps over a network, is for callers to decide. */
const readFiles = 100;
/** The number of searches in them that compile most code, in this thread and in others. */
const searchesHere = 10;
const searchesInThreads = 20;
/** The number of searches by the index that compile most of their code. */
const searchesByIndex = 5;
/** The number of files that threads search faster than one does. */
const manyFiles = 4000;
/** Maximum files that are watched for a search that may never come. Each takes about 430 bytes. */
const maxIndexedFiles = 100_000;
/** Maximum milliseconds of each step. */
const maxMilliseconds = 5000;

/** A query with n-grams that no text has. */
const query = { pattern: "\u0001warm\u0002up\u0003", regex: false, ignoreCase: false };

export class WarmUp {
  readonly #parts: WarmUpParts;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;

  constructor(parts: WarmUpParts) {
    this.#parts = parts;
  }

  /** Runs it, once, unless a search has begun. */
  async run(fields: UsualFields): Promise<void> {
    if (this.#running !== undefined || this.#hasEnded) return;
    // A search will meet and report any error.
    this.#running = this.#run(requestOf(fields)).catch(() => {});
    await this.#running;
  }

  /** Ends it for good, because a search begins or the searcher closes. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  get #hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  async #run(request: SearchRequest): Promise<void> {
    const { indexed, pool } = this.#parts;
    await indexed?.index.load();
    if (indexed !== undefined && indexed.index.files > 0) return await this.#follow(indexed, request);
    await this.#repeat(searchesHere, request, { index: true, threads: true });
    if (pool === undefined || !(await this.#hasManyFiles(request)) || this.#hasEnded) return;
    pool.prepare();
    await this.#whileIdle((deadline) => unlessOver(pool.ready(), deadline));
    await this.#repeat(searchesInThreads, request, { index: true });
  }

  /** Lists files without reading them, until they are many. */
  async #hasManyFiles(usual: SearchRequest): Promise<boolean> {
    const everyPath = { ...query, pattern: "" };
    const limits = { maxMatches: manyFiles, maxAnswerBytes: Number.POSITIVE_INFINITY, page: undefined };
    const request = { ...usual, ...limits, query: everyPath, content: false, paths: true };
    const { answer } = await this.#whileIdle((deadline) =>
      this.#parts.search({ request, walker: { deadline }, leftOut: { index: true } }),
    );
    return answer.truncated;
  }

  async #repeat(times: number, request: SearchRequest, leftOut: LeftOut): Promise<void> {
    for (let left = times; left > 0 && !this.#hasEnded; left--)
      await this.#search(request, leftOut, readFiles);
  }

  /** Watches the tree, so that searches read few stamps. Then compiles the code of such searches. */
  async #follow({ index, comparison }: WarmUpIndex, request: SearchRequest): Promise<void> {
    if (index.files > maxIndexedFiles) return;
    if (index.comparesInThreads) this.#parts.pool?.prepare();
    // A search that ends the warm-up may go on beside the comparison.
    await this.#whileIdle((deadline) => unlessOver(comparison.run(request), deadline));
    await this.#repeat(searchesHere, request, { index: true, threads: true });
    // A search without the watched tree compares all stamps itself.
    const times = index.mode === "watched" ? searchesByIndex : 1;
    for (let left = times; left > 0 && !this.#hasEnded; left--)
      await this.#search(request, {}, Number.POSITIVE_INFINITY);
  }

  /** Searches until about `files` files were read. */
  async #search(request: SearchRequest, leftOut: LeftOut, files: number): Promise<void> {
    const enough = new AbortController();
    let left = files;
    const onFiles = (count: number) => {
      left -= count;
      if (left <= 0) enough.abort();
    };
    await this.#whileIdle(
      (deadline) => this.#parts.search({ request, walker: { deadline, onFiles }, leftOut }),
      enough.signal,
    );
  }

  async #whileIdle<T>(act: (deadline: Walker["deadline"]) => Promise<T>, enough?: AbortSignal): Promise<T> {
    const { signal } = this.#ending;
    const deadline = deadlineIn(maxMilliseconds, enough ? AbortSignal.any([signal, enough]) : signal);
    try {
      return await act(deadline);
    } finally {
      deadline.end();
    }
  }
}

const requestOf = (fields: UsualFields): SearchRequest => ({
  ...fields,
  query,
  path: ".",
  include: undefined,
  exclude: undefined,
  maxMatches: 1,
  content: true,
  paths: false,
  maxAnswerBytes: 1024,
  page: {
    maxBytes: 1024,
    milliseconds: undefined,
    after: undefined,
    seal: () => "",
    namesLeftOut: true,
  },
  isExtended: true,
});
