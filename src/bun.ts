/** What only Bun has. No other file of the sources uses its API, and everything works without it, as on Node. */
import { createRequire } from "node:module";

/** How functions of a C library are called: see `bun:ffi`, whose own types exist only under Bun. */
export type ForeignSignatures = Readonly<
  Record<string, { readonly args: readonly string[]; readonly returns: string }>
>;

interface ForeignFunctions {
  dlopen(library: string, symbols: ForeignSignatures): { readonly symbols: unknown };
  readonly read: { i32(pointer: number, offset: number): number };
}

interface Collector {
  gc(isForced: boolean): void;
}

interface Files {
  file(descriptor: number): { stream(): ReadableStream<Uint8Array> };
}

const isBun = process.versions["bun"] !== undefined;

/** These functions of Linux's C library; undefined on Node, on another system, and where code must not be made at run time. */
export function openLibc<Functions>(signatures: ForeignSignatures): Functions | undefined {
  if (!isBun || process.platform !== "linux") return undefined;
  const { dlopen } = createRequire(import.meta.url)("bun:ffi") as ForeignFunctions;
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(library, signatures).symbols as Functions;
    } catch {
      // Another C library, or a system that forbids making code at run time.
    }
  }
  return undefined;
}

/** errno of the last call of `openLibc` in this thread, if it is read at once; undefined where that is. */
export function openErrno(): (() => number) | undefined {
  const functions = openLibc<{ __errno_location(): number }>({
    __errno_location: { args: [], returns: "ptr" },
  });
  if (functions === undefined) return undefined;
  const { read } = createRequire(import.meta.url)("bun:ffi") as ForeignFunctions;
  return () => read.i32(functions.__errno_location(), 0);
}

/**
 * The bytes that come out of a pipe, as long as a process holds its other end. The descriptor must be in non-blocking
 * mode, and stays open: who gave it closes it when the stream has ended or is cancelled. Throws on Node.
 */
export function readDescriptor(descriptor: number): ReadableStream<Uint8Array> {
  if (!isBun) throw new Error("reading a descriptor as a stream needs Bun");
  return (globalThis as unknown as { readonly Bun: Files }).Bun.file(descriptor).stream();
}

/** Frees at once what nothing in this thread refers to. Node does so by itself when there is much of it. */
export function collectGarbage(): void {
  if (isBun) (globalThis as unknown as { readonly Bun: Collector }).Bun.gc(true);
}
