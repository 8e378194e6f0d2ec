import { collectGarbage } from "../bun.ts";

let isComing = false;

/**
 * Has the memory of WebAssembly that nothing refers to any more freed, when what is under way in this thread lets others
 * have their turn. Takes some ten milliseconds. Left to themselves, threads that rest kept some tens of MiB of it.
 */
export function collectSoon(): void {
  if (isComing) return;
  isComing = true;
  setImmediate(() => {
    isComing = false;
    collectGarbage();
  });
}
