import type { Pool } from "../threads/pool.ts";
import type { HeldFolders } from "./batches.ts";
import type { BatchJob, BatchReply } from "./thread.ts";
import type { ThreadEngines } from "./thread-engines.ts";

/** What the searches of a worker share. */
export interface SearchState {
  /** Undefined where there are no threads. */
  readonly pool: Pool<BatchJob, BatchReply> | undefined;
  /** Batches under way, of all searches together: each holds folders open. */
  readonly batchesAtOnce: number;
  readonly held: HeldFolders;
  /** Searches under way. */
  active: number;
  /** The worker ends: searches answer with what they have. */
  isClosed: boolean;
  /** For what is searched in this thread; undefined until something is. */
  engines: ThreadEngines | undefined;
  /** Opens them with a regex engine that calls `watch` all along, which may throw. */
  readonly createEngines: (watch: () => void) => ThreadEngines;
  /** Asked by the engine in this thread, all along: whether the search that it works for has to end. */
  isOverHere: () => boolean;
}
