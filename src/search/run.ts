/**
 * Runs one search: a walk fills batches, this thread or others search them, and the answer collects the findings in the
 * order of the walk.
 */
import type { Pool } from "../threads/pool.ts";
import { SearchAnswerBuilder } from "./answer.ts";
import { AnswerSink } from "./answer-sink.ts";
import { batchJobOf } from "./batch-job.ts";
import { batchSignals } from "./batch-signals.ts";
import { Batch, localBatch, takeBatch } from "./batches.ts";
import type { Finding } from "./files.ts";
import { decodeFindings, type EncodedFindings } from "./findings-codec.ts";
import type { IndexUse } from "./indexing.ts";
import type { ListedPaths } from "./listed-paths.ts";
import { LocalSearch } from "./local.ts";
import { NewestFirst } from "./newest-first.ts";
import { headStart, maxHeadStart, Pacing } from "./pacing.ts";
import { isPathLiteral } from "./path-literal.ts";
import { searchPaths } from "./path-search.ts";
import { type BatchOutcome, PendingBatch } from "./pending.ts";
import { beforeRanked } from "./place.ts";
import { isLiteral } from "./query-compiler.ts";
import { addRankedPaths } from "./ranking.ts";
import type { Replay } from "./replay.ts";
import type { Found } from "./request.ts";
import { ResultPage } from "./result-page.ts";
import { renderFound, type UnfinishedBatch } from "./resume.ts";
import type { SearchOptions } from "./state.ts";
import { createOutcomes, outcomes } from "./tally.ts";
import type { SearchJob, ThreadReply } from "./thread.ts";
import { Walk } from "./walk.ts";

export class SearchRun {
  readonly #options: SearchOptions;
  readonly #answer: SearchAnswerBuilder;
  #walk: Walk | Replay | ListedPaths | NewestFirst;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #pending: PendingBatch[] = [];
  readonly #pacing: Pacing;
  readonly #local: LocalSearch;
  readonly #page: ResultPage | undefined;
  readonly #indexUse: IndexUse | undefined;
  #unfinished: UnfinishedBatch | undefined;
  #endsEarly = false;
  /** The paths that match fuzzily are in the answer, if there are any to be. */
  #isRanked = true;
  /** Ends the wait for a reply. */
  #wake = () => {};

  constructor(options: SearchOptions) {
    this.#options = options;
    const { request } = options;
    this.#indexUse = options.state.index?.use(options);
    this.#local = new LocalSearch(request, options.state, () => this.#isOver());
    const start = request.fuzzyPaths ? beforeRanked : undefined;
    this.#page = request.page && new ResultPage(request.page, options.deadline.left, start);
    this.#answer = new SearchAnswerBuilder({ ...request, maxBytes: request.maxAnswerBytes });
    this.#pacing = new Pacing(options.state, this.#answer);
    const after = this.#page?.after?.file;
    const isByPath = request.sort !== "modified";
    const walk = new Walk(options.folder, {
      ...options.walk,
      listings: this.#indexUse?.listings,
      after: isByPath ? after : undefined,
      onTooDeep: () => this.#answer.cut(),
      // All folders are listed for each page that is not in the order of paths.
      onUnreadable: (folder) => this.#page?.countUnreadableFolder(isByPath ? folder : ""),
    });
    this.#walk = isByPath ? walk : new NewestFirst(walk, { jail: options.walk.jail, after });
  }

