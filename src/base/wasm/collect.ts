import { collectGarbage } from "../bun.ts";

let isScheduled = false;

/**
 * Collects garbage at the next turn of the event loop, to free the memory of unreachable WebAssembly
 * instances. Without it, idle threads kept some tens of MiB.
 */
export function collectSoon(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    collectGarbage();
  });
}
