import type { Steps } from "../base/scheduling/time-slice.ts";
import type { Batch } from "./batches/batches.ts";
import { FileCursor } from "./batches/file-cursor.ts";
import { type FileSearch, type FindingSink, searchFiles } from "./batches/files.ts";
import type { ThreadEngines } from "./matchers/thread-engines.ts";
import type { SearchRequest } from "./request.ts";
import type { SearchState } from "./state.ts";

/** Interrupts a call of the regex engine when the search has to end. */
class SearchEnded extends Error {
  override readonly name = "SearchEnded";
}

/** Milliseconds after which a step ends, at the end of a file. */
const stepMilliseconds = 2;

/** Searches batches of one search in this thread, until `isOver`. */
export class LocalSearch {
  readonly #request: SearchRequest;
  readonly #state: SearchState;
  readonly #isOver: () => boolean;

  constructor(request: SearchRequest, state: SearchState, isOver: () => boolean) {
    this.#request = request;
    this.#state = state;
    this.#isOver = isOver;
  }

  /**
   * Compiles the query, so that an invalid one is refused even if there is nothing to search. Throws like
   * `search`.
   */
  compile(): void {
    try {
      this.#engines().compiler.compile(this.#request.query);
    } catch (error) {
      if (!(error instanceof SearchEnded)) throw error;
    }
  }

  /**
   * Searches the batch in steps, each of a large file or of several small ones, and releases it. Returns the
   * index of a file that takes more than `maxSteps`, which ends the search before it, with the batch still
   * held. Throws a `PatternError`, an `EngineFailure`, or the errno error of a lack of resources.
   */
  *search(
    batch: Batch,
    sink: FindingSink,
    options: Pick<FileSearch, "after" | "outcomes" | "known" | "maxSteps">,
  ): Steps<number | undefined> {
    const request = this.#request;
    const files = new FileCursor(batch.files);
    const open = (file: FileCursor) => batch.open(file);
    let isLeft = false;
    try {
      for (let isPaused = true; isPaused; ) {
        yield;
        // Another search may have used the engines since the last step.
        const { compiler, ...engines } = this.#engines();
        const matcher = compiler.compile(request.query);
        const started = performance.now();
        isPaused = false;
        const pause = () => (isPaused = performance.now() - started > stepMilliseconds);
        const search = { ...request, ...engines, ...options, matcher, open, isOver: this.#isOver };
        isLeft = searchFiles(files, { ...search, isPaused: pause }, sink);
        if (isLeft) return files.index;
      }
    } catch (error) {
      if (!(error instanceof SearchEnded)) throw error;
    } finally {
      if (!isLeft) batch.release();
    }
    return undefined;
  }

  /** Returns the engines of this thread. This search interrupts them until another one uses them. */
  #engines(): ThreadEngines {
    const state = this.#state;
    state.isOverHere = this.#isOver;
    state.engines ??= state.createEngines(() => {
      if (state.isOverHere()) throw new SearchEnded();
    });
    return state.engines;
  }
}
