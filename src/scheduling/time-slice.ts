/**
 * Cooperative multitasking on the main thread: long work runs in time slices, and between two slices the event loop
 * serves other calls. All work that waits for its next slice stands in one queue, and each turn of the event loop runs one
 * slice of it: so a turn lasts as long as one slice, however much work is under way.
 */

/** The slices of one piece of work. */
export interface TimeSlice {
  /** Whether the slice is used up. */
  readonly isDue: boolean;
  /** Once the slice is used up: yields to the event loop, and begins another slice. */
  yieldIfDue(): Promise<void>;
}

/** Slices of `milliseconds`, of which the first begins now. */
export function createTimeSlice(milliseconds: number): TimeSlice {
  let ends = performance.now() + milliseconds;
  return {
    get isDue() {
      return performance.now() >= ends;
    },
    async yieldIfDue() {
      if (performance.now() < ends) return;
      await nextTurn();
      ends = performance.now() + milliseconds;
    },
  };
}

/** Work in steps that take a millisecond or two. */
export type Steps<T> = Generator<void, T, void>;

/** Does the work, and yields between two steps when the slice is used up. `check` is called then, and may throw. */
export async function runInSlices<T>(steps: Steps<T>, slice: TimeSlice, check = () => {}): Promise<T> {
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (!slice.isDue) continue;
      await slice.yieldIfDue();
      check();
    }
  } finally {
    // Frees what the steps hold, if they have not come to their end.
    steps.return(undefined as never);
  }
}

/** Does the work at once: for what is known to be short. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const line: (() => void)[] = [];

/** Resolves when it is this caller's turn: others who asked before come first, one in each turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (line.push(resolve) === 1) setImmediate(takeTurn);
  });
}

function takeTurn(): void {
  line[0]!();
  // The promise goes on as soon as this returns, so its next request is last in the queue.
  line.shift();
  if (line.length > 0) setImmediate(takeTurn);
}
