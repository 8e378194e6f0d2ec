/** Bun's own API. No other source uses it, and everything works without it, as on Node. */
import { createRequire } from "node:module";

/** Signatures of functions of a C library, as in `bun:ffi`, whose own types exist only under Bun. */
export type ForeignSignatures = Readonly<
  Record<string, { readonly args: readonly string[]; readonly returns: string }>
>;

interface ForeignFunctions {
  dlopen(library: string, symbols: ForeignSignatures): { readonly symbols: unknown };
  readonly read: { i32(pointer: number, offset: number): number };
}

interface Collector {
  /** Collects before it returns, or in parallel. */
  gc(isAtOnce: boolean): void;
  readonly isMainThread: boolean;
}

interface Files {
  file(descriptor: number): { stream(): ReadableStream<Uint8Array> };
}

/** A thread with the API of the web, and Bun's additions to it. Its `close` event follows its end. */
export interface WebWorker extends EventTarget {
  postMessage(message: unknown): void;
  ref(): void;
  unref(): void;
  terminate(): void;
}

/** The global object in such a thread. */
export interface WebWorkerScope extends EventTarget {
  postMessage(message: unknown): void;
}

interface Threads {
  readonly Worker: new (program: string | URL) => WebWorker;
  readonly Bun: { readonly isMainThread: boolean };
}

/** A process that can run another program in its place, as in Node 22.15, whose types are not installed. */
interface Replaceable {
  execve(file: string, args: readonly string[], environment: NodeJS.ProcessEnv): never;
}

interface Spawning {
  spawn(...given: readonly unknown[]): { readonly signalCode: unknown };
}

/** Set by the build of the executable. */
declare const COMPILED: boolean | undefined;

const isBun = process.versions["bun"] !== undefined;

/**
 * Opens functions of Linux's C library. Returns `undefined` on Node, on other systems, and if the system
 * forbids code generated at run time.
 */
export function openLibc<Functions>(signatures: ForeignSignatures): Functions | undefined {
  if (!isBun || process.platform !== "linux") return undefined;
  const { dlopen } = createRequire(import.meta.url)("bun:ffi") as ForeignFunctions;
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(library, signatures).symbols as Functions;
    } catch {
      // This is another C library, or a system that forbids code generated at run time.
    }
  }
  return undefined;
}

/** A process that was started, and the signal that ended it. */
interface Watched<Started> {
  readonly started: Started;
  /** Returns the number of a signal without a name, once the process has ended. */
  endSignal(): number | undefined;
}

/**
 * Starts a process by `start`, which uses `node:child_process`. On Bun that reports the exit code 0 for the
 * real-time signals, which have no names there; Bun's own handle has their numbers.
 */
export function watchSpawn<Started>(start: () => Started): Watched<Started> {
  if (!isBun) return { started: start(), endSignal: () => undefined };
  const runtime = (globalThis as unknown as { readonly Bun: Spawning }).Bun;
  const { spawn } = runtime;
  let handle: ReturnType<typeof spawn> | undefined;
  runtime.spawn = (...given) => {
    handle = spawn(...given);
    return handle;
  };
  try {
    const started = start();
    return {
      started,
      endSignal: () => (typeof handle?.signalCode === "number" ? handle.signalCode : undefined),
    };
  } finally {
    runtime.spawn = spawn;
  }
}

/**
 * Returns a function that reads errno of the last call of `openLibc` in this thread, if called at once;
 * `undefined` if `openLibc` returns that.
 */
export function openErrno(): (() => number) | undefined {
  const functions = openLibc<{ __errno_location(): number }>({
    __errno_location: { args: [], returns: "ptr" },
  });
  if (functions === undefined) return undefined;
  const { read } = createRequire(import.meta.url)("bun:ffi") as ForeignFunctions;
  return () => read.i32(functions.__errno_location(), 0);
}

/**
 * Replaces the process of the executable by one with options of Bun's JavaScript engine (`BUN_JSC_*`), which
 * reads them from the environment as it starts. Returns in the new process, without them in its environment.
 * Returns at once if one of them is set to another value, in another program, and if the system refuses.
 */
export function restartWith(options: Readonly<Record<string, string>>): void {
  const { env } = process;
  const names = Object.keys(options);
  if (names.every((name) => env[name] === options[name])) {
    for (const name of names) delete env[name];
    return;
  }
  if (!isBun || typeof COMPILED === "undefined" || names.some((name) => env[name] !== undefined)) return;
  const args = [process.argv0, ...process.argv.slice(2)];
  try {
    (process as Partial<Replaceable>).execve?.(process.execPath, args, { ...env, ...options });
  } catch {
    // The executable was moved since it started, or a sandbox forbids execve(2).
  }
}

/**
 * Returns the bytes of a pipe, as long as a process holds its other end. The descriptor must be in
 * non-blocking mode, and stays open: the caller closes it when the stream has ended or is cancelled. Throws
 * on Node.
 */
export function readDescriptor(descriptor: number): ReadableStream<Uint8Array> {
  if (!isBun) throw new Error("reading a descriptor as a stream needs Bun");
  return (globalThis as unknown as { readonly Bun: Files }).Bun.file(descriptor).stream();
}

/**
 * Collects the garbage of this thread: in the main thread beside its work, and in others at once. With a heap
 * of 3 million objects the latter takes 127 ms. Does nothing on Node, which has no such call.
 */
export function collectGarbage(): void {
  if (!isBun) return;
  const { Bun } = globalThis as unknown as { readonly Bun: Collector };
  Bun.gc(!Bun.isMainThread);
}

/**
 * Starts a thread of the web's API. Beside one of `node:worker_threads` it starts sooner and takes 2 MB less.
 * Returns `undefined` on Node.
 */
export function startWebWorker(program: string | URL): WebWorker | undefined {
  return isBun ? new (globalThis as unknown as Threads).Worker(program) : undefined;
}

/** Returns the global object of a thread from `startWebWorker`; `undefined` elsewhere. */
export function webWorkerScope(): WebWorkerScope | undefined {
  const scope = globalThis as unknown as Threads & WebWorkerScope;
  return isBun && !scope.Bun.isMainThread ? scope : undefined;
}
