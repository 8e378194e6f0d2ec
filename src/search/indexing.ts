/** Searches with an index of contents. */
import { firstBytes } from "../files/file-buffer.ts";
import { type CandidateSet, ContentIndex } from "../index/content-index.ts";
import { type FilesToSign, Filler } from "../index/filler.ts";
import { type NeededTrigrams, neededTrigrams } from "../index/needed-trigrams.ts";
import { createSigner } from "../index/signature.ts";
import type { Jail } from "../jail/folder.ts";
import { hasStamps } from "../jail/stamps.ts";
import type { Pool } from "../threads/pool.ts";
import type { Batch } from "./batches.ts";
import { KnownFiles } from "./known-files.ts";
import type { PendingBatch } from "./pending.ts";
import { isLiteral, type Query } from "./query-compiler.ts";
import type { SearchRequest } from "./request.ts";
import type { SearchJob, ThreadReply } from "./thread.ts";

/** How an index is used: not at all; or files that have not changed, by their stamps, are not read. */
export type IndexMode = "off" | "verified";

export interface IndexOptions {
  readonly mode: IndexMode;
  /** Most memory. */
  readonly maxBytes: number;
}

/** Queries whose needed trigrams are kept. */
const mostQueries = 64;

/** The index of one searcher, with what fills it. */
export class SearchIndex {
  readonly index: ContentIndex;
  readonly #filler: Filler;
  readonly #needed = new Map<string, NeededTrigrams | "unknown">();

  private constructor(index: ContentIndex, filler: Filler) {
    this.index = index;
    this.#filler = filler;
  }

  /** Undefined where this system does not say exactly when files change. */
  static open(
    { maxBytes }: IndexOptions,
    jail: Jail,
    pool: Pool<SearchJob, ThreadReply>,
  ): SearchIndex | undefined {
    if (!hasStamps() || jail.backend === "current-directory" || createSigner() === undefined)
      return undefined;
    const index = new ContentIndex(maxBytes);
    const sign: ConstructorParameters<typeof Filler>[0]["sign"] = async (job) => {
      const reply = await pool.run(job).reply.catch(() => undefined);
      return reply !== undefined && "stamps" in reply ? reply : undefined;
    };
    return new SearchIndex(index, new Filler({ index, jail, sign }));
  }

  /** Begins the use of the index by a search; undefined where it is of no use for this one. */
  use(request: SearchRequest): IndexUse | undefined {
    if (!request.content || request.maxFileBytes < firstBytes) return undefined;
    return new IndexUse(this, request.query);
  }

  /** What files that match have to hold; undefined where that is not known yet. */
  neededBy(query: Query): NeededTrigrams | "unknown" | undefined {
    if (isLiteral(query))
      return neededTrigrams([[[Buffer.from(query.pattern).toString("latin1")]]]) ?? "unknown";
    return this.#needed.get(keyOf(query));
  }

  noteNeeded(query: Query, needed: NeededTrigrams | undefined): void {
    this.#needed.set(keyOf(query), needed ?? "unknown");
    if (this.#needed.size > mostQueries) this.#needed.delete(this.#needed.keys().next().value as string);
  }

  /** Whether it does not know most of the files that searches have met. */
  get isBehind(): boolean {
    return this.#filler.files > this.index.state.files;
  }

  /** Files of which the index should know. */
  add(files: FilesToSign): void {
    this.#filler.add(files);
  }

  /** A search begins. */
  pause(): void {
    this.#filler.pause();
  }

  /** The last search has ended. */
  resume(): void {
    this.#filler.resume();
  }

  /** Resolves when it knows what it can of the files that searches have met. */
  filled(): Promise<void> {
    return this.#filler.idle();
  }

  close(): void {
    this.#filler.close();
  }
}

const keyOf = (query: Query): string => JSON.stringify(query);

/** The use of the index by one search. */
export class IndexUse {
  /** Which files need not be read, once the index was asked. */
  candidates: CandidateSet | undefined;
  readonly #index: SearchIndex;
  readonly #query: Query;
  /** The index knew nothing when it was asked: it gets to know all files. */
  #fillsIndex = false;

  constructor(index: SearchIndex, query: Query) {
    this.#index = index;
    this.#query = query;
  }

  /**
   * Asks the index, after the thread that compiles the query has said what that needs where the index does not know it yet. False: the index is of
   * no use. Throws nothing: what is wrong with the query, the batch knows.
   */
  async consult(compiling: PendingBatch | undefined, signal: AbortSignal): Promise<boolean> {
    if (this.wantsNeeded) await compiling?.settledUnless(signal);
    const outcome = compiling?.outcome;
    if (outcome instanceof Error) return false;
    if (this.wantsNeeded) {
      if (outcome === undefined) return false;
      this.#index.noteNeeded(this.#query, outcome.needed);
    }
    this.#fillsIndex = this.#index.index.isEmpty;
    const needed = this.#index.neededBy(this.#query);
    if (needed === "unknown" || needed === undefined || this.#index.isBehind) return false;
    this.candidates = this.#index.index.judge(needed);
    return this.candidates !== undefined;
  }

  /** Whether a thread has to say what files that match have to hold. */
  get wantsNeeded(): boolean {
    return this.#index.neededBy(this.#query) === undefined;
  }

  /** What is known of the files of a batch that this thread searches. */
  knownIn(batch: Batch, request: SearchRequest): KnownFiles | undefined {
    return this.candidates && new KnownFiles(this.candidates, request, (file) => batch.descriptorOf(file));
  }

  /** The files of a batch were searched; the index, where it was asked, did not know those with these indices. */
  note(batch: Batch, unknown: Int32Array | readonly number[] | undefined): void {
    if (unknown !== undefined && unknown.length > 0) this.#index.add(batch.listFiles(unknown));
    else if (this.#fillsIndex && !batch.isEmpty) this.#index.add(batch.listFiles());
  }

  /** Ends the use. */
  end(): void {
    if (this.candidates !== undefined) this.#index.index.release();
    this.candidates = undefined;
  }
}
