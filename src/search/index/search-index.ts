/** Searches with an index of contents. */

import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import type { Pool } from "../../base/threads/pool.ts";
import { firstBytes } from "../../filesystem/files/file-buffer.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { hasStamps } from "../../filesystem/jail/stamps.ts";
import type { SharedTree } from "../../filesystem/watch/shared-tree.ts";
import type { ResultPage } from "../answer/result-page.ts";
import type { Batch } from "../batches/batches.ts";
import { FileCursor } from "../batches/file-cursor.ts";
import type { Finding } from "../batches/files.ts";
import type { FoundInIndex } from "../batches/findings-codec.ts";
import type { SearchJob, SharedInSearch, ThreadReply } from "../batches/job.ts";
import type { PendingBatch } from "../batches/pending-batch.ts";
import { isLiteral, type Query } from "../matchers/query-compiler.ts";
import type { FoundBy, RunningSearch, SearchRequest } from "../request.ts";
import { compareStamps } from "../signatures/compare-stamps.ts";
import { type CandidateSet, ContentIndex } from "../signatures/content-index.ts";
import { FileRecords } from "../signatures/file-records.ts";
import { backgroundDelay, type FilesToSign, Filler } from "../signatures/filler.ts";
import { type NeededNgrams, neededNgrams } from "../signatures/needed-ngrams.ts";
import { SavedIndex, type SavedIndexOptions } from "../signatures/saved-index.ts";
import { canSign } from "../signatures/signature.ts";
import { ListingCache } from "../walk/listing-cache.ts";
import { KeptResults, type QueryResults } from "./kept-results.ts";
import { KnownFiles } from "./known-files.ts";
import type { Compare } from "./list-comparison.ts";
import { ListedPaths } from "./listed-paths.ts";
import type { Replay } from "./replay.ts";
import { WatchedIndex } from "./watched-index.ts";

/**
 * The way in which an index is used. `off`: not at all. `verified`: files whose stamps show no change are not
 * read. `watched`: not even the stamps are read for files without a change reported by the watched tree.
 */
export type IndexMode = "off" | "verified" | "watched";

export interface IndexOptions {
  readonly mode: IndexMode;
  /**
   * Maximum bytes of memory that the index may take. With `saved`, eight times as much may be on the disk,
   * and twice that while it is saved again.
   */
  readonly maxBytes: number;
  /** The watched tree below the base of the jail. Without it, `watched` works like `verified`. */
  readonly tree?: SharedTree | undefined;
  /** The place of the index that outlives the process. Without it, each process begins with an empty one. */
  readonly saved?: SavedIndexOptions | undefined;
  /** See `WatchedIndex`, which explains it. */
  readonly scrubbedFiles?: number;
  /** The number of files whose stamps are compared in threads. For fewer, threads take longer to start. */
  readonly comparedInThreads?: number;
}

/** The number of updates after which stamps are compared before the next search. */
const fewUpdates = 1000;

/** Maximum threads that sign files at once, while no search waits for them. */
const maxSigners = 4;

/** See `IndexOptions.comparedInThreads`. */
const defaultComparedInThreads = 20_000;

/** Maximum queries whose n-grams are kept. */
const maxQueries = 64;

/**
 * The shares of the memory for listings of folders, and for results of searches. The rest is for the contents
 * of files.
 */
const listingShare = 1 / 8;
const resultShare = 1 / 16;

interface Parts {
  readonly memory: Memory;
  readonly filler: Filler;
  readonly watched: WatchedIndex | undefined;
  readonly saved: SavedIndex | undefined;
  readonly comparedInThreads: number;
  /** Runs a job in a thread. Resolves to `undefined` if the thread ended, or if none can start. */
  readonly run: (job: SearchJob, shared?: SharedInSearch) => Promise<ThreadReply | undefined>;
}

/** The index of one searcher, and the filler that adds files to it. */
export class SearchIndex {
  readonly #memory: Memory;
  readonly #filler: Filler;
  readonly #needed = new Map<string, NeededNgrams | "unknown">();
  readonly #watched: WatchedIndex | undefined;
  readonly #saved: SavedIndex | undefined;
  readonly #comparedInThreads: number;
  readonly #run: Parts["run"];
  #loading: Promise<void> | undefined;
  #isLoaded: boolean;
  #saving: Promise<void> | undefined;
  /** The number of updates of the contents that are in the saved index. */
  #savedUpdates = 0;
  /** The number of updates that `confirm` has compared; less than any if the index was loaded. */
  #confirmedUpdates = 0;
  /** Increases each time that every file may have changed. */
  #distrusts = 0;
  #isAdding = false;
  /** The delay after a search before the tree is watched. */
  #watchTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** Called when `isConfirmed` becomes false because every file may have changed. */
  onDistrusted: () => void = () => {};

