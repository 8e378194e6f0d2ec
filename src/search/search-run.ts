/**
 * Runs one search: a walk fills batches, this thread or others search them, and the answer collects the
 * findings in the order of the walk.
 */
import { setImmediate } from "node:timers/promises";
import { runInSlices } from "../base/scheduling/time-slice.ts";
import type { Pool } from "../base/threads/pool.ts";
import { unservedRoots } from "../filesystem/jail/roots.ts";
import { toSource } from "../text/regex/regex-runtime.ts";
import { SearchAnswerBuilder } from "./answer/answer.ts";
import { addRankedPaths } from "./answer/ranking.ts";
import { ResultPage } from "./answer/result-page.ts";
import { Batch, localBatch, takeBatch } from "./batches/batches.ts";
import type { Finding, FindingSink } from "./batches/files.ts";
import { decodeFindings, type EncodedFindings, partLength } from "./batches/findings-codec.ts";
import {
  type BatchJob,
  batchSignals,
  type SearchJob,
  type SharedInSearch,
  type ThreadReply,
} from "./batches/job.ts";
import { type BatchOutcome, PendingBatch } from "./batches/pending-batch.ts";
import type { ListedPaths } from "./index/listed-paths.ts";
import { Replay } from "./index/replay.ts";
import type { IndexUse } from "./index/search-index.ts";
import { SearchedFiles } from "./index/searched-files.ts";
import { LocalSearch } from "./local.ts";
import { isPathLiteral } from "./matchers/path-literal.ts";
import { isLiteral, needsEngine } from "./matchers/query-compiler.ts";
import { headStart, maxHeadStart, Pacing } from "./pacing.ts";
import { searchPaths } from "./path-search.ts";
import { beforeRanked, laterPlace, type Place } from "./place.ts";
import type { Found, SearchRequest } from "./request.ts";
import type { SearchOptions } from "./state.ts";
import { NewestFirst } from "./walk/newest-first.ts";
import { createOutcomes, outcomes } from "./walk/tally.ts";
import { Walk } from "./walk/walk.ts";

/**
 * Maximum length of a literal that this thread searches for: compiling it takes 5 ms per million characters.
 */
const maxLengthHere = 65_536;
/** Maximum matches of a search in this thread. One file with 10,000 of them takes 10 to 20 ms. */
const maxMatchesHere = 10_000;
/** Maximum steps in one file in this thread (`Effort`), of 20 ms or so. Others are left to threads. */
const maxStepsHere = 50_000;
/**
 * Milliseconds that a search runs in this thread before it starts the first threads. Starting them takes
 * about as long as 5,000 files, with two processors longer.
 */
const aloneMilliseconds = 150;
/** Milliseconds after which a search leaves its files to threads that have not started yet. */
const maxStartOfThreads = 1000;

/** Files in path order, and the places in the walk that an answer needs. */
type FilesInWalk = Pick<Batch, "isEmpty" | "pathOf" | "walkedPathOf" | "passedOverBefore">;

/** The first file of a batch in this thread that was not searched before the deadline. */
interface UnfinishedBatch {
  readonly batch: FilesInWalk;
  readonly index: number;
}

type SearchPool = Pool<SearchJob, ThreadReply>;

/**
 * The way to search. `paths`: for a literal in paths alone, without opening files. `here`: in this thread
 * alone. `here-first`: in this thread for a moment, then in others. `threads`: in other threads, because a
 * caller's pattern could block the event loop here.
 */
type Strategy =
  | { readonly name: "paths" | "here" }
  | { readonly name: "here-first" | "threads"; readonly pool: SearchPool };

export class SearchRun {
  readonly #options: SearchOptions;
  readonly #answer: SearchAnswerBuilder;
  /** The source of the files: the walk, or a list from the watched tree that replaces it. */
  #source: Walk | NewestFirst | Replay | ListedPaths;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  /** The batches under way, and between them the files whose results are known. */
  readonly #pending: (PendingBatch | SearchedFiles)[] = [];
  readonly #pacing: Pacing;
  readonly #local: LocalSearch;
  readonly #page: ResultPage | undefined;
  readonly #indexUse: IndexUse | undefined;
  #shared: SharedInSearch | undefined;
  readonly #needsEngine: boolean;
  #unfinished: UnfinishedBatch | undefined;
  #endsEarly = false;
  /** Whether the answer holds all paths that match fuzzily, if requested. */
  #isRanked = true;
  /** Ends the wait for a reply. */
  #wake = () => {};

