import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { startWebWorker, type WebWorker } from "../bun.ts";
import { type ThreadProgram, threadSources } from "./sources.ts";

/** A thread that runs a program. It keeps the process alive unless `unref` was called after `ref`. */
export interface Thread {
  postMessage(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Calls `listener` when the thread has ended, or has failed to start or to run. */
  onEnd(listener: () => void): void;
  ref(): void;
  unref(): void;
  /** Ends the thread, and resolves when it has stopped running. */
  terminate(): Promise<void>;
}

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

/** Starts a program in a thread. Whether it can run is known only later (`Thread.onEnd`). */
export function spawnThread(program: ThreadProgram): Thread {
  if (threadSources !== undefined) return nodeThread(threadSources[program], { eval: true });
  const worker = startWebWorker(entry(program));
  return worker === undefined ? nodeThread(entry(program)) : webThread(worker);
}

function webThread(worker: WebWorker): Thread {
  const ended = new Promise<void>((resolve) => worker.addEventListener("close", () => resolve()));
  // Without a listener, a failure would end the process.
  worker.addEventListener("error", () => {});
  return {
    postMessage: (message) => worker.postMessage(message),
    onMessage(listener) {
      worker.addEventListener("message", (event) => listener((event as MessageEvent).data));
    },
    onEnd(listener) {
      worker.addEventListener("error", listener);
      worker.addEventListener("close", listener);
    },
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate() {
      worker.terminate();
      return ended;
    },
  };
}

/** Loads `node:worker_threads` only where it is used, since it takes time and memory of each start. */
function nodeThread(program: string | URL, options?: { readonly eval: true }): Thread {
  const { Worker } = createRequire(import.meta.url)(
    "node:worker_threads",
  ) as typeof import("node:worker_threads");
  const worker = new Worker(program, options);
  worker.on("error", () => {});
  return {
    postMessage: (message) => worker.postMessage(message),
    onMessage: (listener) => void worker.on("message", listener),
    onEnd: (listener) => void worker.on("error", listener).on("exit", listener),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: async () => void (await worker.terminate()),
  };
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
