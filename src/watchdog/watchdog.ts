/**
 * Ends a process whose event loop hangs, as it does in a file system that does not answer: all access is synchronous, and
 * no timer runs meanwhile. Whoever started the process can then start another.
 */
import { canSpawn, spawnThread } from "../threads/spawn.ts";
import { renderEntered } from "./entered.ts";
import { Shared } from "./shared.ts";
import type { Limits } from "./silence.ts";
import type { WatchdogData } from "./thread.ts";

export interface Watchdog {
  /** Notes which function is entered, and with which path in its request, to be named if it hangs. */
  enter(functionId: string, request: unknown): void;
  /** The process is about to stop: from now on the event loop may hang for 5 s only. */
  stopping(): void;
  /** Ends the thread. */
  close(): Promise<void>;
}

/** In the place of a watchdog where there is to be none. */
export const unwatched: Watchdog = { enter() {}, stopping() {}, async close() {} };

/** How much longer than a call may take the event loop may hang; and how long before it is worth a warning. */
const graceMilliseconds = 5000;
const tickMilliseconds = 500;

/** The limits where a call may take `callMilliseconds`. */
export const limitsFor = (callMilliseconds: number): Limits => ({
  tickMilliseconds,
  warnMilliseconds: graceMilliseconds,
  endMilliseconds: callMilliseconds + graceMilliseconds,
});

/**
 * Watches the event loop of this thread from another one. Without `threads`, and where there are none, it does nothing. The process ends
 * with exit code 70 (EX_SOFTWARE), or by SIGKILL where the C library cannot be called.
 */
export function openWatchdog(limits: Limits, { threads = true } = {}): Watchdog {
  if (!threads || !canSpawn()) return unwatched;
  const shared = new Shared();
  const data: WatchdogData = { memory: shared.memory, limits };
  const thread = spawnThread("watchdog", data);
  thread.on("error", () => {});
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
