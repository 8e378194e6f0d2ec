/**
 * One search under way: a walk that gives batches, batches that are searched here or in threads, and an answer that
 * takes what was found in the order of the walk.
 */
import type { Deadline } from "../deadline.ts";
import { EngineFailure, PatternError } from "../regex/machine.ts";
import type { Pool, Running } from "../threads/pool.ts";
import { Answer } from "./answer.ts";
import { type Batch, takeBatch } from "./batches.ts";
import { type Sink, searchFiles } from "./files.ts";
import { type Packed, unpack } from "./packed.ts";
import type { SearchAnswer, SearchRequest } from "./search.ts";
import type { BatchJob, BatchReply, JobFolder } from "./thread.ts";
import type { Tools } from "./tools.ts";
import { type HeldFolder, type Run, type WalkOptions, walk } from "./walk.ts";

/** What the searches of a worker share. */
export interface Means {
  /** Undefined where there are no threads. */
  readonly pool: Pool<BatchJob, BatchReply> | undefined;
  /** Batches under way, of all searches together: each holds folders open. */
  readonly batchesAtOnce: number;
  /** Searches under way. */
  active: number;
  /** The worker ends: searches answer with what they have. */
  isClosed: boolean;
  /** For what is searched in this thread; undefined until something is. */
  tools: Tools | undefined;
  readonly openTools: () => Tools;
}

export interface SearchOptions {
  readonly request: SearchRequest;
  readonly deadline: Deadline;
  readonly means: Means;
  /** Where the walk starts. Released by the search. */
  readonly folder: HeldFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep">;
}

/** What a thread has found in a batch, or what is wrong with the pattern. */
type Outcome = Packed | Error;

/** A batch that a thread works on. */
interface Pending {
  readonly batch: Batch;
  readonly running: Running<BatchReply>;
  /** Resolves to undefined when no thread can tell. */
  readonly outcome: Promise<Outcome | undefined>;
  /** The outcome, once it is there. */
  settled?: Outcome | undefined;
}

const lateness = Symbol("the deadline has passed");

/** Milliseconds of work after which others get a turn in this thread. */
const turn = 10;
/** Milliseconds that a plain search works here before it takes to threads: most are done by then. */
const head = 5;
/** How many times as long it may go on when that nearly fills the answer: threads would search much that is not needed. */
const longestHead = 6;
/** Files of the first batches in threads, and of the largest: a search that is soon full should not be far ahead. */
const firstBatch = 16;
const largestBatch = 256;
/** Batches that are under way at first; each that is answered makes room for one more. */
const firstPending = 2;
/** Milliseconds that a thread is given to notice that a search is over. */
const grace = 200;

