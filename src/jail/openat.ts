/**
 * openat(2), which opens a name below a folder that is held by a descriptor. JavaScript runtimes do not offer it;
 * Bun can call it in libc, and everywhere else procfs gives the same: `/proc/self/fd/N/name`.
 */
import { constants, openSync } from "node:fs";
import { createRequire } from "node:module";
import type { Name } from "./folder.ts";
import { jailedPath, requireOneName } from "./jailed-path.ts";

/**
 * Opens `name` in the folder held by `descriptor`, never following a link as the last name, and closed in programs
 * this process starts. For reading and O_PATH only: no flag that creates. Usable from every thread. Linux only.
 * Throws the errno error.
 */
export function openAt(descriptor: number, name: Name, flags: number): number {
  requireOneName(name);
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && fits(name)) {
    const opened = direct(descriptor, nameBytes, flags | constants.O_NOFOLLOW | closeOnExec);
    if (opened >= 0) return opened;
  }
  // Every failure is tried again: this one knows errno, and throws it as all of node:fs does.
  return openThroughProc(descriptor, name, flags);
}

/** How a name below a descriptor is opened: `openAt`, or what promises the same. */
export type OpenAt = (descriptor: number, name: Name, flags: number) => number;

/** `openAt` by portable means. */
export function openThroughProc(descriptor: number, name: Name, flags: number): number {
  return openSync(jailedPath(`/proc/self/fd/${descriptor}/`, name), flags | constants.O_NOFOLLOW);
}

/** Whether `openAt` has the direct way in this process. */
export function hasDirectOpenat(): boolean {
  direct ??= loadDirect() ?? "none";
  return direct !== "none";
}

type Openat = (descriptor: number, name: Uint8Array, flags: number) => number;

/** The part of `bun:ffi` that is used; its own types exist only under Bun. */
interface ForeignFunctions {
  dlopen(library: string, symbols: object): { readonly symbols: { readonly openat: Openat } };
}

let direct: Openat | "none" | undefined;

/** The same on all architectures that Bun runs on; node:fs does not export it and always sets it. */
const closeOnExec = 0o2000000;

const nameBytes = new Uint8Array(1024);
const encoder = new TextEncoder();

/** Puts the name with a NUL into `nameBytes`; false when it does not go in whole. */
function fits(name: Name): boolean {
  if (name.length >= nameBytes.length) return false;
  if (typeof name !== "string") {
    nameBytes.set(name);
    nameBytes[name.length] = 0;
    return true;
  }
  const { read, written } = encoder.encodeInto(name, nameBytes);
  if (read < name.length || written >= nameBytes.length) return false;
  nameBytes[written] = 0;
  return true;
}

function loadDirect(): Openat | undefined {
  if (process.versions["bun"] === undefined || process.platform !== "linux") return undefined;
  if (process.env["CODER_JAIL"] === "descriptors") return undefined;
  const { dlopen } = createRequire(import.meta.url)("bun:ffi") as ForeignFunctions;
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(library, { openat: { args: ["i32", "ptr", "i32"], returns: "i32" } }).symbols.openat;
    } catch {
      // Another C library, or a system that forbids making code at run time.
    }
  }
  return undefined;
}
