/**
 * The names of temporary files. Their prefix is reserved: callers neither see nor reach names with it, so a half-written
 * file never appears under any name.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";

const prefix = ".coder-tmp-";

/** True for every name with the reserved prefix. */
export const isTemporary = (name: string): boolean => name.startsWith(prefix);

/** The same for the name in `bytes[from, to)`. */
export function isTemporaryIn(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[from + i] !== prefix.charCodeAt(i)) return false;
  return true;
}

/** A new name, independent of the target's, which may already have the 255 bytes of the longest name. */
export function temporaryName(): string {
  const { place, pid, start } = ourselves();
  return `${prefix}${place}-${pid.toString(36)}-${start.toString(36)}-${randomBytes(8).toString("hex")}`;
}

/** A name for testing how a file system compares names: its last letter has two Unicode forms. */
export const trialName = (): string => `${temporaryName()}-\u00e9`;

/** A transaction, by what its records are found with. */
export interface TransactionMark {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** 8 hexadecimal digits of the folder with its record. */
  readonly keeper: string;
}

/**
 * A new name for an entry of a transaction. What lies under it may be the only copy of a caller's file, so a sweep leaves
 * it to those who find the record, or find that there is none.
 */
export function transactionName({ id, keeper }: TransactionMark, index: number): string {
  const { place, pid, start } = ourselves();
  return `${prefix}${place}-${pid.toString(36)}-${start.toString(36)}-${id}-${keeper}-${index.toString(36)}`;
}

/** Matches to the end of the name: files that merely begin so are not ours to remove. */
const ours =
  /^\.coder-tmp-([0-9a-f]{8})-([0-9a-z]{1,8})-([0-9a-z]{1,12})-([0-9a-f]{16})(?:-\u00e9|-e\u0301|-([0-9a-f]{8})-[0-9a-z]{1,6})?$/;

/** The process that made a temporary file, as its name says. */
export interface Maker {
  /** Where `pid` is valid: one boot of one host, and one pid namespace. */
  readonly place: string;
  readonly pid: number;
  /** Distinguishes two processes with one pid. */
  readonly start: number;
  /** Of `transactionName`. */
  readonly transaction?: TransactionMark;
}

/** The maker of the temporary file `name`; undefined when the name only has the prefix. */
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

/** Whether the maker certainly no longer runs. A maker in another container or on another host may always run. */
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

/** Host, boot and pid namespace in eight digits; where the system does not show them, the host alone. */
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
