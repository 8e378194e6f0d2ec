/**
 * The names of temporary files. Their prefix is reserved: callers neither see nor reach names with it, so a
 * half-written file never appears under any name.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";

const prefix = ".coder-tmp-";

/** Returns whether a name has the reserved prefix. */
export const isTemporary = (name: string): boolean => name.startsWith(prefix);

/** Like `isTemporary`, for the name in `bytes[from, to)`. */
export function isTemporaryIn(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[from + i] !== prefix.charCodeAt(i)) return false;
  return true;
}

/**
 * Returns a new name, independent of the target's, which may already have the 255 bytes of the longest name.
 */
export function temporaryName(): string {
  const { place, pid, start } = ourselves();
  return `${prefix}${place}-${pid.toString(36)}-${start.toString(36)}-${randomBytes(8).toString("hex")}`;
}

/** Returns a name for testing how a file system compares names: its last letter has two Unicode forms. */
export const trialName = (): string => `${temporaryName()}-\u00e9`;

/** A transaction, identified by the values that its records are found by. */
export interface TransactionMark {
  /** The id, 16 hexadecimal digits. */
  readonly id: string;
  /** Identifies the folder with its record, 8 hexadecimal digits. */
  readonly keeper: string;
}

/**
 * Returns a new name for an entry of a transaction. The entry under it may be the only copy of a caller's
 * file, so a sweep leaves it to code that finds the record, or finds that there is none.
 */
export function transactionName({ id, keeper }: TransactionMark, index: number): string {
  const { place, pid, start } = ourselves();
  return `${prefix}${place}-${pid.toString(36)}-${start.toString(36)}-${id}-${keeper}-${index.toString(36)}`;
}

/** Matches to the end of the name: files that merely begin like this are not ours to remove. */
const ours =
  /^\.coder-tmp-([0-9a-f]{8})-([0-9a-z]{1,8})-([0-9a-z]{1,12})-([0-9a-f]{16})(?:-\u00e9|-e\u0301|-([0-9a-f]{8})-[0-9a-z]{1,6})?$/;

/** The process that made a temporary file, according to its name. */
export interface Maker {
  /** The scope in which `pid` is valid: one boot of one host, and one pid namespace. */
  readonly place: string;
  readonly pid: number;
  /** Distinguishes two processes with one pid. */
  readonly start: number;
  /** The mark of a `transactionName`. */
  readonly transaction?: TransactionMark;
}

/** Returns the maker of the temporary file `name`, or `undefined` if the name only has the prefix. */
export function makerOf(name: string): Maker | undefined {
  const found = ours.exec(name);
  if (found === null) return undefined;
  const [, place, pid, start, id, keeper] = found;
  return {
    place: place!,
    pid: Number.parseInt(pid!, 36),
    start: Number.parseInt(start!, 36),
    ...(keeper !== undefined && { transaction: { id: id!, keeper } }),
  };
}

/**
 * Returns whether the maker certainly no longer runs. A maker in another container or on another host may
 * always run.
 */
export function isGone(maker: Maker): boolean {
  const us = ourselves();
  if (maker.place !== us.place) return false;
  if (maker.pid === us.pid) return maker.start !== us.start;
  try {
    process.kill(maker.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

let known: Maker | undefined;

function ourselves(): Maker {
  known ??= { place: pidPlace(), pid: process.pid, start: Math.round(Date.now() - process.uptime() * 1000) };
  return known;
}

/**
 * Returns eight digits for host, boot and pid namespace; if the system does not show them, for the host
 * alone.
 */
function pidPlace(): string {
  const facts = [
    hostname(),
    attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")),
    attempt(() => String(statSync("/proc/self/ns/pid").ino)),
  ];
  return createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 8);
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
