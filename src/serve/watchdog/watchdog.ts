/**
 * Ends a process whose event loop hangs, for example in a file system that does not answer: access is
 * synchronous, so no timer runs then. Its supervisor can start another.
 */
import { canSpawn, spawnThread } from "../../base/threads/spawn.ts";
import { renderEntered } from "./entered.ts";
import { Shared } from "./shared.ts";
import type { Limits } from "./silence.ts";
import type { WatchdogData } from "./thread.ts";

export interface Watchdog {
  /** Records the function that begins, and the path in its request, to name them if it hangs. */
  enter(functionId: string, request: unknown): void;
  /** Signals that the process is about to stop: from now on the event loop may hang for only 5 s. */
  stopping(): void;
  /** Ends the thread of the watchdog. */
  close(): Promise<void>;
}

/** A watchdog that does nothing. */
export const unwatched: Watchdog = { enter() {}, stopping() {}, async close() {} };

/** Milliseconds that the event loop may hang beyond the limit of a call, and those before a warning. */
const graceMilliseconds = 5000;
const tickMilliseconds = 500;

/** Returns the limits if a call may take `callMilliseconds`. */
export const limitsFor = (callMilliseconds: number): Limits => ({
  tickMilliseconds,
  warnMilliseconds: graceMilliseconds,
  endMilliseconds: callMilliseconds + graceMilliseconds,
});

/**
 * Watches the event loop of this thread from another one, and ends the process with exit code 70
 * (EX_SOFTWARE), or by SIGKILL if the C library cannot be called. Does nothing if `threads` is false or the
 * runtime has none.
 */
export function openWatchdog(limits: Limits, { threads = true } = {}): Watchdog {
  if (!threads || !canSpawn()) return unwatched;
  const shared = new Shared();
  const thread = spawnThread("serve/watchdog");
  thread.postMessage({ memory: shared.memory, limits } satisfies WatchdogData);
  thread.unref();
  const beating = setInterval(() => shared.beat(), limits.tickMilliseconds).unref();
  return {
    enter(functionId, request) {
      shared.text = renderEntered(functionId, request);
    },
    stopping: () => shared.stop(),
    async close() {
      clearInterval(beating);
      await thread.terminate();
    },
  };
}
