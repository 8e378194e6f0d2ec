import type { Walker } from "../base/scheduling/walk-slice.ts";
import type { Pool } from "../base/threads/pool.ts";
import type { WasmModule } from "../base/wasm/module.ts";
import type { HeldFolders } from "./batches/batches.ts";
import type { SearchJob, ThreadReply } from "./batches/job.ts";
import type { SearchIndex } from "./index/search-index.ts";
import type { ThreadEngines } from "./matchers/thread-engines.ts";
import type { RunningSearch, SearchRequest } from "./request.ts";

/** The state that the searches of a worker share. */
export interface SearchState {
  /** The threads, or `undefined` if everything is searched in this one. */
  readonly pool: Pool<SearchJob, ThreadReply> | undefined;
  /** The index, or `undefined` if searches read all files. */
  readonly index: SearchIndex | undefined;
  /** Maximum batches under way, of all searches together. Each holds folders open. */
  readonly batchesAtOnce: number;
  readonly held: HeldFolders;
  /** The number of searches under way. */
  active: number;
  /** Whether the worker is shutting down. Searches then return their findings so far. */
  isClosed: boolean;
  /** Returns the compiled module of the regex engine, for threads. */
  readonly engineModule: () => WasmModule;
  /** The engines of this thread, or `undefined` until a search needs them. */
  engines: ThreadEngines | undefined;
  /** Creates the engines, with a regex runtime that calls `interrupt` regularly, which may throw. */
  readonly createEngines: (interrupt: () => void) => ThreadEngines;
  /** Returns whether the search that uses the engines of this thread has to end. */
  isOverHere: () => boolean;
}

/** The options that a search runs with. */
export interface SearchOptions extends RunningSearch, Pick<Walker, "onFiles"> {
  readonly state: SearchState;
  /** The parts of the searcher that are not used. */
  readonly leftOut?: LeftOut | undefined;
}

/** A search by a part of the searcher. */
export interface PartialSearch {
  readonly request: SearchRequest;
  readonly walker: Walker;
  readonly leftOut?: LeftOut | undefined;
}

/** The parts of a searcher that a search can do without. */
export interface LeftOut {
  readonly threads?: boolean;
  readonly index?: boolean;
}
