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
   * Searches the batch and releases it. Throws a `PatternError`, an `EngineFailure`, or the errno error of a
   * lack of resources.
   */
  search(batch: Batch, sink: FindingSink, options: Pick<FileSearch, "after" | "outcomes" | "known">): void {
    const request = this.#request;
    try {
      const { compiler, ...engines } = this.#engines();
      const matcher = compiler.compile(request.query);
      const open = (file: FileCursor) => batch.open(file);
      const search = { ...request, ...engines, ...options, matcher, open, isOver: this.#isOver };
      searchFiles(new FileCursor(batch.files), search, sink);
    } catch (error) {
      if (!(error instanceof SearchEnded)) throw error;
    } finally {
      batch.release();
    }
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