  /**
   * Throws a refusal for the start, a `PatternError`, an `EngineFailure`, or the errno error of what nothing can be read
   * without.
   */
  async run(): Promise<Found> {
    const { request, state, folder, walk } = this.#options;
    // It validates the pattern, also where there is nothing to search.
    const empty = new Batch(localBatch, state.held);
    try {
      if (request.fuzzyPaths && !(await this.#addRanked())) return this.#render();
      if (state.pool === undefined || walk.jail.backend === "current-directory") {
        // A literal that only paths are searched for needs no validation, and may be empty.
        if (!this.#isPathLiteral) this.#searchBatchHere(empty);
        await this.#searchHere(Number.POSITIVE_INFINITY);
      } else {
        // A pattern of a caller could block the event loop, so that threads alone match it where there are any.
        const isCheap = isLiteral(request.query);
        if (!isCheap) this.#pending.push(this.#submit(empty, state.pool, false));
        if (this.#indexUse !== undefined) await this.#consult(this.#indexUse);
        if (isCheap) await this.#searchHere(headStart[this.#answer.index]);
        await this.#searchInThreads(state.pool);
      }
      if (this.#isPathLiteral && !this.#endsEarly) await this.#searchPathsHere();
      return this.#render();
    } finally {
      this.#walk.close();
      folder.release();
      this.#endPending();
      this.#page?.end();
      this.#indexUse?.end();
    }
  }

  async #consult(use: IndexUse): Promise<void> {
    this.#walk = await use.consult(this.#pending[0], this.#walk as Walk, this.#page);
    this.#answer.index = use.foundBy;
  }

  /** False when the page has to end before all ranked paths are known. */
  async #addRanked(): Promise<boolean> {
    const [answer, page] = [this.#answer, this.#page];
    this.#isRanked = await addRankedPaths(answer, page, {
      ...this.#options,
      isClosed: () => this.#options.state.isClosed,
      onTooDeep: () => answer.cut(),
    });
    return this.#isRanked;
  }

  /** Whether the rest is to search paths for a literal. */
  get #isPathLiteral(): boolean {
    return !this.#answer.wantsContent && isPathLiteral(this.#options.request.query);
  }

  async #searchPathsHere(): Promise<void> {
    const listed = await this.#options.state.index?.listPaths(this.#options, this.#page);
    if (listed !== undefined) {
      this.#walk.close();
      this.#walk = listed;
      this.#answer.index = "watched";
    }
    const found = { rest: this.#walk, answer: this.#answer, page: this.#page };
    if (!(await searchPaths({ ...this.#options, ...found, isOver: () => this.#isOver() }))) this.#endEarly();
  }

  #render(): Found {
    return renderFound({
      answer: this.#answer,
      page: this.#page,
      walk: this.#walk,
      pending: this.#pending,
      unfinished: this.#unfinished,
      isRanked: this.#isRanked,
      endsEarly: this.#endsEarly,
    });
  }

  /** Searches batch by batch in this thread, for `milliseconds`, or longer if the answer is nearly full. */
  async #searchHere(milliseconds: number): Promise<void> {
    const started = performance.now();
    const mayGoOn = () =>
      performance.now() - started < milliseconds * (1 + (maxHeadStart - 1) * this.#answer.fill);
    while (!this.#answer.isFull && !this.#isPathLiteral && mayGoOn()) {
      const batch = takeBatch(this.#walk, localBatch, this.#options.state.held);
      if (batch === undefined) break;
      this.#searchBatchHere(batch);
      if (batch.isEmpty) this.#page?.makeProgressTo(this.#walk.position);
      if (this.#isOver()) return this.#endEarly();
      await this.#yieldIfDue();
    }
  }

  #searchBatchHere(batch: Batch): void {
    const record = this.#page && createOutcomes(batch.count);
    const known = this.#indexUse?.knownIn(batch);
    const options = { outcomes: record, outcomeUnread: known?.outcomeUnread };
    const sink = new AnswerSink(this.#answer, (finding) => this.#add(batch, finding));
    this.#local.search(batch, sink, { ...options, after: this.#page?.afterIn(batch) });
    this.#pacing.note(batch.count);
    this.#indexUse?.note(batch, known);
    if (record !== undefined) this.#noteOutcomes(batch, record);
  }

  #noteOutcomes(batch: Batch, record: Float64Array): void {
    this.#page?.count(record, batch.count, !this.#answer.isFull);
    const unfinished = this.#answer.isFull ? -1 : record.indexOf(outcomes.notReached);
    if (unfinished >= 0) this.#unfinished = { batch, index: unfinished };
    else if (!batch.isEmpty) this.#page?.makeProgress();
  }

  #endEarly(): void {
    if (this.#page === undefined) this.#answer.cut();
    this.#endsEarly = true;
  }

  #add(batch: Batch, finding: Finding): void {
    this.#answer.add(batch.pathOf(finding.index), finding);
    this.#page?.noteMatch(batch, finding.index, this.#answer.lastAdded);
    if (this.#answer.isFull) this.#page?.notePassedOver(batch.passedOverBefore(finding.index));
    if (!this.#answer.wantsContent) Atomics.store(this.#signal, 0, batchSignals.contentIsOver);
  }

  /** Keeps batches under way in threads, and collects their findings in the order of submission. */
  async #searchInThreads(pool: Pool<SearchJob, ThreadReply>): Promise<void> {
    const { signal } = this.#options.deadline;
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    this.#page?.signal?.addEventListener("abort", wake, { once: true });
    while (!this.#answer.isFull && !this.#isOver()) {
      if (!this.#isPathLiteral) await this.#post(pool);
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

  async #post(pool: Pool<SearchJob, ThreadReply>): Promise<void> {
    while (this.#pacing.maySubmit(this.#pending) && !this.#isOver()) {
      const batch = takeBatch(this.#walk, this.#pacing.nextSize(this.#pending), this.#options.state.held);
      if (batch === undefined) return;
      if (!batch.isEmpty) this.#pending.push(this.#submit(batch, pool, false));
      else {
        // The walk yielded to others.
        batch.release();
        if (this.#pending.length > 0) return;
        this.#page?.makeProgressTo(this.#walk.position);
      }
      await this.#yieldIfDue();
    }
  }

  /** Yields when the slice is used up: the loop handles messages of threads first, so that fast replies would starve others. */
  async #yieldIfDue(): Promise<void> {
    if (this.#options.slice.isDue) await this.#options.slice.yieldIfDue();
  }

  #submit(batch: Batch, pool: Pool<SearchJob, ThreadReply>, isRetry: boolean): PendingBatch {
    const own = { answer: this.#answer, page: this.#page, signal: this.#signal, indexUse: this.#indexUse };
    const job = pool.run(batchJobOf(batch, { ...this.#options, ...own }), this.#indexUse?.candidates);
    return new PendingBatch(batch, job, { isRetry, onSettled: () => this.#wake() });
  }

  /** Collects the first batch under way, if it is settled. */
  #takeNext(pool: Pool<SearchJob, ThreadReply>): boolean {
    const [first] = this.#pending;
    if (first?.isSettled !== true) return false;
    this.#pending.shift();
    if (first.outcome === undefined) this.#takeLost(first, pool);
    else this.#take(first.batch, first.outcome);
    return true;
  }

  /**
   * Submits a batch without an outcome to another thread, once. The answer leaves it out after a second loss: here a
   * caller's pattern could block the event loop.
   */
  #takeLost({ batch, isRetry }: PendingBatch, pool: Pool<SearchJob, ThreadReply>): void {
    if (!isRetry) {
      this.#pending.unshift(this.#submit(batch, pool, true));
      return;
    }
    batch.release();
    this.#answer.cut();
    this.#page?.countLost(batch);
  }

  /** Adds the outcome of a batch to the answer. */
  #take(batch: Batch, outcome: BatchOutcome): void {
    if (outcome instanceof Error) throw outcome;
    if (batch.isEmpty) return;
    this.#pacing.speedUp();
    this.#page?.makeProgress();
    this.#indexUse?.note(batch, outcome.inIndex);
    this.#takeFindings(batch, outcome);
    this.#pacing.note(batch.count);
  }

  #takeFindings(batch: Batch, found: EncodedFindings): void {
    let searched = batch.count;
    for (const finding of decodeFindings(found)) {
      this.#add(batch, finding);
      if (!this.#answer.isFull) continue;
      searched = finding.index + 1;
      break;
    }
    if (found.outcomes !== undefined) this.#page?.count(found.outcomes, searched, !this.#answer.isFull);
  }

  /** Adds the findings of later batches when the search ends early: they are still in order. */
  #takeSettled(): void {
    if (this.#answer.isFull) return;
    this.#endEarly();
    // A page goes on where the first of these batches starts.
    if (this.#page !== undefined) return;
    for (const { batch, outcome } of this.#pending) {
      if (outcome !== undefined && !(outcome instanceof Error)) this.#takeFindings(batch, outcome);
    }
  }

  /** Whether it has to end early, with what it has. */
  #isOver(): boolean {
    return this.#options.deadline.left === 0 || this.#options.state.isClosed || this.#page?.isOver === true;
  }

  /** Cancels the batches under way. Each holds its folders until no thread opens files in them. */
  #endPending(): void {
    Atomics.store(this.#signal, 0, batchSignals.isOver);
    for (const pending of this.#pending.splice(0)) pending.end();
  }
}