  private constructor({ memory, filler, watched, saved, comparedInThreads, run }: Parts) {
    this.#memory = memory;
    this.#filler = filler;
    this.#watched = watched;
    this.#saved = saved;
    this.#comparedInThreads = comparedInThreads;
    this.#run = run;
    this.#isLoaded = saved === undefined;
  }

  /** Opens an index, or returns `undefined` if this system does not report exactly when files change. */
  static open(
    {
      mode,
      maxBytes,
      tree,
      saved,
      scrubbedFiles,
      comparedInThreads = defaultComparedInThreads,
    }: IndexOptions,
    jail: Jail,
    pool: Pool<SearchJob, ThreadReply>,
  ): SearchIndex | undefined {
    if (!hasStamps() || jail.backend === "current-directory" || !canSign()) return undefined;
    const listings = new ListingCache(maxBytes * listingShare);
    const results = new KeptResults(maxBytes * resultShare);
    const savedIndex = saved && new SavedIndex(saved);
    const contents = new ContentIndex(maxBytes * (1 - listingShare - resultShare), {
      onReplaced: (file) => results.forget(file),
      spill: savedIndex && ((signatures, closed) => savedIndex.spill(signatures, closed)),
    });
    const run: Parts["run"] = async (job, shared) => {
      try {
        return await pool.run(job, shared).reply;
      } catch {
        // The thread ended, or none can start.
        return undefined;
      }
    };
    const sign: ConstructorParameters<typeof Filler>[0]["sign"] = async (job) => {
      const reply = await run(job);
      return reply !== undefined && "stamps" in reply ? reply : undefined;
    };
    const isWatched = mode === "watched" && tree !== undefined;
    const onAllChanged = () => opened.#distrust();
    const watched = isWatched ? new WatchedIndex(tree, { scrubbedFiles, onAllChanged }) : undefined;
    const opened = new SearchIndex({
      memory: { contents, listings, results },
      filler: new Filler({ index: contents, jail, sign, jobsAtOnce: Math.min(pool.size, maxSigners) }),
      watched,
      saved: savedIndex,
      comparedInThreads,
      run,
    });
    return opened;
  }

  /** Whether searches need not wait for `load`. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Loads the saved index, once. A search that does not wait for it reads all files. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    const isFilled = await this.#saved?.loadInto(this.#memory.contents);
    if (isFilled === true) this.#confirmedUpdates = Number.NEGATIVE_INFINITY;
    this.#isLoaded = true;
  }

  /** Saves the index once it holds all files that searches have met, if that is worth it. */
  async #saveWhenFilled(saved: SavedIndex): Promise<void> {
    await this.filled();
    const { contents } = this.#memory;
    const unsaved = contents.updatedFiles - this.#savedUpdates;
    if (this.#isClosed || !saved.isDue(contents.state, unsaved)) return;
    const { updatedFiles } = contents;
    if (await saved.save(contents)) this.#savedUpdates = updatedFiles;
  }

