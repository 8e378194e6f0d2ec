/**
 * One search under way: a walk that gives batches, batches that are searched here or in threads, and an answer that
 * takes what was found in the order of the walk.
 */
import type { Deadline } from "../scheduling/deadline.ts";
import type { TimeSlice } from "../scheduling/time-slice.ts";
import type { Pool } from "../threads/pool.ts";
import { SearchAnswerBuilder } from "./answer.ts";
import { Batch, type BatchSize, takeBatch } from "./batches.ts";
import { FileCursor } from "./file-cursor.ts";
import { type FindingSink, searchFiles } from "./files.ts";
import { decodeFindings, type EncodedFindings } from "./findings-codec.ts";
import { type BatchOutcome, PendingBatch } from "./pending.ts";
import type { Found, SearchRequest } from "./request.ts";
import type { SharedFolder } from "./shared-folder.ts";
import type { SearchState } from "./state.ts";
import type { BatchJob, BatchReply } from "./thread.ts";
import type { ThreadEngines } from "./thread-engines.ts";
import { Walk, type WalkOptions } from "./walk.ts";

export interface SearchOptions {
  readonly request: SearchRequest;
  readonly deadline: Deadline;
  readonly slice: TimeSlice;
  readonly state: SearchState;
  /** Where the walk starts. Released by the search. */
  readonly folder: SharedFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep">;
}

/** Milliseconds that a plain search works here before it takes to threads: most are done by then. */
const headStart = 1;
/** How many times as long it may go on when that nearly fills the answer: threads would search much that is not needed. */
const maxHeadStart = 30;
/** What is searched at once in this thread. */
const piece: BatchSize = { files: 16, folders: 1 };
/** Files of the first batches in threads, and of the largest: a search that is soon full should not be far ahead. */
const firstBatch = 16;
const largestBatch = 512;
/** Folders that a batch holds open, and that all batches together do: a process may have 1,024 descriptors. */
const mostFolders = 64;
const foldersAtOnce = 640;
/** Batches that are under way at first; each that is answered makes room for one more. */
const firstPending = 6;
/** UTF-16 units of text that may wait for an earlier batch before no more are given out. */
const mostWaiting = 4 * 1024 * 1024;

/** A match was ended because the search has to end. */
class SearchEnded extends Error {
  override readonly name = "Over";
}

