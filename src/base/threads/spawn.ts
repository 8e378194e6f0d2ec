import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { type ThreadProgram, threadSources } from "./sources.ts";

/**
 * Set by the build of the executable, which has each `thread.ts` as a further entry point, with `src` as
 * root.
 */
declare const COMPILED: boolean | undefined;

/**
 * Returns whether this process can start threads at all. With a low limit of open files it cannot: Bun ends
 * the process if a thread finds no descriptor while it starts, and other calls may take all of them.
 */
export function canSpawn(): boolean {
  return (threadSources !== undefined || process.versions["bun"] !== undefined) && mayOpenFiles();
}

/** The limit of open files below which no thread starts. A search alone may have 500 open. */
const minOpenFiles = 1024;

let isLimited: boolean | undefined;

/** Returns whether the limit of open files, which Bun raises to the hard limit, is high enough or unknown. */
function mayOpenFiles(): boolean {
  isLimited ??= Number(/^Max open files +(\d+)/m.exec(readLimits())?.[1] ?? Infinity) < minOpenFiles;
  return !isLimited;
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

/** Starts a thread. Its `error` event reports a failure to start. */
export function spawnThread(program: ThreadProgram, workerData?: unknown): Worker {
  if (threadSources !== undefined) return new Worker(threadSources[program], { eval: true, workerData });
  return new Worker(entry(program), { workerData });
}

/**
 * Returns the entry point of a program. The executable resolves the path from its root, where the entry
 * points are, and not from this module. Without the "./" the thread would not start, and report nothing.
 */
function entry(program: ThreadProgram): string | URL {
  return typeof COMPILED === "undefined"
    ? new URL(`../../${program}/thread.ts`, import.meta.url)
    : `./${program}/thread.ts`;
}
