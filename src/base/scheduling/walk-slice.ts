import type { Deadline } from "./deadline.ts";
import { createSemaphore } from "./semaphore.ts";
import { createTimeSlice, type TimeSlice } from "./time-slice.ts";

/**
 * Milliseconds that a walk runs before it yields to others. A call that is sent during a walk waits for four
 * or five such slices.
 */
export const sliceMilliseconds = 1;

/**
 * The number of slices after which a walk counts as large. Nearly all walks take fewer, and wait for no
 * permit.
 */
export const freeSlices = 20;

/**
 * The permits of large walks, for all callers: each holds the names of a whole folder in memory. A slow one
 * blocks others for at most three seconds, after which the next runs beside it.
 */
const largeWalks = createSemaphore({ permits: 4, patience: 3000 });

/** The time slice and the deadline of a walk through folders. */
export interface Pace {
  readonly slice: TimeSlice;
  readonly deadline: Deadline;
}

/**
 * Yields to the event loop once the slice is used up, and then throws the timeout refusal if the deadline has
 * come.
 */
export async function yieldIfDue({ slice, deadline }: Pace): Promise<void> {
  if (!slice.isDue) return;
  await slice.yieldIfDue();
  deadline.check();
}

/** The call that performs a walk. */
export interface Walker {
  readonly deadline: Deadline;
  /** The caller, because callers who wait for a permit take turns. */
  readonly caller?: string | undefined;
  /** Called with the number of files that were searched since its last call. */
  readonly onFiles?: ((files: number) => void) | undefined;
}

/**
 * Creates the time slices of a walk through folders. Dispose of it when the walk is over. It does not check
 * the deadline.
 */
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