export class SearchRun {
  readonly #options: SearchOptions;
  readonly #answer: SearchAnswerBuilder;
  readonly #walk: Walk;
  readonly #over = new Int32Array(new SharedArrayBuffer(4));
  readonly #pending: PendingBatch[] = [];
  #batchFiles = firstBatch;
  #mostPending = firstPending;
  /** Ends the wait for something to change. */
  #wake = () => {};

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#answer = new SearchAnswerBuilder({ ...options.request, maxBytes: options.request.maxAnswerBytes });
    this.#walk = new Walk(options.folder, { ...options.walk, onTooDeep: () => this.#answer.cut() });
  }

  /** Throws a refusal for the start, a `PatternError`, an `EngineFailure`, or the errno error of what nothing can be read without. */
  async run(): Promise<Found> {
    const { request, state, folder } = this.#options;
    // Its outcome is whether the pattern is valid, also where there is nothing to search.
    const nothing = new Batch(piece, state.held);
    try {
      if (state.pool === undefined || folder.folder.descriptor === undefined) {
        this.#searchBatchHere(nothing);
        await this.#searchHere(Number.POSITIVE_INFINITY);
      } else {
        // No pattern of a caller is matched in this thread when another can do it: it would hold up everyone.
        if (!request.query.regex && !request.query.ignoreCase) await this.#searchHere(headStart);
        else this.#pending.push(this.#submit(nothing, state.pool, false));
        await this.#searchInThreads(state.pool);
      }
    } finally {
      this.#walk.close();
      folder.release();
      this.#endPending();
    }
    return this.#answer.render();
  }

  /** Searches piece by piece in this thread, for so many milliseconds, or longer if the answer is soon full. */
  async #searchHere(milliseconds: number): Promise<void> {
    const started = performance.now();
    const mayGoOn = () =>
      performance.now() - started < milliseconds * (1 + (maxHeadStart - 1) * this.#answer.fill);
    while (!this.#answer.isFull && mayGoOn()) {
      const batch = takeBatch(this.#walk, piece, this.#options.state.held);
      if (batch === undefined) break;
      this.#searchBatchHere(batch);
      if (this.#isOver()) break;
      await this.#yieldIfDue();
    }
  }

  #searchBatchHere(batch: Batch): void {
    const { request } = this.#options;
    try {
      const { compiler, ...engines } = this.#engines();
      const isOver = () => this.#isOver();
      searchFiles(
        new FileCursor(batch.files),
        {
          ...request,
          ...engines,
          matcher: compiler.compile(request.query),
          open: (file) => batch.open(file),
          isOver,
        },
        this.#sink(batch),
      );
    } catch (error) {
      if (!(error instanceof SearchEnded)) throw error;
    } finally {
      batch.release();
    }
    if (this.#isOver()) this.#answer.cut();
  }

  /** What is searched with in this thread, for this search until another asks. */
  #engines(): ThreadEngines {
    const { state } = this.#options;
    state.isOverHere = () => this.#isOver();
    state.engines ??= state.createEngines(() => {
      if (state.isOverHere()) throw new SearchEnded();
    });
    return state.engines;
  }

  #sink(batch: Batch): FindingSink {
    const answer = this.#answer;
    return {
      get wantsPaths() {
        return answer.wantsPaths;
      },
      get wantsContent() {
        return answer.wantsContent;
      },
      get remainingLines() {
        return answer.remainingLines;
      },
      add: (finding) => answer.add(batch.pathOf(finding.index), finding),
    };
  }

  /** Keeps batches under way in threads, and takes in what they find in the order they were given. */
  async #searchInThreads(pool: Pool<BatchJob, BatchReply>): Promise<void> {
    const { signal } = this.#options.deadline;
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    while (!this.#answer.isFull && !this.#isOver()) {
      await this.#post(pool);
      if (this.#takeNext(pool)) continue;
      if (this.#isOver()) break;
      if (this.#pending.length === 0) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    signal.removeEventListener("abort", wake);
    this.#takeSettled();
  }

  async #post(pool: Pool<BatchJob, BatchReply>): Promise<void> {
    while (this.#hasRoom() && !this.#isOver()) {
      const batch = takeBatch(this.#walk, this.#nextSize(), this.#options.state.held);
      if (batch === undefined) return;
      if (!batch.isEmpty) this.#pending.push(this.#submit(batch, pool, false));
      else {
        // The walk made a pause for others.
        batch.release();
        if (this.#pending.length > 0) return;
      }
      await this.#yieldIfDue();
    }
  }

  /**
   * Lets others have their turns when the time slice is used up, also in pieces: the event loop takes what threads post
   * before all else, and threads that answer fast would keep it from everything else.
   */
  async #yieldIfDue(): Promise<void> {
    if (this.#options.slice.isDue) await this.#options.slice.yieldIfDue();
  }

  /** A search gets its part of the folders that may still be held, and always one, so that each goes on. */
  #nextSize(): BatchSize {
    const { batchesAtOnce, active, held } = this.#options.state;
    const ofAll = Math.min(mostFolders, Math.floor(foldersAtOnce / batchesAtOnce));
    const ofRest = Math.floor((foldersAtOnce - held.folders) / active);
    return { files: this.#batchFiles, folders: Math.max(1, Math.min(ofAll, ofRest)) };
  }

  /** Whether another batch may be given out. One that is answered and waits for an earlier one holds no folders. */
  #hasRoom(): boolean {
    const { batchesAtOnce, active } = this.#options.state;
    const underWay = this.#pending.filter(({ isSettled }) => !isSettled).length;
    const waiting = this.#pending.reduce((sum, { units }) => sum + units, 0);
    return (
      underWay < Math.max(1, Math.floor(batchesAtOnce / active)) &&
      this.#pending.length < this.#mostPending &&
      waiting < mostWaiting
    );
  }

  #submit(batch: Batch, pool: Pool<BatchJob, BatchReply>, isRetry: boolean): PendingBatch {
    return new PendingBatch(batch, pool.run(this.#jobOf(batch)), { isRetry, onSettled: () => this.#wake() });
  }

  #jobOf(batch: Batch): BatchJob {
    const { query, lines, maxFileBytes, maxAnswerBytes } = this.#options.request;
    return {
      query,
      lines,
      maxFileBytes,
      wantsPaths: this.#answer.wantsPaths,
      remainingLines: this.#answer.wantsContent ? this.#answer.remainingLines : 0,
      remainingText: maxAnswerBytes,
      over: this.#over,
      files: batch.post(this.#answer.wantsPaths),
    };
  }

  /** Takes in the first batch under way, if a thread is through with it. */
  #takeNext(pool: Pool<BatchJob, BatchReply>): boolean {
    const [first] = this.#pending;
    if (first?.isSettled !== true) return false;
    this.#pending.shift();
    if (first.outcome === undefined) this.#takeLost(first, pool);
    else this.#take(first.batch, first.outcome);
    return true;
  }

  /**
   * A batch without an outcome goes to another thread once. Never is it searched here, where a caller's pattern could
   * hold up everyone: without an outcome again, it is left out.
   */
  #takeLost({ batch, isRetry }: PendingBatch, pool: Pool<BatchJob, BatchReply>): void {
    if (!isRetry) {
      this.#pending.unshift(this.#submit(batch, pool, true));
      return;
    }
    batch.release();
    this.#answer.cut();
  }

  /** Takes in what was found in a batch. */
  #take(batch: Batch, outcome: BatchOutcome): void {
    if (outcome instanceof Error) throw outcome;
    if (batch.isEmpty) return;
    this.#mostPending++;
    this.#batchFiles = Math.min(2 * this.#batchFiles, largestBatch);
    this.#takeFindings(batch, outcome);
  }

  #takeFindings(batch: Batch, found: EncodedFindings): void {
    for (const finding of decodeFindings(found)) this.#answer.add(batch.pathOf(finding.index), finding);
  }

  /** When it has to end early: what was found in later batches is still in order. */
  #takeSettled(): void {
    if (this.#answer.isFull) return;
    this.#answer.cut();
    for (const { batch, outcome } of this.#pending) {
      if (outcome !== undefined && !(outcome instanceof Error)) this.#takeFindings(batch, outcome);
    }
  }

  /** Whether it has to end early, with what it has. */
  #isOver(): boolean {
    return this.#options.deadline.left === 0 || this.#options.state.isClosed;
  }

  /** Tells the threads, and ends those that do not listen. Folders are held until nobody opens files in them. */
  #endPending(): void {
    Atomics.store(this.#over, 0, 1);
    for (const pending of this.#pending.splice(0)) pending.end();
  }
}