  /** Begins the use of the index by a search. Returns `undefined` if the index does not help it. */
  use(options: RunningSearch): IndexUse | undefined {
    const { request, mayReplay = true } = options;
    if (!isHelped(request)) return undefined;
    const watched = mayReplay && !request.fuzzyPaths ? this.#watched : undefined;
    return new IndexUse(this, options, { ...this.#memory, watched });
  }

  /**
   * Returns the paths below the start of a search of paths alone, or `undefined` if the watched tree does not
   * know all of them.
   */
  async listPaths(options: RunningSearch, page: ResultPage | undefined): Promise<ListedPaths | undefined> {
    const { request, mayReplay = true } = options;
    if (request.content || request.fuzzyPaths || request.sort === "modified" || !mayReplay) return undefined;
    const kept = await inPreparation(page, options, async (limited) => this.#watched?.prepare(limited));
    return kept && new ListedPaths(kept.list, page?.after?.file);
  }

  /** Returns the bytes of memory in use. */
  get bytes(): number {
    const { contents, listings, results } = this.#memory;
    return contents.state.bytes + listings.bytes + results.bytes;
  }

  /** Returns the number of files whose contents are indexed. */
  get files(): number {
    return this.#memory.contents.state.files;
  }

  /** Returns the way in which searches currently use the index. */
  get mode(): Exclude<IndexMode, "off"> {
    return this.#watched?.isReady ? "watched" : "verified";
  }

  /** Returns the n-grams that matching files contain, or `undefined` before they are known. */
  neededBy(query: Query): NeededNgrams | "unknown" | undefined {
    if (isLiteral(query)) return neededByLiteral(query.pattern) ?? "unknown";
    return this.#needed.get(keyOf(query));
  }

  noteNeeded(query: Query, needed: NeededNgrams | undefined): void {
    this.#needed.set(keyOf(query), needed ?? "unknown");
    if (this.#needed.size > maxQueries) this.#needed.delete(this.#needed.keys().next().value as string);
  }

  /** Returns whether the index lacks most of the files that searches have met. */
  get isBehind(): boolean {
    return this.#filler.files > this.files;
  }

  /**
   * Returns whether a search may add files until it ends. Only one at a time may, because parallel searches
   * would add identical files.
   */
  beginAdding(): boolean {
    if (this.#isAdding || this.#filler.hasWork) return false;
    this.#isAdding = true;
    return true;
  }

  /** Ends the adding of the search that `beginAdding` allowed. */
  endAdding(): void {
    this.#isAdding = false;
  }

  /** Schedules files for indexing in the background. */
  add(files: FilesToSign): void {
    this.#filler.add(files);
  }

  /** Pauses the indexing of files when a search begins. */
  pause(): void {
    this.#filler.pause();
  }

  /** Continues the indexing of files when a search has ended. `isIdle` means that no other is under way. */
  resume(isIdle: boolean): void {
    if (this.#filler.resume(isIdle)) this.#watchSoon();
    if (this.#saved === undefined || !this.#filler.hasWork) return;
    this.#saving ??= this.#saveWhenFilled(this.#saved).finally(() => {
      this.#saving = undefined;
    });
  }

  /** Watches the tree after the answer of the current search. */
  #watchSoon(): void {
    this.#watchTimer ??= setTimeout(() => {
      this.#watchTimer = undefined;
      this.#watched?.open();
    }, backgroundDelay).unref();
  }

  /** Watches the tree before a search has ended. Returns whether searches may rely on that. */
  async watch(): Promise<boolean> {
    await this.#watched?.opened();
    return this.mode === "watched";
  }

  /**
   * Returns whether searches need to compare few stamps: nearly all files were compared since they were
   * indexed, or the watched tree does not know them, so that each search compares them.
   */
  get isConfirmed(): boolean {
    return this.#memory.contents.updatedFiles - this.#confirmedUpdates < fewUpdates;
  }

  /** Returns whether `confirm` uses threads. */
  get comparesInThreads(): boolean {
    return this.files >= this.#comparedInThreads;
  }

  /**
   * Compares the stamps of all files of a search with the index, once the tree is watched, so that searches
   * need not. Ends early at the deadline.
   */
  async confirm(options: RunningSearch): Promise<void> {
    const { contents } = this.#memory;
    const { updatedFiles } = contents;
    const distrusts = this.#distrusts;
    try {
      using compare = this.compareWith(contents.holdRecords(), options.deadline);
      const isComplete = (await this.#watched?.confirm(options, compare)) !== false;
      if (isComplete && distrusts === this.#distrusts) this.#confirmedUpdates = updatedFiles;
    } finally {
      contents.release();
    }
  }

  /**
   * Compares stamps with these records, in threads if the index has many files. Ends early at the deadline.
   */
  compareWith(held: SharedArrayBuffer, { signal }: Deadline): Compare & Disposable {
    const records = new FileRecords(held);
    const ending = new Int32Array(new SharedArrayBuffer(4));
    const end = () => Atomics.store(ending, 0, 1);
    signal.addEventListener("abort", end, { once: true });
    const here: Compare["run"] = async (files) =>
      compareStamps(FileCursor.over(files), files, { records, isOver: () => false });
    const inThread: Compare["run"] = async (files) => {
      const reply = await this.#run({ ...files, what: "compare", signal: ending }, { records: held });
      return reply !== undefined && "records" in reply ? reply : undefined;
    };
    return {
      records,
      filesAtOnce: this.comparesInThreads ? 2048 : 128,
      run: this.comparesInThreads ? inThread : here,
      [Symbol.dispose]: () => signal.removeEventListener("abort", end),
    };
  }

  #distrust(): void {
    this.#distrusts++;
    this.#confirmedUpdates = Number.NEGATIVE_INFINITY;
    this.onDistrusted();
  }

  /** Resolves when the index is saved, if it is to be. */
  async settled(): Promise<void> {
    await this.filled();
    await this.#saving;
  }

  /** Resolves when all files that searches have met are indexed, if they can be. */
  async filled(): Promise<void> {
    await this.#filler.idle();
    await this.#memory.contents.stored();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#watchTimer);
    this.#filler.close();
    this.#memory.contents.close();
    this.#watched?.close();
  }
}

/** The memory that outlives a search. */
interface Memory {
  readonly contents: ContentIndex;
  readonly listings: ListingCache;
  readonly results: KeptResults;
}

/** Returns whether the index helps a search. */
export function isHelped({ content, maxFileBytes, lines, sort }: SearchRequest): boolean {
  if (!content || maxFileBytes < firstBytes) return false;
  const { invert = false, withoutMatch = false, encoding, encodings } = lines;
  // The index knows the bytes of files, not the text that they are in an encoding of the request.
  if (encoding !== undefined || encodings !== undefined) return false;
  // The index leaves out exactly the files that inverted searches report, and has no order by time.
  return !invert && !withoutMatch && sort !== "modified";
}

/** Calls `act` with the time that a page has for preparation, if its time is limited. */
async function inPreparation<T>(
  page: ResultPage | undefined,
  options: RunningSearch,
  act: (limited: RunningSearch) => Promise<T>,
): Promise<T> {
  const milliseconds = page?.preparationMilliseconds;
  if (milliseconds === undefined) return await act(options);
  const deadline = deadlineIn(milliseconds, options.deadline.signal);
  try {
    return await act({ ...options, deadline });
  } finally {
    deadline.end();
  }
}

const keyOf = (query: Query): string => JSON.stringify(query);

/**
 * Maximum characters of a literal whose n-grams are used. This thread computes them, and those of the
 * beginning rule out nearly as many files as those of the whole.
 */
const usedCharacters = 1024;

/**
 * Returns n-grams of the beginning of a literal. A U+FFFD may stand for any bytes that are not UTF-8, so only
 * the parts before and after it are certain.
 */
function neededByLiteral(literal: string): NeededNgrams | undefined {
  const parts = literal.slice(0, usedCharacters).toWellFormed().split("\ufffd");
  const [first, ...others] = parts.map((part) => [[Buffer.from(part).toString("latin1")]]);
  return neededNgrams([first!], others);
}

/** The use of the index by one search. */
export class IndexUse {
  /** The files that may match, once the index was consulted. */
  candidates: CandidateSet | undefined;
  /** The way in which the files are found. */
  foundBy: FoundBy = "scan";
  #replay: Replay | undefined;
  readonly #index: SearchIndex;
  readonly #options: RunningSearch;
  readonly #contents: ContentIndex;
  readonly #listings: ListingCache;
  readonly #kept: KeptResults;
  /** The results of earlier searches with this query, once the index was consulted. */
  #results: QueryResults | undefined;
  readonly #watched: WatchedIndex | undefined;
  /** Whether the index was empty when it was consulted, so that all files are added to it. */
  #fillsIndex = false;
  #mayAdd = false;

  constructor(
    index: SearchIndex,
    options: RunningSearch,
    { contents, listings, results, watched }: Memory & { readonly watched: WatchedIndex | undefined },
  ) {
    this.#index = index;
    this.#options = options;
    this.#contents = contents;
    this.#listings = listings;
    this.#kept = results;
    this.#watched = watched;
  }

  /**
   * Consults the index, after the thread that compiles the query has returned the n-grams if they were
   * unknown. Returns the files to search if the watched tree knows them, which then replace the walk.
   */
  async consult(
    compiling: PendingBatch | undefined,
    page: ResultPage | undefined,
  ): Promise<Replay | undefined> {
    const needed = await this.#neededAfter(compiling);
    this.#mayAdd = this.#index.beginAdding();
    this.#fillsIndex = this.#contents.isEmpty;
    if (needed === undefined || this.#index.isBehind) return undefined;
    const candidates = await this.#contents.judge(needed, this.#options.slice);
    this.candidates = candidates;
    if (candidates === undefined) return undefined;
    const results = this.#kept.of(this.#options.request);
    results.ruleOut(new Int32Array(candidates.mayMatch));
    this.#results = results;
    this.foundBy = "verified";
    this.#replay = await inPreparation(page, this.#options, async (limited) => {
      const { request, deadline } = limited;
      const goesThroughAll = candidates.count < request.maxMatches;
      using compare = goesThroughAll ? this.#index.compareWith(candidates.records, deadline) : undefined;
      const after = page?.after?.file;
      return await this.#watched?.select(limited, { needed, candidates, results, after, compare });
    });
    if (this.#replay !== undefined) this.foundBy = "watched";
    return this.#replay;
  }

  /** Returns the n-grams that matching files contain, or `undefined` if they are unknown. */
  async #neededAfter(compiling: PendingBatch | undefined): Promise<NeededNgrams | undefined> {
    const { request, deadline } = this.#options;
    if (this.wantsNeeded) await compiling?.settledUnless(deadline.signal);
    const outcome = compiling?.outcome;
    if (outcome instanceof Error) return undefined;
    if (this.wantsNeeded) {
      if (outcome === undefined) return undefined;
      this.#index.noteNeeded(request.query, outcome.needed);
    }
    const needed = this.#index.neededBy(request.query);
    return needed === "unknown" ? undefined : needed;
  }

  /**
   * Returns the cache of listings for the walk. The first search has none, because keeping the listings takes
   * as long as it saves the next search.
   */
  get listings(): ListingCache | undefined {
    return this.#contents.isEmpty ? undefined : this.#listings;
  }

  /** Returns whether a thread has to return the n-grams that matching files contain. */
  get wantsNeeded(): boolean {
    const { query } = this.#options.request;
    // The n-grams of a literal are always known. If it is long, computing them takes milliseconds.
    return !isLiteral(query) && this.#index.neededBy(query) === undefined;
  }

  /** Returns whether to report the files that are unchanged since they were indexed. */
  get wantsKnown(): boolean {
    return this.#replay !== undefined;
  }

  /** Returns the record of each file of a batch that is known to be unchanged, or -1. */
  recordsIn(batch: Batch): Int32Array | undefined {
    return batch.isEmpty ? undefined : this.#replay?.recordsIn(batch, batch.count);
  }

  /** Returns the known files of a batch that this thread searches. */
  knownIn(batch: Batch): KnownFiles | undefined {
    const { request } = this.#options;
    const { candidates, wantsKnown } = this;
    const descriptorOf = (file: FileCursor) => batch.descriptorOf(file);
    const records = this.recordsIn(batch);
    return candidates && new KnownFiles({ candidates, search: request, records, wantsKnown, descriptorOf });
  }

  /** Notes that a batch was searched. `found` has its known and unknown files, if the index was consulted. */
  note(batch: Batch, found: FoundInIndex | undefined): void {
    if (found !== undefined) this.#replay?.confirm(batch, found.known);
    for (const record of found?.withoutMatch ?? []) this.#results?.addWithoutMatch(record);
    if (!this.#mayAdd) return;
    if (found !== undefined && found.unknown.length > 0) this.#index.add(batch.listSome(found.unknown));
    else if (this.#fillsIndex && !batch.isEmpty) this.#index.add(batch.listFiles());
  }

  /** Keeps the findings in a batch that have all matches of a file. */
  keep(findings: readonly Finding[], found: FoundInIndex, outcomes: Float64Array | undefined): void {
    const { matching } = found;
    let at = 0;
    for (const finding of findings) {
      while (at < matching.length && matching[at]! < finding.index) at += 2;
      if (at === matching.length) return;
      if (matching[at] !== finding.index) continue;
      const outcome = outcomes?.[finding.index] ?? 0;
      this.#results?.addMatches(matching[at + 1]!, { ...finding, outcome });
    }
  }

  /** Ends the use of the index. */
  end(): void {
    if (this.#mayAdd) this.#index.endAdding();
    this.#mayAdd = false;
    if (this.candidates !== undefined) this.#contents.release();
    this.candidates = undefined;
  }
}
