import type { Deadline } from "./deadline.ts";
import { createSemaphore } from "./semaphore.ts";
import { createTimeSlice, type TimeSlice } from "./time-slice.ts";

/** Milliseconds for which a walk goes on before others have their turns: a call that is sent meanwhile passes four or five of them. */
export const sliceMilliseconds = 1;

/** Slices after which a walk counts as large. Most are over by then, and wait for no permit. */
export const freeSlices = 20;

/**
 * Large walks at once, of all callers: each holds the names of a whole folder in memory. One that takes long keeps others
 * waiting for three seconds, after which the next goes beside it.
 */
const largeWalks = createSemaphore({ permits: 4, patience: 3000 });

/** How a call goes through folders: in time slices, until its deadline. */
export interface Pace {
  readonly slice: TimeSlice;
  readonly deadline: Deadline;
}

/** Once the slice is used up: yields to the event loop, and then throws the timeout refusal if the deadline has come. */
export async function yieldIfDue({ slice, deadline }: Pace): Promise<void> {
  if (!slice.isDue) return;
  await slice.yieldIfDue();
  deadline.check();
}

/** The call that walks. */
export interface Walker {
  readonly deadline: Deadline;
  /** Callers who wait for a permit take turns. */
  readonly caller?: string | undefined;
}

/** The time slices of a walk through folders. Dispose of it when the walk is over. It does not look at the deadline. */
export function createWalkSlice({ deadline, caller }: Walker): TimeSlice & Disposable {
  const slice = createTimeSlice(sliceMilliseconds);
  let used = 0;
  let permit: Disposable | undefined;
  return {
    get isDue() {
      return slice.isDue;
    },
    async yieldIfDue() {
      if (!slice.isDue) return;
      if (++used === freeSlices)
        permit = await largeWalks.acquire({ key: caller, signal: deadline.signal }).catch(() => undefined);
      await slice.yieldIfDue();
    },
    [Symbol.dispose]() {
      permit?.[Symbol.dispose]();
    },
  };
}
