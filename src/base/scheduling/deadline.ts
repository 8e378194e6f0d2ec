import { Refusal, refuse } from "../errors.ts";

/**
 * The latest moment to answer a call. Loops call `check()`; anything that waits listens to
 * `signal`. Clients give up after 30 s and never say so (bus §3), so a call bounds itself.
 */
export interface Deadline {
  /** The time limit of the call, in milliseconds. */
  readonly milliseconds: number;
  /** Milliseconds that are left; never negative, and 0 once the caller has cancelled. */
  readonly left: number;
  /** Milliseconds since the start, or the last restart. */
  readonly spent: number;
  /** The refusal of a call that does not end in time, was cancelled, or whose worker stops. */
  readonly refusal: Refusal;
  /**
   * Aborts when the time is up or the caller cancels. It is created on first use, so that a short call never
   * pays for a timer.
   */
  readonly signal: AbortSignal;
  /**
   * Throws the refusal once the time is up or the caller has cancelled. It costs one reading of the clock.
   */
  check(): void;
  /** Starts the time over, for a call that has waited for others to end, or for a person. */
  restart(): void;
  /** Stops the clock until `restart()`. Only a cancellation ends the call then. */
  suspend(): void;
  /** Frees the timer and the listener, if any. Call it when the call is answered. */
  end(): void;
}

/** The end of all calls of a worker that stops. */
export interface Stop {
  /** The latest time for their ends, by `performance.now()`; infinite before the worker stops. */
  readonly at: number;
  /** Aborts when they must end. */
  readonly signal: AbortSignal;
}

interface DeadlineOptions {
  /** The time at which the call came, by `performance.now()`. Default: now. */
  readonly start?: number;
  readonly stop?: Stop | undefined;
}

/**
 * Returns a deadline `milliseconds` after `start`. It is over at once when `cancelled` aborts, or the worker
 * stops.
 */
export const deadlineIn = (
  milliseconds: number,
  cancelled?: AbortSignal,
  options: DeadlineOptions = {},
): Deadline => new ClockedDeadline(milliseconds, cancelled, options);

/**
 * A deadline by the clock. It is a class because every call makes one, and an object of closures takes
 * several times as long to make.
 */
class ClockedDeadline implements Deadline {
  readonly milliseconds: number;
  readonly #cancelled: AbortSignal | undefined;
  readonly #stop: Stop | undefined;
  #start: number;
  #at: number;
  #controller: AbortController | undefined;
  #release: (() => void) | undefined;
  /** Whether the timer has fired, which may happen slightly before the clock shows it. */
  #hasFired = false;

  constructor(
    milliseconds: number,
    cancelled: AbortSignal | undefined,
    { start = performance.now(), stop }: DeadlineOptions,
  ) {
    this.milliseconds = milliseconds;
    this.#cancelled = cancelled;
    this.#stop = stop;
    this.#start = start;
    this.#at = start + milliseconds;
  }

  get left(): number {
    if (this.#cancelled?.aborted || this.#stop?.signal.aborted || this.#hasFired) return 0;
    const at = this.#stop === undefined ? this.#at : Math.min(this.#at, this.#stop.at);
    return Math.max(0, at - performance.now());
  }

  get spent(): number {
    return performance.now() - this.#start;
  }

  get refusal(): Refusal {
    if (this.#cancelled?.aborted) {
      // The signal of another deadline, which has its own reason to end.
      const { reason } = this.#cancelled;
      return reason instanceof Refusal ? reason : refuse.cancelled();
    }
    const isStopped = this.#stop !== undefined && (this.#stop.signal.aborted || this.#stop.at < this.#at);
    return isStopped ? refuse.stopping() : refuse.timeout(this.milliseconds);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const expire = () => this.#expire();
      let timer: ReturnType<typeof setTimeout> | undefined;
      if (this.#cancelled?.aborted || this.#stop?.signal.aborted) expire();
      else if (this.#at !== Number.POSITIVE_INFINITY)
        timer = setTimeout(expire, Math.max(0, this.#at - performance.now()));
      const signals = [this.#cancelled, this.#stop?.signal];
      for (const signal of signals) signal?.addEventListener("abort", expire, { once: true });
      this.#release = () => {
        clearTimeout(timer);
        for (const signal of signals) signal?.removeEventListener("abort", expire);
      };
    }
    return this.#controller.signal;
  }

  check(): void {
    if (this.#cancelled?.aborted || this.#stop?.signal.aborted) throw this.refusal;
    if (this.#hasFired || performance.now() >= this.#at) throw refuse.timeout(this.milliseconds);
  }

  restart(): void {
    this.#reset(performance.now() + this.milliseconds);
  }

  suspend(): void {
    this.#reset(Number.POSITIVE_INFINITY);
  }

  #reset(at: number): void {
    this.end();
    this.#start = performance.now();
    this.#at = at;
    this.#controller = undefined;
    this.#hasFired = false;
  }

  end(): void {
    this.#release?.();
  }

  #expire(): void {
    this.#hasFired = true;
    this.#controller?.abort(this.refusal);
  }
}

/** Returns the value that the promise resolves to, or `undefined` if the deadline comes first. */
export async function unlessOver<T>(promise: Promise<T>, { signal }: Deadline): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  return await new Promise<T | undefined>((resolve, reject) => {
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
