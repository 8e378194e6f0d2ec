/**
 * The names of temporary files. They are reserved: whatever has the prefix is hidden from callers and denied to
 * them, so that a half-written file is never seen under any name.
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

/** A new name, in no way derived from the target's (which may fill the 255 bytes a name has). */
export function temporaryName(): string {
  const { place, pid, start } = ourselves();
  return `${prefix}${place}-${pid.toString(36)}-${start.toString(36)}-${randomBytes(8).toString("hex")}`;
}

/** Another, for finding out how a file system compares names: it ends in a letter that is written in two ways. */
export const trialName = (): string => `${temporaryName()}-\u00e9`;

/** To its end: what else someone called so is not ours to remove. */
const ours = /^\.coder-tmp-([0-9a-f]{8})-([0-9a-z]{1,8})-([0-9a-z]{1,12})-[0-9a-f]{16}(?:-\u00e9|-e\u0301)?$/;

/** The process that made a temporary file, as far as its name says. */
export interface Maker {
  /** Which pid numbers `pid` belongs to: one running kernel and one pid namespace. */
  readonly place: string;
  readonly pid: number;
  /** Distinguishes two processes with one pid. */
  readonly start: number;
}

/** Who made the temporary file `name`; undefined when the name only has the prefix. */
export function makerOf(name: string): Maker | undefined {
  const found = ours.exec(name);
  if (found === null) return undefined;
  return { place: found[1]!, pid: Number.parseInt(found[2]!, 36), start: Number.parseInt(found[3]!, 36) };
}

/** True when the maker is known to run no more. A maker in another container or on another host is never known. */
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

/** Host, boot and pid namespace in eight digits; where the system does not say, the host alone. */
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
