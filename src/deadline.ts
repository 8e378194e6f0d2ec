import { refuse } from "./errors.ts";

/**
 * The moment a call has to be answered by. Loops call `check()`; what waits listens to `signal`.
 * Clients give up after 30 s and never say so (bus specification, section 3), so a call bounds itself.
 */
export interface Deadline {
  /** How long the call was given, in milliseconds. */
  readonly milliseconds: number;
  /** Milliseconds that are left; never negative, and 0 once the caller has cancelled. */
  readonly left: number;
  /** Aborts when the time is up or the caller cancels. Made on first use: a short call never pays for a timer. */
  readonly signal: AbortSignal;
  /** Throws the refusal once the time is up or the caller has cancelled; costs a clock reading. */
  check(): void;
  /** Frees the timer and the listener, if there are any. Call it when the call is answered. */
  end(): void;
}

/** A deadline `milliseconds` from now, or at once when `cancelled` aborts. */
export function deadlineIn(milliseconds: number, cancelled?: AbortSignal): Deadline {
  const at = performance.now() + milliseconds;
  let controller: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A timer may fire a little before the clock says so.
  let hasFired = false;
  const left = () => (cancelled?.aborted || hasFired ? 0 : Math.max(0, at - performance.now()));
  const stop = () => {
    hasFired = true;
    controller?.abort(cancelled?.aborted ? refuse.cancelled() : refuse.timeout(milliseconds));
  };
  return {
    milliseconds,
    get left() {
      return left();
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (cancelled?.aborted) stop();
        else timer = setTimeout(stop, left());
        cancelled?.addEventListener("abort", stop, { once: true });
      }
      return controller.signal;
    },
    check() {
      if (cancelled?.aborted) throw refuse.cancelled();
      if (hasFired || performance.now() >= at) throw refuse.timeout(milliseconds);
    },
    end() {
      clearTimeout(timer);
      cancelled?.removeEventListener("abort", stop);
    },
  };
}
