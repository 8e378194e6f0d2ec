import type { SearchAnswerBuilder } from "./answer/answer.ts";
import type { Batch, BatchSize } from "./batches/batches.ts";
import type { PendingBatch } from "./batches/pending-batch.ts";
import type { SearchState } from "./state.ts";

/**
 * The files of the first batches in threads, and of the largest. A search that is soon full should not be far
 * ahead.
 */
const firstBatch = 16;
const largestBatch = 512;
/** The number of paths that are searched in the time of about one file. */
const pathsPerFile = 16;
/** Maximum paths per batch, so that the threads have work while the walk continues. */
const largestOfPaths = 1024;
/**
 * Maximum folders that one batch, and all batches together, hold open. A process may have 1,024 descriptors.
 */
const maxFolders = 64;
const foldersAtOnce = 640;
/** The batches that may be under way at first. Each reply allows one more. */
const firstPending = 6;
/** Maximum UTF-16 units of text that may wait for an earlier batch before the search stops submitting. */
const maxWaiting = 4 * 1024 * 1024;

/** The files that may be ahead however full the answer is: enough to keep the threads busy. */
const minAhead = 4 * firstBatch;

/**
 * The milliseconds that a search for a literal runs in this thread before it uses others. A search of few
 * files usually ends within them.
 */
export const headStart = { scan: 1, verified: 1, watched: 5 } as const;
/**
 * The factor that extends the head start when the answer is nearly full, because threads would search too far
 * ahead.
 */
export const maxHeadStart = 30;

/** A batch that is submitted and not yet in the answer. */
export type Ahead = Pick<PendingBatch, "isSettled" | "units"> & { readonly batch: Pick<Batch, "count"> };

/** The part of an answer that shows how soon it is full. */
type Filling = Pick<SearchAnswerBuilder, "wantsContent" | "fill">;

/** The shared state that limits each search. */
type Shared = Pick<SearchState, "batchesAtOnce" | "held" | "active">;

/**
 * Decides how far a search in threads goes ahead: little at first, and later about the number of files that
 * the answer needs, estimated from how much of it the files so far have filled.
 */
export class Pacing {
  readonly #state: Shared;
  readonly #answer: Filling;
  #batchFiles = firstBatch;
  #maxPending = firstPending;
  /** The number of files whose findings are in the answer, and of those since the last finding. */
  #searched = 0;
  #withoutFinding = 0;
  #lastFill = 0;

  constructor(state: Shared, answer: Filling) {
    this.#state = state;
    this.#answer = answer;
  }

  /**
   * Returns the size of the next batch. Each search gets its share of the folders that batches may hold, and
   * at least one, so that it advances. A batch that searches only paths holds none.
   */
  nextSize(pending: readonly Ahead[]): BatchSize {
    const ahead = this.#filesAhead;
    // Several batches, so that no thread waits for the others, or goes far beyond the last match.
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

  /**
   * Returns whether to submit another batch. A settled batch that waits for an earlier one holds no folders.
   */
  maySubmit(pending: readonly Ahead[]): boolean {
    const { batchesAtOnce, active } = this.#state;
    const underWay = pending.filter(({ isSettled }) => !isSettled).length;
    const waiting = pending.reduce((sum, { units }) => sum + units, 0);
    return (
      underWay < Math.max(1, Math.floor(batchesAtOnce / active)) &&
      pending.length < this.#maxPending &&
      waiting < maxWaiting &&
      filesOf(pending) < this.#filesAhead
    );
  }

  /** Allows more and larger batches, after one that did not fill the answer. */
  speedUp(): void {
    this.#maxPending++;
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
   * Returns how many files may be searched beyond those in the answer: enough to fill the rest of it if they
   * resemble those so far, or twice as many each time while nothing is found.
   */
  get #filesAhead(): number {
    const { fill, wantsContent } = this.#answer;
    const least = wantsContent ? minAhead : pathsPerFile * minAhead;
    if (fill === 0) return Number.POSITIVE_INFINITY;
    return Math.max(least, this.#withoutFinding, Math.ceil((this.#searched * (1 - fill)) / fill));
  }
}

const filesOf = (pending: readonly Ahead[]): number =>
  pending.reduce((sum, { batch }) => sum + batch.count, 0);
