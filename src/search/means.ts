import type { Pool } from "../threads/pool.ts";
import type { Holdings } from "./batches.ts";
import type { BatchJob, BatchReply } from "./thread.ts";
import type { Tools } from "./tools.ts";

/** What the searches of a worker share. */
export interface Means {
  /** Undefined where there are no threads. */
  readonly pool: Pool<BatchJob, BatchReply> | undefined;
  /** Batches under way, of all searches together: each holds folders open. */
  readonly batchesAtOnce: number;
  readonly held: Holdings;
  /** Searches under way. */
  active: number;
  /** The worker ends: searches answer with what they have. */
  isClosed: boolean;
  /** For what is searched in this thread; undefined until something is. */
  tools: Tools | undefined;
  /** Opens them with a regex engine that calls `watch` all along, which may throw. */
  readonly openTools: (watch: () => void) => Tools;
  /** Asked by the engine in this thread, all along: whether the search that it works for has to end. */
  isOverHere: () => boolean;
}
