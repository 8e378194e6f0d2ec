/** Waits for programs in the foreground. */
import { type Captured, type RunningProgram, withTimeout } from "./running.ts";

/** The limits of a run in time. */
export interface RunLimits {
  /** Milliseconds after which the program is stopped and the result has `timed_out`. */
  readonly timeoutMs: number;
  /** Aborts when the caller no longer waits; that stops the program. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the program has started. */
  readonly onStarted?: ((running: RunningProgram) => void) | undefined;
}

/** The answer of a run, as on the wire (shell §6.1), and how it ended. */
export interface RunResult extends Captured {
  /** The exit code; null after a timeout, or if a signal ended the program. */
  readonly exit_code: number | null;
  /** Milliseconds from the start to the end of the output. */
  readonly duration_ms: number;
  readonly timed_out: boolean;
  /** The signal that ended the program; null after a timeout, and when it exited by itself. */
  readonly signal: string | null;
  /** Whether it left processes running, which have been ended. */
  readonly hasLeft: boolean;
}

/** The milliseconds during which orphans of a program may continue to write after it has exited. */
const leftoversMs = 100;

/** Maximum delay of a timer, in milliseconds. */
const maxDelayMilliseconds = 2 ** 31 - 1;

/**
 * Waits for a program and ends its orphans, so that the answer comes within the timeout plus the bound of
 * `RunningProgram.end`. If the signal aborts, rejects with its reason after the program has ended.
 */
export async function awaitResult(running: RunningProgram, limits: RunLimits): Promise<RunResult> {
  const ending = await awaitEnding(running, limits);
  if (ending === "exited") await withTimeout(leftoversMs, running.drained);
  await running.end();
  if (ending === "aborted") throw limits.signal?.reason;
  return {
    exit_code: ending === "exited" ? running.exitCode : null,
    ...running.capture(),
    duration_ms: Math.round(performance.now() - running.startedAt),
    timed_out: ending === "timed-out",
    signal: ending === "exited" ? running.signal : null,
    hasLeft: ending === "exited" && running.hasLeft,
  };
}

type Ending = "exited" | "timed-out" | "aborted";

function awaitEnding(running: RunningProgram, { timeoutMs, signal }: RunLimits): Promise<Ending> {
  return new Promise((resolve) => {
    const settle = (ending: Ending) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(ending);
    };
    const abort = () => settle("aborted");
    // An exit in time must win over the timer, and timers run first in a turn of the event loop.
    const expire = () => setImmediate(settle, "timed-out");
    const timer = setTimeout(expire, Math.min(timeoutMs, maxDelayMilliseconds));
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    void running.exited.then(() => settle("exited"));
  });
}
