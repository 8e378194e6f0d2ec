/** Calls renameat2(2), which no JavaScript runtime offers. Bun can call it in libc on Linux. */
import { openLibc } from "../../base/bun.ts";
import type { JailedPath } from "./folder.ts";

/**
 * Renames the entry at `from`, of whatever kind, to `to` in one step, unless that exists. Returns false if
 * nothing was done: for that reason or another, which other calls report when they are tried next; or because
 * the call does not exist (Node, macOS, a file system that does not know the flag).
 */
export const renameExclusively = (from: JailedPath, to: JailedPath): boolean =>
  renameat2(from, to, RENAME_NOREPLACE);

/**
 * Exchanges the meaning of two names, in one step. Returns false if nothing was done, like
 * `renameExclusively`.
 */
export const exchangeNames = (one: JailedPath, other: JailedPath): boolean =>
  renameat2(one, other, RENAME_EXCHANGE);

/** Returns whether this runtime and system have the call. A file system may still not know the flag. */
export const canExchangeNames = (): boolean => opened() !== undefined;

/** linux/fs.h */
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;

interface Calls {
  syscall(number: number, ...moving: [from: number, Buffer, to: number, Buffer, flags: number]): number;
}

/** The number of the system call on the machines that Bun runs on. */
const number = { x64: 316, arm64: 276 }[process.arch as string];

/** AT_FDCWD, which makes paths mean the same as to rename(2). */
const currentDirectory = -100;

function renameat2(from: JailedPath, to: JailedPath, flags: number): boolean {
  const calls = opened();
  if (calls === undefined) return false;
  return calls.syscall(number!, currentDirectory, bytesOf(from), currentDirectory, bytesOf(to), flags) === 0;
}

const bytesOf = (path: JailedPath): Buffer =>
  typeof path === "string" ? Buffer.from(`${path}\0`) : Buffer.concat([path, Buffer.of(0)]);

let known: Calls | "none" | undefined;

function opened(): Calls | undefined {
  known ??= open() ?? "none";
  return known === "none" ? undefined : known;
}

function open(): Calls | undefined {
  if (number === undefined) return undefined;
  return openLibc<Calls>({
    syscall: { args: ["i64", "i32", "ptr", "i32", "ptr", "u32"], returns: "i32" },
  });
}
