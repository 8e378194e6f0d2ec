import type { SearchAnswerBuilder } from "./answer/answer.ts";
import type { Batch, BatchSize } from "./batches/batches.ts";
import type { PendingBatch } from "./batches/pending.ts";
import type { SearchState } from "./state.ts";

/** Files of the first batches in threads, and of the largest: a search that is soon full should not be far ahead. */
const firstBatch = 16;
const largestBatch = 512;
/** Paths that are searched in the time of about one file. */
const pathsPerFile = 16;
/** The largest batch of them: the threads should have work while the walk goes on. */
const largestOfPaths = 1024;
/** Folders that one batch holds open, and that all batches hold together: a process may have 1,024 descriptors. */
const maxFolders = 64;
const foldersAtOnce = 640;
/** Batches under way at first; each reply allows one more. */
const firstPending = 6;
/** UTF-16 units of text that may wait for an earlier batch before the search submits no more. */
const maxWaiting = 4 * 1024 * 1024;

/** Files that may be ahead however full the answer is: as many as keep threads busy. */
const leastAhead = 4 * firstBatch;

/** Milliseconds that a search for a literal runs in this thread before it starts others: most, of few files, have ended by then. */
export const headStart = { scan: 1, verified: 1, watched: 5 } as const;
/** How many times as long it may run here when the answer is nearly full: threads would search too far ahead. */
export const maxHeadStart = 30;

/** What is submitted and not yet in the answer. */
export type Ahead = Pick<PendingBatch, "isSettled" | "units"> & { readonly batch: Pick<Batch, "count"> };

/** The part of an answer that says how soon it is full. */
type Filling = Pick<SearchAnswerBuilder, "wantsContent" | "fill">;

/** The part of what searches share that limits each. */
type Shared = Pick<SearchState, "batchesAtOnce" | "held" | "active">;

/**
 * How far a search in threads goes ahead: little at first, and later about as far as the answer is going to need, from how much
 * of it the files so far have filled.
 */
export class Pacing {
  readonly #state: Shared;
  readonly #answer: Filling;
  #batchFiles = firstBatch;
  #mostPending = firstPending;
  /** Files whose findings are in the answer, and those of them since the last finding. */
  #searched = 0;
  #withoutFinding = 0;
  #lastFill = 0;

  constructor(state: Shared, answer: Filling) {
    this.#state = state;
    this.#answer = answer;
  }

  /**
   * Each search gets its share of the folders that batches may hold, and at least one, so that it goes on. A batch of which
   * only paths are searched holds none.
   */
  nextSize(pending: readonly Ahead[]): BatchSize {
    const ahead = this.#filesAhead;
    // Several batches, so that no thread waits for the others, nor goes far beyond the last match.
    const ofAhead = Math.max(firstBatch, Math.min(Math.ceil(ahead / 4), ahead - filesOf(pending)));
    if (!this.#answer.wantsContent) {
      const files = Math.min(pathsPerFile * this.#batchFiles, largestOfPaths, ofAhead);
      return { files, folders: Number.POSITIVE_INFINITY, holdsFolders: false };
    }
    const { batchesAtOnce, active, held } = this.#state;
    const ofAll = Math.min(maxFolders, Math.floor(foldersAtOnce / batchesAtOnce));
    const ofRest = Math.floor((foldersAtOnce - held.folders) / active);
    const files = Math.min(this.#batchFiles, ofAhead);
    return { files, folders: Math.max(1, Math.min(ofAll, ofRest)) };
  }

  /** Whether to submit another batch. One that is settled and waits for an earlier one holds no folders. */
  maySubmit(pending: readonly Ahead[]): boolean {
    const { batchesAtOnce, active } = this.#state;
    const underWay = pending.filter(({ isSettled }) => !isSettled).length;
    const waiting = pending.reduce((sum, { units }) => sum + units, 0);
    return (
      underWay < Math.max(1, Math.floor(batchesAtOnce / active)) &&
      pending.length < this.#mostPending &&
      waiting < maxWaiting &&
      filesOf(pending) < this.#filesAhead
    );
  }

  /** Allows more and larger batches, after one that did not fill the answer. */
  speedUp(): void {
    this.#mostPending++;
    this.#batchFiles = Math.min(2 * this.#batchFiles, largestBatch);
  }

  /** Counts files whose findings are now in the answer. */
  note(files: number): void {
    const { fill } = this.#answer;
    this.#searched += files;
    this.#withoutFinding = fill === this.#lastFill ? this.#withoutFinding + files : 0;
    this.#lastFill = fill;
  }

  /**
   * Files that may be searched beyond those that are in the answer: what fills the rest of it if they are like those so far, and
   * where no more is found twice as many each time.
   */
  get #filesAhead(): number {
    const { fill, wantsContent } = this.#answer;
    const least = wantsContent ? leastAhead : pathsPerFile * leastAhead;
    if (fill === 0) return Number.POSITIVE_INFINITY;
    return Math.max(least, this.#withoutFinding, Math.ceil((this.#searched * (1 - fill)) / fill));
  }
}

const filesOf = (pending: readonly Ahead[]): number =>
  pending.reduce((sum, { batch }) => sum + batch.count, 0);
