import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { yieldIfDue } from "../../base/scheduling/walk-slice.ts";
import type { CoderContext } from "../define.ts";

/**
 * Returns a function that lets other calls run when its slice is used up, and then throws when the call is
 * out of time.
 */
export function pauseOf({ deadline }: Pick<CoderContext, "deadline">): () => Promise<void> {
  const pace = { slice: createTimeSlice(), deadline };
  return () => yieldIfDue(pace);
}

/** Returns a function that only lets other calls run, for what follows the changes of a call. */
export function pauseWithoutEnd(): () => Promise<void> {
  const slice = createTimeSlice();
  return () => slice.yieldIfDue();
}