export class Search {
  readonly #options: SearchOptions;
  readonly #answer: Answer;
  readonly #runs: Generator<Run>;
  readonly #over = new Int32Array(new SharedArrayBuffer(4));
  readonly #pending: Pending[] = [];
  #batchFiles = firstBatch;
  #mostPending = firstPending;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#answer = new Answer({ ...options.request, maxBytes: options.request.maxAnswerBytes });
    this.#runs = walk(options.folder, { ...options.walk, onTooDeep: () => this.#answer.cut() });
  }

  /** Throws a `PatternError` or an `EngineFailure`. */
  async run(): Promise<SearchAnswer> {
    const { request, means, folder } = this.#options;
    try {
      if (means.pool === undefined || folder.folder.descriptor === undefined) {
        await this.#searchHere(Number.POSITIVE_INFINITY);
      } else {
        // No pattern of a caller is matched in this thread when another can do it: nothing could end it here.
        if (!request.regex && !request.ignoreCase) await this.#searchHere(head);
        await this.#searchInThreads(means.pool);
      }
    } finally {
      this.#runs.return(undefined);
      folder.release();
      this.#endPending();
    }
    return this.#answer.render();
  }

  /** Searches run by run in this thread, for so many milliseconds, or longer if the answer is soon full. */
  async #searchHere(milliseconds: number): Promise<void> {
    const started = performance.now();
    const mayGoOn = () =>
      performance.now() - started < milliseconds * (1 + (longestHead - 1) * this.#answer.fill);
    let turnEnds = started + turn;
    while (!this.#answer.isFull && mayGoOn()) {
      const batch = takeBatch(this.#runs, 1);
      if (batch === undefined) break;
      this.#searchBatchHere(batch);
      if (this.#isOver()) break;
      if (performance.now() < turnEnds) continue;
      await breath();
      turnEnds = performance.now() + turn;
    }
  }

  #searchBatchHere(batch: Batch): void {
    const { request, means } = this.#options;
    try {
      means.tools ??= means.openTools();
      const { planner, buffer } = means.tools;
      const isOver = () => this.#isOver();
      searchFiles(
        batch.files(),
        { ...request, query: planner.plan(request), buffer, isOver },
        this.#sink(batch),
      );
      if (isOver()) this.#answer.cut();
    } finally {
      batch.release();
    }
  }

  #sink(batch: Batch): Sink {
    const answer = this.#answer;
    return {
      get wantsPaths() {
        return answer.wantsPaths;
      },
      get wantsContent() {
        return answer.wantsContent;
      },
      get contentRoom() {
        return answer.contentRoom;
      },
      add: (finding) => answer.add(batch.pathOf(finding.index), finding),
    };
  }

  /** Keeps batches under way in threads, and takes in what they find in the order they were given. */
  async #searchInThreads(pool: Pool<BatchJob, BatchReply>): Promise<void> {
    const late = abortOf(this.#options.deadline.signal).then((): typeof lateness => lateness);
    while (!this.#answer.isFull && !this.#isOver()) {
      await this.#post(pool);
      const [first] = this.#pending;
      if (first === undefined) {
        if (this.#isOver()) break;
        return;
      }
      const outcome = await Promise.race([first.outcome, late]);
      if (outcome === lateness) break;
      this.#take(first, outcome);
    }
    this.#takeSettled();
  }

  async #post(pool: Pool<BatchJob, BatchReply>): Promise<void> {
    const { batchesAtOnce, active } = this.#options.means;
    const most = Math.max(1, Math.min(this.#mostPending, Math.floor(batchesAtOnce / active)));
    while (this.#pending.length < most && !this.#isOver()) {
      const batch = takeBatch(this.#runs, this.#batchFiles);
      if (batch === undefined) return;
      if (batch.isEmpty) {
        batch.release();
        if (this.#pending.length > 0) return;
        await breath();
        continue;
      }
      this.#pending.push(pending(batch, pool.run(this.#jobOf(batch))));
    }
  }

  #jobOf(batch: Batch): BatchJob {
    const { query, regex, ignoreCase, maxLineBytes, textBytes, maxFileBytes, maxAnswerBytes } =
      this.#options.request;
    return {
      question: { query, regex, ignoreCase, maxLineBytes, textBytes },
      maxFileBytes,
      wantsPaths: this.#answer.wantsPaths,
      contentRoom: this.#answer.wantsContent ? this.#answer.contentRoom : 0,
      textRoom: maxAnswerBytes,
      over: this.#over,
      folders: batch.runs.map(jobFolder),
    };
  }

  /** Takes in what was found in the first batch under way. A batch without an outcome is searched here. */
  #take({ batch }: Pending, outcome: Outcome | undefined): void {
    this.#pending.shift();
    this.#mostPending++;
    this.#batchFiles = Math.min(2 * this.#batchFiles, largestBatch);
    if (outcome === undefined) {
      this.#searchBatchHere(batch);
      return;
    }
    batch.release();
    if (outcome instanceof Error) throw outcome;
    this.#takeFindings(batch, outcome);
  }

  #takeFindings(batch: Batch, found: Packed): void {
    for (const finding of unpack(found)) this.#answer.add(batch.pathOf(finding.index), finding);
  }

  /** When it has to end early: what was found in later batches is still in order. */
  #takeSettled(): void {
    if (this.#answer.isFull) return;
    this.#answer.cut();
    for (const { batch, settled } of this.#pending) {
      if (settled !== undefined && !(settled instanceof Error)) this.#takeFindings(batch, settled);
    }
  }

  /** Whether it has to end early, with what it has. */
  #isOver(): boolean {
    return this.#options.deadline.left === 0 || this.#options.means.isClosed;
  }

  /** Tells the threads, and ends those that do not listen. Folders are held until nobody opens files in them. */
  #endPending(): void {
    Atomics.store(this.#over, 0, 1);
    for (const { batch, running, outcome } of this.#pending.splice(0)) {
      const timer = setTimeout(() => running.giveUp(), grace);
      void outcome.then(() => {
        clearTimeout(timer);
        batch.release();
      });
    }
  }
}

/** Lets whatever else waits have its turn. */
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function pending(batch: Batch, running: Running<BatchReply>): Pending {
  const entry: Pending = {
    batch,
    running,
    outcome: running.reply.then(
      (reply) => {
        entry.settled = outcomeOf(reply);
        return entry.settled;
      },
      () => undefined,
    ),
  };
  return entry;
}

/** Undefined for a failure that another try may mend. */
function outcomeOf(reply: BatchReply): Outcome | undefined {
  if ("text" in reply) return reply;
  const failure = [PatternError, EngineFailure].find(({ name }) => name === reply.failure);
  return failure && new failure(reply.message);
}

function jobFolder({ folder: { folder }, files }: Run): JobFolder {
  const names = files.map(({ entry }) => entry.raw);
  return {
    descriptor: folder.descriptor as number,
    prefix: folder.path === "" ? "" : `${folder.path}/`,
    names: names.every((name) => typeof name === "string")
      ? names.join("/")
      : names.map((name) => Buffer.from(name)),
  };
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
