import { Worker } from "node:worker_threads";
import { type ThreadProgram, threadSources } from "./sources.ts";

/** Set by the build of the executable, which has each `thread.ts` as further entry points, with `src` as root. */
declare const COMPILED: boolean | undefined;

/** Whether this process can start threads at all. */
export function canSpawn(): boolean {
  return threadSources !== undefined || process.versions["bun"] !== undefined;
}

/** Starts a thread. That it cannot be started is told by its `error` event. */
export function spawnThread(program: ThreadProgram, workerData: unknown): Worker {
  if (threadSources !== undefined) return new Worker(threadSources[program], { eval: true, workerData });
  return new Worker(entry(program), { workerData });
}

/**
 * In the executable an address is taken from its root, where the entry points are, and not from this module. Without
 * the "./" the thread would never start, and say nothing.
 */
function entry(program: ThreadProgram): string | URL {
  return typeof COMPILED === "undefined"
    ? new URL(`../${program}/thread.ts`, import.meta.url)
    : `./${program}/thread.ts`;
}
