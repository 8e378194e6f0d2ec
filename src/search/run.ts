/**
 * Runs one search: a walk fills batches, this thread or others search them, and the answer collects the findings in the
 * order of the walk.
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
  /** The folder where the walk starts. The search releases it. */
  readonly folder: SharedFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep">;
}

/** Milliseconds that a search for a literal runs in this thread before it starts others: most have ended by then. */
const headStart = 1;
/** How many times as long it may run here when the answer is nearly full: threads would search too far ahead. */
const maxHeadStart = 30;
/** A batch for this thread. */
const localBatch: BatchSize = { files: 16, folders: 1 };
/** Files of the first batches in threads, and of the largest: a search that is soon full should not be far ahead. */
const firstBatch = 16;
const largestBatch = 512;
/** Folders that one batch holds open, and that all batches hold together: a process may have 1,024 descriptors. */
const maxFolders = 64;
const foldersAtOnce = 640;
/** Batches under way at first; each reply allows one more. */
const firstPending = 6;
/** UTF-16 units of text that may wait for an earlier batch before the search submits no more. */
const maxWaiting = 4 * 1024 * 1024;

/** Ends a call of the engine when the search has to end. */
class SearchEnded extends Error {
  override readonly name = "SearchEnded";
}

export class SearchRun {
  readonly #options: SearchOptions;
  readonly #answer: SearchAnswerBuilder;
  readonly #walk: Walk;
  readonly #over = new Int32Array(new SharedArrayBuffer(4));
  readonly #pending: PendingBatch[] = [];
  #batchFiles = firstBatch;
  #mostPending = firstPending;
  /** Ends the wait for a reply. */
  #wake = () => {};

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#answer = new SearchAnswerBuilder({ ...options.request, maxBytes: options.request.maxAnswerBytes });
    this.#walk = new Walk(options.folder, { ...options.walk, onTooDeep: () => this.#answer.cut() });
  }

  /** Throws a refusal for the start, a `PatternError`, an `EngineFailure`, or the errno error of what nothing can be read without. */
  async run(): Promise<Found> {
    const { request, state, folder } = this.#options;
    // An empty batch validates the pattern, also where there is nothing to search.
    const empty = new Batch(localBatch, state.held);
    try {
      if (state.pool === undefined || folder.folder.descriptor === undefined) {
        this.#searchBatchHere(empty);
        await this.#searchHere(Number.POSITIVE_INFINITY);
      } else {
        // A pattern of a caller could block the event loop, so that threads alone match it where there are any.
        if (!request.query.regex && !request.query.ignoreCase) await this.#searchHere(headStart);
        else this.#pending.push(this.#submit(empty, state.pool, false));
        await this.#searchInThreads(state.pool);
      }
    } finally {
      this.#walk.close();
      folder.release();
      this.#endPending();
    }
    return this.#answer.render();
  }

  /** Searches batch by batch in this thread, for so many milliseconds, or longer if the answer is nearly full. */
  async #searchHere(milliseconds: number): Promise<void> {
    const started = performance.now();
    const mayGoOn = () =>
      performance.now() - started < milliseconds * (1 + (maxHeadStart - 1) * this.#answer.fill);
    while (!this.#answer.isFull && mayGoOn()) {
      const batch = takeBatch(this.#walk, localBatch, this.#options.state.held);
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

  /** The engines of this thread, which work for this search until another one takes them. */
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

  /** Keeps batches under way in threads, and collects their findings in the order of submission. */
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
    while (this.#maySubmit() && !this.#isOver()) {
      const batch = takeBatch(this.#walk, this.#nextSize(), this.#options.state.held);
      if (batch === undefined) return;
      if (!batch.isEmpty) this.#pending.push(this.#submit(batch, pool, false));
      else {
        // The walk yielded to others.
        batch.release();
        if (this.#pending.length > 0) return;
      }
      await this.#yieldIfDue();
    }
  }

  /**
   * Yields to the event loop when the time slice is used up: the loop handles messages of threads before all else, so that
   * threads with fast replies would starve everything else.
   */
  async #yieldIfDue(): Promise<void> {
    if (this.#options.slice.isDue) await this.#options.slice.yieldIfDue();
  }

  /** Each search gets its share of the folders that batches may hold, and at least one, so that it goes on. */
  #nextSize(): BatchSize {
    const { batchesAtOnce, active, held } = this.#options.state;
    const ofAll = Math.min(maxFolders, Math.floor(foldersAtOnce / batchesAtOnce));
    const ofRest = Math.floor((foldersAtOnce - held.folders) / active);
    return { files: this.#batchFiles, folders: Math.max(1, Math.min(ofAll, ofRest)) };
  }

  /** Whether to submit another batch. One that is settled and waits for an earlier one holds no folders. */
  #maySubmit(): boolean {
    const { batchesAtOnce, active } = this.#options.state;
    const underWay = this.#pending.filter(({ isSettled }) => !isSettled).length;
    const waiting = this.#pending.reduce((sum, { units }) => sum + units, 0);
    return (
      underWay < Math.max(1, Math.floor(batchesAtOnce / active)) &&
      this.#pending.length < this.#mostPending &&
      waiting < maxWaiting
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

  /** Collects the first batch under way, if it is settled. */
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

  /** Collects what later batches have found when the search ends early: that is still in order. */
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

  /** Cancels the batches under way. Each holds its folders until no thread opens files in them. */
  #endPending(): void {
    Atomics.store(this.#over, 0, 1);
    for (const pending of this.#pending.splice(0)) pending.end();
  }
}
