import { refuse } from "../errors.ts";

/**
 * The latest moment to answer a call. Loops call `check()`; anything that waits listens to
 * `signal`. Clients give up after 30 s and never say so (bus §3), so a call bounds itself.
 */
export interface Deadline {
  /** The time limit of the call, in milliseconds. */
  readonly milliseconds: number;
  /** Milliseconds that are left; never negative, and 0 once the caller has cancelled. */
  readonly left: number;
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

/**
 * Returns a deadline `milliseconds` after `start`, which defaults to now. It is over at once when `cancelled`
 * aborts.
 */
export const deadlineIn = (
  milliseconds: number,
  cancelled?: AbortSignal,
  start: number = performance.now(),
): Deadline => new ClockedDeadline(milliseconds, cancelled, start);

/**
 * A deadline by the clock. It is a class because every call makes one, and an object of closures takes
 * several times as long to make.
 */
class ClockedDeadline implements Deadline {
  readonly milliseconds: number;
  readonly #cancelled: AbortSignal | undefined;
  #at: number;
  #controller: AbortController | undefined;
  #release: (() => void) | undefined;
  /** Whether the timer has fired, which may happen slightly before the clock shows it. */
  #hasFired = false;

  constructor(milliseconds: number, cancelled: AbortSignal | undefined, start: number) {
    this.milliseconds = milliseconds;
    this.#cancelled = cancelled;
    this.#at = start + milliseconds;
  }

  get left(): number {
    return this.#cancelled?.aborted || this.#hasFired ? 0 : Math.max(0, this.#at - performance.now());
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const stop = () => this.#stop();
      let timer: ReturnType<typeof setTimeout> | undefined;
      if (this.#cancelled?.aborted) stop();
      else if (this.#at !== Number.POSITIVE_INFINITY) timer = setTimeout(stop, this.left);
      this.#cancelled?.addEventListener("abort", stop, { once: true });
      this.#release = () => {
        clearTimeout(timer);
        this.#cancelled?.removeEventListener("abort", stop);
      };
    }
    return this.#controller.signal;
  }

  check(): void {
    if (this.#cancelled?.aborted) throw refuse.cancelled();
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
    this.#at = at;
    this.#controller = undefined;
    this.#hasFired = false;
  }

  end(): void {
    this.#release?.();
  }

  #stop(): void {
    this.#hasFired = true;
    const reason = this.#cancelled?.aborted ? refuse.cancelled() : refuse.timeout(this.milliseconds);
    this.#controller?.abort(reason);
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
