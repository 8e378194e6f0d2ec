/** Searches with an index of contents. */
import { firstBytes } from "../../files/file-buffer.ts";
import { type CandidateSet, ContentIndex } from "../../index/content-index.ts";
import { type FilesToSign, Filler } from "../../index/filler.ts";
import { type NeededNgrams, neededNgrams } from "../../index/needed-ngrams.ts";
import { canSign } from "../../index/signature.ts";
import type { Jail } from "../../jail/folder.ts";
import { hasStamps } from "../../jail/stamps.ts";
import type { Pool } from "../../threads/pool.ts";
import type { SharedTree } from "../../watch/shared-tree.ts";
import type { ResultPage } from "../answer/result-page.ts";
import type { Batch } from "../batches/batches.ts";
import type { FileCursor } from "../batches/file-cursor.ts";
import type { FoundInIndex } from "../batches/findings-codec.ts";
import type { SearchJob, ThreadReply } from "../batches/job.ts";
import type { PendingBatch } from "../batches/pending.ts";
import { isLiteral, type Query } from "../matchers/query-compiler.ts";
import type { FoundBy, RunningSearch } from "../request.ts";
import { ListingCache } from "../walk/listing-cache.ts";
import type { Walk } from "../walk/walk.ts";
import { KnownFiles } from "./known-files.ts";
import { ListedPaths } from "./listed-paths.ts";
import type { Replay } from "./replay.ts";
import { WatchedIndex } from "./watched-index.ts";

/**
 * How an index is used: not at all; files that have not changed, by their stamps, are not read; or not even the stamps are asked for
 * of files of which a watched tree reports no change.
 */
export type IndexMode = "off" | "verified" | "watched";

export interface IndexOptions {
  readonly mode: IndexMode;
  /** Most memory. */
  readonly maxBytes: number;
  /** What changes below the base of the jail; without it, `watched` is `verified`. */
  readonly tree?: SharedTree | undefined;
  /** See `WatchedIndex`. */
  readonly scrubbedFiles?: number;
}

/** Queries whose needed n-grams are kept. */
const mostQueries = 64;

/** Share of the memory for listings of folders; the rest is for what is in files. */
const listingShare = 1 / 8;

/** The index of one searcher, with what fills it. */
export class SearchIndex {
  readonly #memory: Memory;
  readonly #filler: Filler;
  readonly #needed = new Map<string, NeededNgrams | "unknown">();
  readonly #watched: WatchedIndex | undefined;
  #isAdding = false;

  private constructor(memory: Memory, filler: Filler, watched: WatchedIndex | undefined) {
    this.#memory = memory;
    this.#filler = filler;
    this.#watched = watched;
  }

  /** Undefined where this system does not say exactly when files change. */
  static open(
    { mode, maxBytes, tree, scrubbedFiles }: IndexOptions,
    jail: Jail,
    pool: Pool<SearchJob, ThreadReply>,
  ): SearchIndex | undefined {
    if (!hasStamps() || jail.backend === "current-directory" || !canSign()) return undefined;
    const contents = new ContentIndex(maxBytes * (1 - listingShare));
    const listings = new ListingCache(maxBytes * listingShare);
    const sign: ConstructorParameters<typeof Filler>[0]["sign"] = async (job) => {
      try {
        const reply = await pool.run(job).reply;
        return "stamps" in reply ? reply : undefined;
      } catch {
        // The thread ended, or none can start.
        return undefined;
      }
    };
    const isWatched = mode === "watched" && tree !== undefined;
    const watched = isWatched ? new WatchedIndex(tree, scrubbedFiles) : undefined;
    return new SearchIndex({ contents, listings }, new Filler({ index: contents, jail, sign }), watched);
  }

