/**
 * A file in which each line names the hash of the previous one, so that changed, removed and inserted lines
 * show. Several processes may append to it, and it is rotated like by logrotate(8): `file`, `file.1`,
 * `file.2`.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { errnoError, errnoOf } from "../../filesystem/jail/errno.ts";
import { tryLockExclusively, unlock } from "../../filesystem/jail/flock.ts";

export interface AuditBounds {
  /** Maximum bytes of a file before the next one is begun. */
  readonly maxBytes: number;
  /** Maximum number of older files that are kept. */
  readonly keep: number;
}

/** Maximum number of older files that a configuration may keep. */
export const maxKeep = 1000;

/** The hash that the first line of all names. */
export const firstHash = `sha256:${"0".repeat(64)}`;

/** Returns the hash of a line without its line end, which the next line names. */
export const hashOfLine = (line: string | Buffer): string =>
  `sha256:${createHash("sha256").update(line).digest("hex")}`;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;

/** Maximum attempts to lock the file. A lock is held for the time of one write. */
const maxTries = 10_000;

export class AuditFile {
  readonly #path: string;
  readonly #bounds: AuditBounds;
  #descriptor: number;
  /** The file as this process knows it: its size, and the hash of its last line. */
  #known = { size: 0, newest: firstHash };

  /** Opens the file, or creates it for this user alone. Throws the errno error. */
  constructor(path: string, bounds: AuditBounds) {
    this.#path = path;
    this.#bounds = bounds;
    this.#descriptor = openAppending(path);
    this.#catchUp();
  }

  /** The hash of the newest line that this process knows. */
  get newest(): string {
    return this.#known.newest;
  }

  /**
   * Appends a line: `fields` as JSON, and as `previous` the hash of the line before. The first line of a file
   * that was begun because the last one was full has `rotated`. Throws the errno error.
   */
  append(fields: Readonly<Record<string, unknown>>): void {
    this.#lock();
    try {
      this.#catchUp();
      let line = Buffer.from(JSON.stringify({ ...fields, previous: this.newest }));
      if (this.#known.size > 0 && this.#known.size + line.length >= this.#bounds.maxBytes) {
        this.#rotate();
        line = Buffer.from(JSON.stringify({ ...fields, rotated: true, previous: this.newest }));
      }
      const text = Buffer.concat([line, newline]);
      for (let at = 0; at < text.length; ) at += writeSync(this.#descriptor, text, at);
      this.#known = { size: this.#known.size + text.length, newest: hashOfLine(line) };
    } finally {
      unlock(this.#descriptor);
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Locks the file that currently has the name. Another process may have rotated it. */
  #lock(): void {
    for (let tries = 0; tries < maxTries; tries++) {
      if (tryLockExclusively(this.#descriptor) === "busy") continue;
      if (isAt(this.#descriptor, this.#path)) return;
      const next = openAppending(this.#path);
      closeSync(this.#descriptor);
      this.#descriptor = next;
    }
    throw errnoError("EBUSY");
  }

  /**
   * Reads the hash of the last line if another process has appended one, and ends a line that a kill cut off.
   */
  #catchUp(): void {
    const { size } = fstatSync(this.#descriptor);
    if (size === this.#known.size) return;
    const last = lastLineOf(this.#descriptor, size);
    if (last === undefined) {
      this.#known = { size, newest: this.newest };
      return;
    }
    if (!last.isEnded) writeSync(this.#descriptor, newline);
    this.#known = { size: last.isEnded ? size : size + 1, newest: hashOfLine(last.line) };
  }

  #rotate(): void {
    for (let number = this.#bounds.keep; number > 0; number--)
      renameIfThere(number === 1 ? this.#path : `${this.#path}.${number - 1}`, `${this.#path}.${number}`);
    if (this.#bounds.keep === 0) unlinkSync(this.#path);
    const next = openAppending(this.#path);
    tryLockExclusively(next);
    closeSync(this.#descriptor);
    this.#descriptor = next;
    this.#known = { size: 0, newest: this.newest };
  }
}

const newline = Buffer.from("\n");

/**
 * Returns the hash of the newest line of a file, which it requires to be writable but does not create. Throws
 * the errno error.
 */
export function newestHashIn(path: string): string {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return firstHash;
  try {
    const last = lastLineOf(descriptor, fstatSync(descriptor).size);
    return last === undefined ? firstHash : hashOfLine(last.line);
  } finally {
    closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openRegular(path, 0);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

const openAppending = (path: string): number => openRegular(path, O_CREAT);

/** Opens a regular file: a write to a pipe would wait for its reader. Throws the errno error. */
function openRegular(path: string, create: number): number {
  const descriptor = openSync(path, O_APPEND | create | O_NOFOLLOW | O_NONBLOCK | O_RDWR, 0o600);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw errnoError("EINVAL");
}

function isAt(descriptor: number, path: string): boolean {
  const named = statSync(path, { throwIfNoEntry: false });
  const { dev, ino } = fstatSync(descriptor);
  return named?.ino === ino && named.dev === dev;
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

interface LastLine {
  readonly line: Buffer;
  /** Whether a line end follows it. */
  readonly isEnded: boolean;
}

/** Returns the last line, or `undefined` if the file is empty. */
function lastLineOf(descriptor: number, size: number): LastLine | undefined {
  if (size === 0) return undefined;
  for (let length = Math.min(size, 4096); ; length = Math.min(size, length * 4)) {
    const tail = Buffer.alloc(length);
    readSync(descriptor, tail, 0, length, size - length);
    const isEnded = tail.at(-1) === newline[0];
    const text = isEnded ? tail.subarray(0, -1) : tail;
    const start = text.lastIndexOf(newline) + 1;
    if (start > 0 || length === size) return { line: text.subarray(start), isEnded };
  }
}
