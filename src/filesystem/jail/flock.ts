/**
 * Calls flock(2), which no JavaScript runtime offers. Bun can call it in libc on Linux; elsewhere nothing is
 * ever locked.
 */
import { openErrno, openLibc } from "../../base/bun.ts";

interface Calls {
  flock(descriptor: number, operation: number): number;
}

/** sys/file.h */
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

/** asm-generic/errno.h */
const EWOULDBLOCK = 11;

/** Locks an opened file until it is closed, if that is possible at once. */
export function lockExclusively(descriptor: number): void {
  calls()?.flock(descriptor, LOCK_EX | LOCK_NB);
}

/**
 * Like `lockExclusively`, but returns the outcome: `impossible` if this runtime, system or file system has no
 * such lock.
 */
export function tryLockExclusively(descriptor: number): "locked" | "busy" | "impossible" {
  const { flock } = calls() ?? {};
  if (flock === undefined) return "impossible";
  if (flock(descriptor, LOCK_EX | LOCK_NB) === 0) return "locked";
  return errno?.() === EWOULDBLOCK ? "busy" : "impossible";
}

/** Gives up the lock of an opened file. */
export function unlock(descriptor: number): void {
  calls()?.flock(descriptor, LOCK_UN);
}

/** Returns whether another open file has that lock. */
export function isLockedExclusively(descriptor: number): boolean {
  const { flock } = calls() ?? {};
  if (flock === undefined) return false;
  if (flock(descriptor, LOCK_SH | LOCK_NB) !== 0) return errno?.() === EWOULDBLOCK;
  flock(descriptor, LOCK_UN);
  return false;
}

let opened: Calls | "none" | undefined;
let errno: (() => number) | undefined;

function calls(): Calls | undefined {
  opened ??= open() ?? "none";
  return opened === "none" ? undefined : opened;
}

function open(): Calls | undefined {
  errno = openErrno();
  return openLibc<Calls>({ flock: { args: ["i32", "i32"], returns: "i32" } });
}
