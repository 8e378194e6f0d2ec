import type { Pool } from "../threads/pool.ts";
import type { HeldFolders } from "./batches/batches.ts";
import type { SearchJob, ThreadReply } from "./batches/job.ts";
import type { SearchIndex } from "./index/search-index.ts";
import type { ThreadEngines } from "./matchers/thread-engines.ts";
import type { RunningSearch } from "./request.ts";

/** What the searches of a worker share. */
export interface SearchState {
  /** Undefined where there are no threads. */
  readonly pool: Pool<SearchJob, ThreadReply> | undefined;
  /** Undefined where searches read all files. */
  readonly index: SearchIndex | undefined;
  /** Most batches under way, of all searches together: each holds folders open. */
  readonly batchesAtOnce: number;
  readonly held: HeldFolders;
  /** Searches under way. */
  active: number;
  /** The worker ends: searches return what they have. */
  isClosed: boolean;
  /** The engines of this thread; undefined until a search needs them. */
  engines: ThreadEngines | undefined;
  /** Creates them with a regex runtime that calls `interrupt` regularly, which may throw. */
  readonly createEngines: (interrupt: () => void) => ThreadEngines;
  /** Whether the search that uses the engines of this thread has to end. */
  isOverHere: () => boolean;
}

/** What a search is run with. */
export interface SearchOptions extends RunningSearch {
  readonly state: SearchState;
}
