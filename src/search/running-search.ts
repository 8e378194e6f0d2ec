import type { Jail } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { TimeSlice } from "../scheduling/time-slice.ts";
import type { SearchRequest } from "./request.ts";
import type { SharedFolder } from "./shared-folder.ts";
import type { WalkOptions } from "./walk.ts";

/** A search under way. */
export interface RunningSearch {
  readonly request: SearchRequest;
  readonly deadline: Deadline;
  readonly slice: TimeSlice;
  /** The folder where the walk starts. The search releases it. */
  readonly folder: SharedFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep"> & { readonly jail: Jail };
  /** Whether it may take the files from a watched tree. Default true. */
  readonly mayReplay?: boolean;
}
