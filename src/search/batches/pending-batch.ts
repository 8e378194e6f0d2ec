import type { PoolJob } from "../../base/threads/pool.ts";
import { PatternError, RegexEngineFailure } from "../../text/regex/regex-runtime.ts";
import type { Batch } from "./batches.ts";
import type { BatchReply, SearchedBatch, ThreadReply } from "./job.ts";

/** The findings of a batch, or the error of its pattern. */
export type BatchOutcome = SearchedBatch | Error;

/** The milliseconds that a thread has to notice the end of a search before its job is cancelled. */
const grace = 200;

/** A batch that a thread is searching. */
export class PendingBatch {
  readonly batch: Batch;
  /** The index of the first file that it searches. */
  readonly first: number;
  /** Whether a thread has been lost while it searched this batch. */
  readonly isRetry: boolean;
  readonly #running: PoolJob<ThreadReply>;
  readonly #ended: Promise<void>;
  #outcome: BatchOutcome | undefined;
  #isSettled = false;

  /** Calls `onSettled` when there is an outcome, or the thread ended without one. */
  constructor(
    batch: Batch,
    running: PoolJob<ThreadReply>,
    { first = 0, isRetry, onSettled }: { first?: number; isRetry: boolean; onSettled: () => void },
  ) {
    this.batch = batch;
    this.first = first;
    this.isRetry = isRetry;
    this.#running = running;
    const settle = (outcome: BatchOutcome | undefined) => {
      this.#isSettled = true;
      this.#outcome = outcome;
      // The thread has finished with the folders of this batch.
      if (outcome !== undefined) batch.release();
      onSettled();
    };
    this.#ended = running.reply.then(
      (reply) => settle(outcomeOf(reply as BatchReply)),
      () => settle(undefined),
    );
  }

  /** Resolves when the batch is settled, or the signal aborts. */
  async settledUnless(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#ended, aborted]);
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Returns the outcome, or `undefined` before the reply and if the thread ended without one. */
  get outcome(): BatchOutcome | undefined {
    return this.#outcome;
  }

  /** Returns the UTF-16 units of text that wait for an earlier batch. */
  get units(): number {
    if (this.#outcome === undefined || this.#outcome instanceof Error) return 0;
    return this.#outcome.ascii.length + this.#outcome.other.length;
  }

  /** Cancels the job unless the thread ends it by itself. Holds the folders until the job has ended. */
  end(): void {
    const timer = setTimeout(() => this.#running.cancel(), grace);
    void this.#ended.then(() => {
      clearTimeout(timer);
      this.batch.release();
    });
  }
}

/** Converts a reply. Returns `undefined` for a failure that a retry may avoid. */
function outcomeOf(reply: BatchReply): BatchOutcome | undefined {
  if ("numbers" in reply) return reply;
  const failure = [PatternError, RegexEngineFailure].find(({ name }) => name === reply.failure);
  return failure && new failure(reply.message);
}
