import type { SearchAnswerBuilder } from "./answer.ts";
import type { BatchSize } from "./batches.ts";
import type { PendingBatch } from "./pending.ts";
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

/** How far a search in threads goes ahead: little at first. */
export class Pacing {
  readonly #state: SearchState;
  #batchFiles = firstBatch;
  #mostPending = firstPending;

  constructor(state: SearchState) {
    this.#state = state;
  }

  /**
   * Each search gets its share of the folders that batches may hold, and at least one, so that it goes on. A batch of which
   * only paths are searched holds none.
   */
  nextSize({ wantsContent }: Pick<SearchAnswerBuilder, "wantsContent">): BatchSize {
    if (!wantsContent) {
      const files = Math.min(pathsPerFile * this.#batchFiles, largestOfPaths);
      return { files, folders: Number.POSITIVE_INFINITY, holdsFolders: false };
    }
    const { batchesAtOnce, active, held } = this.#state;
    const ofAll = Math.min(maxFolders, Math.floor(foldersAtOnce / batchesAtOnce));
    const ofRest = Math.floor((foldersAtOnce - held.folders) / active);
    return { files: this.#batchFiles, folders: Math.max(1, Math.min(ofAll, ofRest)) };
  }

  /** Whether to submit another batch. One that is settled and waits for an earlier one holds no folders. */
  maySubmit(pending: readonly PendingBatch[]): boolean {
    const { batchesAtOnce, active } = this.#state;
    const underWay = pending.filter(({ isSettled }) => !isSettled).length;
    const waiting = pending.reduce((sum, { units }) => sum + units, 0);
    return (
      underWay < Math.max(1, Math.floor(batchesAtOnce / active)) &&
      pending.length < this.#mostPending &&
      waiting < maxWaiting
    );
  }

  /** Allows more and larger batches, after one that did not fill the answer. */
  speedUp(): void {
    this.#mostPending++;
    this.#batchFiles = Math.min(2 * this.#batchFiles, largestBatch);
  }
}