  constructor(options: SearchOptions) {
    this.#options = options;
    const { request, leftOut } = options;
    this.#indexUse = leftOut?.index ? undefined : options.state.index?.use(options);
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
      // A page that is not in path order lists all folders again.
      onUnreadable: (folder) => this.#page?.countUnreadableFolder(isByPath ? folder : ""),
    });
    this.#source = isByPath ? walk : new NewestFirst(walk, { jail: options.walk.jail, after });
    this.#needsEngine = needsEngine(options.request.query);
    this.#noteGoneRoots();
  }

  /**
   * Runs the search. Throws a refusal for the start, a `PatternError`, an `EngineFailure`, or the errno error
   * that would prevent any read.
   */
  async run(): Promise<Found> {
    try {
      if (this.#options.request.fuzzyPaths && !(await this.#addRanked())) return this.#render();
      const strategy = this.#chooseStrategy();
      switch (strategy.name) {
        case "paths":
          break;
        case "here":
          this.#local.compile();
          await this.#searchHere(() => true);
          break;
        case "here-first":
          await this.#consultIndex();
          await this.#searchFirstHere(strategy.pool);
          await this.#searchInThreads(strategy.pool);
          break;
        case "threads":
          if (this.#options.request.query.pattern.length > maxLengthHere) {
            // A pattern of this length is refused, as by the thread.
            if (!isLiteral(this.#options.request.query)) toSource(this.#options.request.query);
            // Starting the threads and sending them a long query take a turn each.
            await setImmediate();
            strategy.pool.prepare();
            await setImmediate();
          }
          this.#compileInThread(strategy.pool);
          await this.#consultIndex();
          await this.#searchInThreads(strategy.pool);
      }
      // Only the rest of the paths is of interest once the answer takes no further contents.
      if (this.#isPathLiteral && !this.#endsEarly) await this.#searchPaths();
      return this.#render();
    } finally {
      this.#source.close();
      this.#options.folder.release();
      this.#endPending();
      this.#page?.end();
      this.#indexUse?.end();
    }
  }

  #chooseStrategy(): Strategy {
    const { request, state, walk, leftOut } = this.#options;
    const mayPost = !leftOut?.threads && walk.jail.backend !== "current-directory";
    const pool = mayPost ? state.pool : undefined;
    if (pool === undefined) return { name: this.#isPathLiteral ? "paths" : "here" };
    const { length } = request.query.pattern;
    // No file is long enough to contain it, and no path.
    if (isLiteral(request.query) && length > Math.max(maxLengthHere, request.maxFileBytes))
      return { name: "paths" };
    const { mode = "content", encoding, encodings = [] } = request.lines;
    const findsMany = mode === "content" && request.maxMatches > maxMatchesHere;
    // Decoding a large file takes long, except from UTF-8 and UTF-16.
    const isDecoded = encoding !== undefined || encodings.length > 0;
    // So does finding U+FFFD, since a line that is not UTF-8 is decoded whole.
    const isLong = request.content && (findsMany || isDecoded || this.#needsEngine);
    if (!isLiteral(request.query) || length > maxLengthHere || isLong) return { name: "threads", pool };
    return this.#isPathLiteral && this.#indexUse === undefined
      ? { name: "paths" }
      : { name: "here-first", pool };
  }

  /**
   * Has a thread compile the query, as the search of a batch without files. Its reply comes before all
   * others, with the error of the pattern, or with the n-grams that the index needs.
   */
  #compileInThread(pool: SearchPool): void {
    const batch = new Batch(localBatch, this.#options.state.held);
    this.#pending.push(this.#submit(batch, pool, { isRetry: false }));
  }

  async #consultIndex(): Promise<void> {
    const use = this.#indexUse;
    if (use === undefined) return;
    const [compiling] = this.#pending;
    const replay = await use.consult(compiling instanceof PendingBatch ? compiling : undefined, this.#page);
    this.#replaceSource(replay);
    this.#answer.index = use.foundBy;
  }

  #replaceSource(source: Replay | ListedPaths | undefined): void {
    if (source === undefined) return;
    this.#source.close();
    this.#source = source;
  }

  /** Adds the ranked paths. Returns false if the page has to end before all of them are known. */
  async #addRanked(): Promise<boolean> {
    const [answer, page] = [this.#answer, this.#page];
    this.#isRanked = await addRankedPaths(answer, page, {
      ...this.#options,
      isClosed: () => this.#options.state.isClosed,
      onTooDeep: () => answer.cut(),
    });
    return this.#isRanked;
  }

  /** Returns whether the rest of the search matches a literal against paths. */
  get #isPathLiteral(): boolean {
    return !this.#answer.wantsContent && isPathLiteral(this.#options.request.query);
  }

  async #searchPaths(): Promise<void> {
    const listed = await this.#options.state.index?.listPaths(this.#options, this.#page);
    this.#replaceSource(listed);
    if (listed !== undefined) this.#answer.index = "watched";
    const found = { rest: this.#source, answer: this.#answer, page: this.#page };
    if (!(await searchPaths({ ...this.#options, ...found, isOver: () => this.#isOver() }))) this.#endEarly();
  }

  /** Notes the roots that a walk of the top folder passes over, because no folder is there. */
  #noteGoneRoots(): void {
    const { folder, walk } = this.#options;
    const { jail } = walk;
    if (this.#page === undefined || !jail.hasTop || folder.folder.path !== "") return;
    this.#page.noteGoneRoots(unservedRoots(jail));
  }

  #render(): Found {
    this.#noteGoneRoots();
    return renderFound({
      answer: this.#answer,
      page: this.#page,
      walk: this.#source,
      pending: this.#pending,
      unfinished: this.#unfinished,
      isRanked: this.#isRanked,
      endsEarly: this.#endsEarly,
    });
  }

  /**
   * Searches in this thread before others do: for a moment, or longer if the answer is nearly full, or if no
   * thread has started yet.
   */
  async #searchFirstHere(pool: SearchPool): Promise<void> {
    const started = performance.now();
    const milliseconds = headStart[this.#answer.index];
    const mayGoOn = () =>
      performance.now() - started < milliseconds * (1 + (maxHeadStart - 1) * this.#answer.fill);
    if (await this.#searchHere(mayGoOn, pool)) return;
    if (this.#isPathLiteral || pool.isReady) return;
    const mayWait = (most: number) => () => !pool.isReady && performance.now() - started < most;
    if (await this.#searchHere(mayWait(aloneMilliseconds), pool)) return;
    pool.prepare();
    await this.#searchHere(mayWait(maxStartOfThreads), pool);
  }

  /**
   * Searches batch by batch in this thread, up to a file that it leaves to threads, if `pool` has some.
   * Returns true if nothing is left to search, or no time.
   */
  async #searchHere(mayGoOn: () => boolean, pool?: SearchPool): Promise<boolean> {
    while (!this.#answer.isFull && !this.#isPathLiteral && this.#pending.length === 0 && mayGoOn()) {
      const searched = this.#takeSearched();
      if (searched !== undefined) await this.#addSearched(searched);
      else {
        const batch = takeBatch(this.#source, localBatch, this.#options.state.held);
        if (batch === undefined) return true;
        await this.#searchBatchHere(batch, pool);
        if (batch.isEmpty) this.#page?.makeProgressTo(this.#source.position);
      }
      if (this.#isOver()) {
        this.#endEarly();
        return true;
      }
      await this.#yieldIfDue();
    }
    return this.#answer.isFull;
  }

  /** Returns the next files whose results are known, if the walk has reached such files. */
  #takeSearched(): SearchedFiles | undefined {
    return this.#source instanceof Replay ? this.#source.takeSearched() : undefined;
  }

  /** Adds the results of files that earlier searches have found. */
  async #addSearched(files: SearchedFiles): Promise<void> {
    this.#page?.makeProgress();
    let searched = files.count;
    for (const part of partsOf(files)) {
      this.#add(files, part);
      if (this.#answer.isFull) {
        searched = part.index + 1;
        break;
      }
      await this.#yieldIfDue();
    }
    this.#page?.count(files.outcomes(), searched, !this.#answer.isFull);
    this.#noteSearched(files.count);
  }

  async #searchBatchHere(batch: Batch, pool: SearchPool | undefined): Promise<void> {
    const record = this.#page && createOutcomes(batch.count);
    const known = this.#indexUse?.knownIn(batch);
    const findings: Finding[] = [];
    const sink = new AnswerSink(this.#answer, (finding) => {
      findings.push(finding);
      this.#add(batch, finding);
    });
    const maxSteps = pool === undefined ? undefined : maxStepsHere;
    const options = { outcomes: record, known, after: this.#page?.afterIn(batch), maxSteps };
    const first = await runInSlices(this.#local.search(batch, sink, options), this.#options.slice);
    if (first !== undefined) this.#pending.push(this.#submit(batch, pool!, { first, isRetry: false }));
    this.#noteSearched(first ?? batch.count);
    // All files are indexed after the search of the rest.
    if (first === undefined || known !== undefined) this.#indexUse?.note(batch, known);
    if (known !== undefined) this.#indexUse?.keep(findings, known, record);
    if (record !== undefined) this.#noteOutcomes(batch, record, first);
  }

  #noteSearched(files: number): void {
    this.#pacing.note(files);
    this.#options.onFiles?.(files);
  }

  /** Notes the outcomes of a batch, whose files from `first` on threads search. */
  #noteOutcomes(batch: Batch, record: Float64Array, first: number | undefined): void {
    this.#page?.count(record, batch.count, !this.#answer.isFull);
    if (first === 0) return;
    const isWhole = this.#answer.isFull || first !== undefined;
    const unfinished = isWhole ? -1 : record.indexOf(outcomes.notReached);
    if (unfinished >= 0) this.#unfinished = { batch, index: unfinished };
    else if (!batch.isEmpty) this.#page?.makeProgress();
  }

  #endEarly(): void {
    if (this.#page === undefined) this.#answer.cut();
    this.#endsEarly = true;
  }

  #add(batch: FilesInWalk, finding: Finding): void {
    this.#answer.add(batch.pathOf(finding.index), finding);
    this.#page?.noteMatch(batch, finding.index, this.#answer.lastAdded);
    if (this.#answer.isFull) this.#page?.notePassedOver(batch.passedOverBefore(finding.index));
    if (!this.#answer.wantsContent) Atomics.store(this.#signal, 0, batchSignals.contentIsOver);
  }

  /** Keeps batches under way in threads, and collects their findings in the order of submission. */
  async #searchInThreads(pool: SearchPool): Promise<void> {
    const { signal } = this.#options.deadline;
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    this.#page?.signal?.addEventListener("abort", wake, { once: true });
    while (!this.#answer.isFull && !this.#isOver()) {
      if (!this.#isPathLiteral) await this.#post(pool);
      if (await this.#takeNext(pool)) continue;
      if (this.#isOver()) break;
      if (this.#pending.length === 0) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    signal.removeEventListener("abort", wake);
    await this.#takeSettled();
  }

  async #post(pool: SearchPool): Promise<void> {
    while (this.#pacing.maySubmit(this.#underWay) && !this.#isOver()) {
      const searched = this.#takeSearched();
      if (searched !== undefined) {
        this.#pending.push(searched);
        await this.#yieldIfDue();
        if (this.#pending.length === 1) return;
        continue;
      }
      const batch = takeBatch(this.#source, this.#pacing.nextSize(this.#underWay), this.#options.state.held);
      if (batch === undefined) return;
      if (!batch.isEmpty) this.#pending.push(this.#submit(batch, pool, { isRetry: false }));
      else {
        // The walk yielded to others.
        batch.release();
        if (this.#pending.length > 0) return;
        this.#page?.makeProgressTo(this.#source.position);
      }
      await this.#yieldIfDue();
    }
  }

  /**
   * Yields when the slice is used up. The event loop handles messages of threads first, so fast replies would
   * starve everything else.
   */
  async #yieldIfDue(): Promise<void> {
    if (this.#options.slice.isDue) await this.#options.slice.yieldIfDue();
  }

  /** Returns the batches in threads that are not yet in the answer. */
  get #underWay(): PendingBatch[] {
    return this.#pending.filter((one) => one instanceof PendingBatch);
  }

  /** Has a thread search the files of a batch from the index `first` on. */
  #submit(
    batch: Batch,
    pool: SearchPool,
    { first = 0, isRetry }: { first?: number; isRetry: boolean },
  ): PendingBatch {
    const own = { answer: this.#answer, page: this.#page, signal: this.#signal, indexUse: this.#indexUse };
    const job = batchJobOf(batch, { ...this.#options, ...own, first });
    const running = pool.run(job, this.#sharedWithThreads());
    return new PendingBatch(batch, running, { first, isRetry, onSettled: () => this.#wake() });
  }

  #sharedWithThreads(): SharedInSearch | undefined {
    const { state } = this.#options;
    const candidates = this.#indexUse?.candidates;
    const engine = this.#needsEngine ? state.engineModule() : undefined;
    if (engine === undefined && candidates === undefined) return undefined;
    if (this.#shared === undefined || this.#shared.candidates !== candidates)
      this.#shared = { engine, candidates };
    return this.#shared;
  }

  /** Collects the first batch under way, if it is settled. */
  async #takeNext(pool: SearchPool): Promise<boolean> {
    const [first] = this.#pending;
    if (first instanceof PendingBatch && !first.isSettled) return false;
    if (first === undefined) return false;
    this.#pending.shift();
    if (first instanceof SearchedFiles) await this.#addSearched(first);
    else if (first.outcome === undefined) this.#takeLost(first, pool);
    else await this.#take(first, first.outcome);
    return true;
  }

  /**
   * Submits a batch without an outcome to another thread, once. After a second loss the answer leaves it out,
   * because a caller's pattern could block the event loop here.
   */
  #takeLost({ batch, first, isRetry }: PendingBatch, pool: SearchPool): void {
    if (!isRetry) {
      this.#pending.unshift(this.#submit(batch, pool, { first, isRetry: true }));
      return;
    }
    batch.release();
    this.#answer.cut();
    this.#page?.countLost(batch.count - first);
  }

  /** Adds the outcome of a batch to the answer. */
  async #take({ batch, first }: PendingBatch, outcome: BatchOutcome): Promise<void> {
    if (outcome instanceof Error) throw outcome;
    if (batch.isEmpty) return;
    this.#pacing.speedUp();
    this.#page?.makeProgress();
    this.#indexUse?.note(batch, outcome.inIndex);
    await this.#takeFindings(batch, outcome);
    this.#noteSearched(batch.count - first);
  }

  async #takeFindings(batch: Batch, found: EncodedFindings): Promise<void> {
    let searched = batch.count;
    const findings: Finding[] = [];
    const parts: Finding[] = [];
    for (const { part, isLast } of decodeFindings(found)) {
      this.#add(batch, part);
      if (found.inIndex !== undefined) {
        parts.push(part);
        if (isLast) findings.push(joined(parts.splice(0)));
      }
      if (this.#answer.isFull) {
        searched = part.index + 1;
        break;
      }
      await this.#yieldIfDue();
    }
    if (found.inIndex !== undefined) this.#indexUse?.keep(findings, found.inIndex, found.outcomes);
    if (found.outcomes !== undefined) this.#page?.count(found.outcomes, searched, !this.#answer.isFull);
  }

  /** Adds the findings of later batches when the search ends early. They are still in order. */
  async #takeSettled(): Promise<void> {
    if (this.#answer.isFull) return;
    this.#endEarly();
    // The next page starts with the first of these batches.
    if (this.#page !== undefined) return;
    for (const pending of this.#pending) {
      if (pending instanceof SearchedFiles) await this.#addSearched(pending);
      else if (pending.outcome !== undefined && !(pending.outcome instanceof Error))
        await this.#takeFindings(pending.batch, pending.outcome);
    }
  }

  /** Returns whether the search has to end early, with its findings so far. */
  #isOver(): boolean {
    return this.#options.deadline.left === 0 || this.#options.state.isClosed || this.#page?.isOver === true;
  }

  /** Cancels the batches under way. Each holds its folders until no thread opens files in them. */
  #endPending(): void {
    Atomics.store(this.#signal, 0, batchSignals.isOver);
    for (const pending of this.#pending.splice(0)) if (pending instanceof PendingBatch) pending.end();
  }
}

/** Returns the results of files in parts, like those of a batch. */
function* partsOf({ results }: SearchedFiles): Generator<Finding> {
  for (const [index, { lines, count, matches }] of results.entries()) {
    const first = { index, isInPath: false, count, ...(matches !== undefined && { matches }) };
    const later = { index, isInPath: false, count: 0 };
    for (let from = 0; from === 0 || from < lines.length; from += partLength)
      yield { ...(from === 0 ? first : later), lines: lines.slice(from, from + partLength) };
  }
}

/** Returns the finding that has these parts. */
const joined = (parts: readonly Finding[]): Finding =>
  parts.length === 1 ? parts[0]! : { ...parts[0]!, lines: parts.flatMap(({ lines }) => lines) };

/** Forwards findings to the answer, and takes as many as it does. */
class AnswerSink implements FindingSink {
  readonly #answer: SearchAnswerBuilder;
  readonly add: (finding: Finding) => void;

  constructor(answer: SearchAnswerBuilder, add: (finding: Finding) => void) {
    this.#answer = answer;
    this.add = add;
  }

  get wantsPaths(): boolean {
    return this.#answer.wantsPaths;
  }

  get wantsContent(): boolean {
    return this.#answer.wantsContent;
  }

  get remainingEntries(): number {
    return this.#answer.remainingEntries;
  }

  get remainingUnits(): number {
    return this.#answer.remainingUnits;
  }
}

interface JobOptions {
  readonly request: SearchRequest;
  readonly answer: SearchAnswerBuilder;
  readonly page: ResultPage | undefined;
  readonly signal: Int32Array;
  readonly indexUse: IndexUse | undefined;
  /** The index of the first file to search. */
  readonly first: number;
}

/** Returns the job of a thread for a batch, which finds at most as much as the answer currently takes. */
function batchJobOf(batch: Batch, { request, answer, page, signal, indexUse, first }: JobOptions): BatchJob {
  const { query, lines, maxFileBytes, maxAnswerBytes } = request;
  return {
    query,
    lines,
    maxFileBytes,
    wantsPaths: answer.wantsPaths,
    remainingEntries: answer.wantsContent ? answer.remainingEntries : 0,
    remainingUnits: page === undefined ? maxAnswerBytes : answer.remainingUnits,
    first,
    after: page?.afterIn(batch),
    wantsOutcomes: page !== undefined,
    signal,
    records: indexUse?.recordsIn(batch),
    wantsKnown: indexUse?.wantsKnown === true,
    wantsNeeded: batch.isEmpty && indexUse?.wantsNeeded === true,
    files: batch.post(answer.wantsPaths || lines.encodings !== undefined),
  };
}

interface EndedSearch {
  readonly answer: SearchAnswerBuilder;
  readonly page: ResultPage | undefined;
  readonly walk: Pick<Walk, "position" | "passedOver" | "firstLeftOut" | "unmatchedGlobs">;
  /** The batches whose findings are not in the page. */
  readonly pending: readonly (PendingBatch | SearchedFiles)[];
  readonly unfinished: UnfinishedBatch | undefined;
  /** Whether all ranked paths are in the answer, if requested. */
  readonly isRanked: boolean;
  readonly endsEarly: boolean;
}

/** Renders the answer of a search that has ended. */
function renderFound(ended: EndedSearch): Found {
  const { answer, page, walk, isRanked, endsEarly } = ended;
  if (page === undefined) return answer.render();
  const { stoppedBy: by } = answer;
  if (by !== undefined) return answer.render(page.fields(walk, { by, at: page.lastPlace }));
  const resumed = endsEarly ? placeToResume({ ...ended, page }) : undefined;
  const at = isRanked ? resumed : page.lastPlace;
  if (at === undefined) return answer.render(page.fields(walk));
  answer.cut();
  return answer.render(page.fields(walk, { by: "deadline", at }));
}

/**
 * Returns the first file or folder that a search which ended early has not searched to its end, or
 * `undefined` if all were.
 */
function placeToResume({
  page,
  walk,
  pending,
  unfinished,
}: EndedSearch & { readonly page: ResultPage }): Place | undefined {
  const [waiting] = pending
    .map((one) =>
      one instanceof PendingBatch ? { batch: one.batch, index: one.first } : { batch: one, index: 0 },
    )
    .filter(({ batch }) => !batch.isEmpty);
  const { batch, index } = unfinished ?? waiting ?? { batch: undefined, index: 0 };
  if (batch !== undefined) page.notePassedOver(batch.passedOverBefore(index));
  const file = batch === undefined ? walk.position : batch.walkedPathOf(index);
  return file === undefined ? undefined : laterPlace(file, page.after);
}
