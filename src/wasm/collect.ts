import { collectGarbage } from "../bun.ts";

let isScheduled = false;

/**
 * Collects garbage at the next turn of the event loop, so that the memory of unreachable WebAssembly instances is freed.
 * It takes some ten milliseconds. Idle threads kept some tens of MiB without it.
 */
export function collectSoon(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    collectGarbage();
  });
}
