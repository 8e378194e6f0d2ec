/**
 * Cooperative multitasking on the main thread: long work runs in time slices, and between two slices the
 * event loop serves other calls. All work that waits for its next slice stands in one queue, and each turn of
 * the event loop runs at most one slice of it. So a turn lasts as long as one slice, however much work is
 * waiting.
 */

/** The slices of one piece of work. */
export interface TimeSlice {
  /** Whether the slice is used up. */
  readonly isDue: boolean;
  /** Yields to the event loop once the slice is used up, and then begins another slice. */
  yieldIfDue(): Promise<void>;
}

/**
 * Milliseconds of a slice. A small call that is sent in between waits for one slice, and for each further
 * turn that no message announces with `skipSlice`.
 */
const defaultMilliseconds = 2;

/** Creates slices of `milliseconds`. The first one begins now. */
export const createTimeSlice = (milliseconds = defaultMilliseconds): TimeSlice =>
  new ClockedSlice(milliseconds);

/**
 * Slices by the clock. It is a class because nearly every call makes one, and an object of closures takes
 * longer to make.
 */
class ClockedSlice implements TimeSlice {
  readonly #milliseconds: number;
  #ends: number;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#ends = performance.now() + milliseconds;
  }

  get isDue(): boolean {
    return performance.now() >= this.#ends;
  }

  async yieldIfDue(): Promise<void> {
    if (!this.isDue) return;
    await nextTurn();
    this.begin();
  }

  protected begin(): void {
    this.#ends = performance.now() + this.#milliseconds;
  }
}

/** Milliseconds of a slice in the background, and of the rest after it. */
const inBackground = { slice: 1, rest: 9 } as const;

/** Creates slices for work without a caller, which leaves the thread idle for nine tenths of the time. */
export const createBackgroundSlice = (): TimeSlice => new RestingSlice(inBackground.slice);

class RestingSlice extends ClockedSlice {
  override async yieldIfDue(): Promise<void> {
    if (!this.isDue) return;
    await new Promise((resolve) => setTimeout(resolve, inBackground.rest));
    this.begin();
  }
}

/**
 * Creates a slice for pieces of work that begin independently of each other, such as the starts of commands:
 * all that begin in one turn of the event loop share it.
 */
export const createTurnSlice = (milliseconds = defaultMilliseconds): TimeSlice => new TurnSlice(milliseconds);

class TurnSlice extends ClockedSlice {
  #begun = 0;
  #isOfThisTurn = false;

  override get isDue(): boolean {
    if (!this.#isOfThisTurn) this.begin();
    return super.isDue;
  }

  protected override begin(): void {
    super.begin();
    this.#isOfThisTurn = true;
    const begun = ++this.#begun;
    setImmediate(() => {
      // In the next turn, work that has waited for it may have begun the next slice before this callback.
      if (begun === this.#begun) this.#isOfThisTurn = false;
    });
  }
}

/** Work in steps that take a millisecond or two. */
export type Steps<T> = Generator<void, T, void>;

/**
 * Does the work, and yields between two steps when the slice is used up. Each time it calls `check`, which
 * may throw.
 */
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
    // Frees everything that unfinished steps hold.
    steps.return(undefined as never);
  }
}

/** Does what fits into the slice at once, which suffices for small values, and the rest in later turns. */
export function beginAtOnce<T>(steps: Steps<T>, slice = createTimeSlice()): T | Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slice.isDue) return runInSlices(steps, slice);
  }
}

/** Returns work that takes a single step. */
// biome-ignore lint/correctness/useYield: it has no other step.
export function* inOneStep<T>(act: () => T): Steps<T> {
  return act();
}

/** Does the work at once. Only for work that is known to be short. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const line: (() => void)[] = [];

/** Maximum turns in a row that run no slice. A small call on the bus has three messages on its way. */
const maxSkipped = 4;
let skipped = 0;
let isSkipping = false;

/**
 * Makes the next turn of the event loop run no slice. Called for each small message from one part of this
 * process to another, which that turn delivers, so that a small call does not wait for a slice at each stop.
 */
export function skipSlice(): void {
  isSkipping = true;
}

/** Resolves when it is this caller's turn. Earlier callers come first, one in each turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (line.push(resolve) === 1) setImmediate(takeTurn);
  });
}

function takeTurn(): void {
  if (isSkipping && skipped < maxSkipped) {
    isSkipping = false;
    skipped++;
    setImmediate(takeTurn);
    return;
  }
  isSkipping = false;
  skipped = 0;
  line[0]!();
  // The promise continues as soon as this returns, so its next request is last in the queue.
  line.shift();
  if (line.length > 0) setImmediate(takeTurn);
}