  /** Begins the use of the index by a search; undefined where it is of no use for this one. */
  use(options: RunningSearch): IndexUse | undefined {
    const { request, mayReplay = true } = options;
    if (!request.content || request.maxFileBytes < firstBytes) return undefined;
    const { invert = false, withoutMatch = false } = request.lines;
    // It knows where nothing can match, and would leave out what these are for.
    if (invert || withoutMatch || request.sort === "modified") return undefined;
    const watched = mayReplay && !request.fuzzyPaths ? this.#watched : undefined;
    return new IndexUse(this, options, { ...this.#memory, watched });
  }

  /** The paths below the start of a search of nothing else; undefined where the watched tree does not know them all. */
  async listPaths(options: RunningSearch, page: ResultPage | undefined): Promise<ListedPaths | undefined> {
    const { request, mayReplay = true } = options;
    if (request.content || request.fuzzyPaths || request.sort === "modified" || !mayReplay) return undefined;
    const kept = await this.#watched?.prepare(options, page?.preparationMilliseconds);
    return kept && new ListedPaths(kept.list, page?.after?.file);
  }

  /** Bytes of memory that it takes. */
  get bytes(): number {
    return this.#memory.contents.state.bytes + this.#memory.listings.bytes;
  }

  /** How many files it knows the contents of. */
  get files(): number {
    return this.#memory.contents.state.files;
  }

  /** How searches use it now. */
  get mode(): Exclude<IndexMode, "off"> {
    return this.#watched?.isReady ? "watched" : "verified";
  }

  /** What files that match have to hold; undefined where that is not known yet. */
  neededBy(query: Query): NeededNgrams | "unknown" | undefined {
    if (isLiteral(query)) return neededByLiteral(query.pattern) ?? "unknown";
    return this.#needed.get(keyOf(query));
  }

  noteNeeded(query: Query, needed: NeededNgrams | undefined): void {
    this.#needed.set(keyOf(query), needed ?? "unknown");
    if (this.#needed.size > mostQueries) this.#needed.delete(this.#needed.keys().next().value as string);
  }

  /** Whether it does not know most of the files that searches have met. */
  get isBehind(): boolean {
    return this.#filler.files > this.files;
  }

  /** Whether a search may add files until it ends: one may at a time, as many searches at once would add the same ones. */
  beginAdding(): boolean {
    if (this.#isAdding || this.#filler.hasWork) return false;
    this.#isAdding = true;
    return true;
  }

  /** The search to which `beginAdding` said yes has ended. */
  endAdding(): void {
    this.#isAdding = false;
  }

  /** Files of which the index should know. */
  add(files: FilesToSign): void {
    this.#filler.add(files);
  }

  /** A search begins. */
  pause(): void {
    this.#filler.pause();
  }

  /** A search has ended, and none is under way, or others are. */
  resume(isIdle: boolean): void {
    if (this.#filler.resume(isIdle)) this.#watched?.open();
  }

  /** Resolves when it knows what it can of the files that searches have met. */
  filled(): Promise<void> {
    return this.#filler.idle();
  }

  close(): void {
    this.#filler.close();
    this.#watched?.close();
  }
}

/** What it keeps from search to search. */
interface Memory {
  readonly contents: ContentIndex;
  readonly listings: ListingCache;
}

const keyOf = (query: Query): string => JSON.stringify(query);

/**
 * Characters of a literal whose n-grams are used: this thread computes them, and those of the beginning rule out nearly as many
 * files as those of the whole.
 */
const usedCharacters = 1024;

/**
 * Returns n-grams of the beginning of a literal. A U+FFFD may stand for any bytes of a file that are not UTF-8: the parts before
 * and after it are known.
 */
function neededByLiteral(literal: string): NeededNgrams | undefined {
  const parts = literal.slice(0, usedCharacters).toWellFormed().split("\ufffd");
  const [first, ...others] = parts.map((part) => [[Buffer.from(part).toString("latin1")]]);
  return neededNgrams([first!], others);
}

/** The use of the index by one search. */
export class IndexUse {
  /** Which files need not be read, once the index was asked. */
  candidates: CandidateSet | undefined;
  /** How the files are found. */
  foundBy: FoundBy = "scan";
  #replay: Replay | undefined;
  readonly #index: SearchIndex;
  readonly #options: RunningSearch;
  readonly #contents: ContentIndex;
  readonly #listings: ListingCache;
  readonly #watched: WatchedIndex | undefined;
  /** The index knew nothing when it was asked: it gets to know all files. */
  #fillsIndex = false;
  #mayAdd = false;

  constructor(
    index: SearchIndex,
    options: RunningSearch,
    { contents, listings, watched }: Memory & { readonly watched: WatchedIndex | undefined },
  ) {
    this.#index = index;
    this.#options = options;
    this.#contents = contents;
    this.#listings = listings;
    this.#watched = watched;
  }

  /**
   * Asks the index, after the thread that compiles the query has said what that needs where the index does not know it yet. Returns the
   * walk, or closes it and returns the files to look at, where no walk is needed to find them.
   */
  async consult(
    compiling: PendingBatch | undefined,
    walk: Walk,
    page: ResultPage | undefined,
  ): Promise<Walk | Replay> {
    const needed = await this.#neededAfter(compiling);
    this.#mayAdd = this.#index.beginAdding();
    this.#fillsIndex = this.#contents.isEmpty;
    if (needed === undefined || this.#index.isBehind) return walk;
    const candidates = this.#contents.judge(needed);
    if (candidates === undefined) return walk;
    this.candidates = candidates;
    this.foundBy = "verified";
    const kept = await this.#watched?.prepare(this.#options, page?.preparationMilliseconds);
    const after = page?.after?.file;
    if (kept !== undefined)
      this.#replay = this.#watched?.replay(kept, this.#options, { needed, candidates, after });
    if (this.#replay === undefined) return walk;
    this.foundBy = "watched";
    walk.close();
    return this.#replay;
  }

  /** What files that match have to hold; undefined where that is not known. */
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

  /** For the walk. The first search does not keep them: that takes as long as it saves the next one. */
  get listings(): ListingCache | undefined {
    return this.#contents.isEmpty ? undefined : this.#listings;
  }

  /** Whether a thread has to say what files that match have to hold. */
  get wantsNeeded(): boolean {
    return this.#index.neededBy(this.#options.request.query) === undefined;
  }

  /** Whether to say which files are as the index knows them. */
  get wantsKnown(): boolean {
    return this.#replay !== undefined;
  }

  /** What is known of the files of a batch that this thread searches. */
  knownIn(batch: Batch): KnownFiles | undefined {
    const { request } = this.#options;
    const { candidates, wantsKnown } = this;
    const descriptorOf = (file: FileCursor) => batch.descriptorOf(file);
    return candidates && new KnownFiles({ candidates, search: request, wantsKnown, descriptorOf });
  }

  /** The files of a batch were searched, with this of them known and unknown to the index, where it was asked. */
  note(batch: Batch, found: FoundInIndex | undefined): void {
    if (found !== undefined) this.#replay?.confirm(batch, found.known);
    if (!this.#mayAdd) return;
    if (found !== undefined && found.unknown.length > 0) this.#index.add(batch.listSome(found.unknown));
    else if (this.#fillsIndex && !batch.isEmpty) this.#index.add(batch.listFiles());
  }

  /** Ends the use. */
  end(): void {
    if (this.#mayAdd) this.#index.endAdding();
    this.#mayAdd = false;
    if (this.candidates !== undefined) this.#contents.release();
    this.candidates = undefined;
  }
}
