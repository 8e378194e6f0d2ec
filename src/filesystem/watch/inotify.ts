/**
 * Calls inotify(7), which JavaScript runtimes offer only through wrappers that hide when the queue is empty.
 */
import { closeSync } from "node:fs";
import { openErrno, openLibc } from "../../base/bun.ts";
import { pathArgument, putPath } from "../jail/path-argument.ts";

/** Bits of an event's mask (sys/inotify.h). */
export const events = {
  modify: 0x2,
  attrib: 0x4,
  closeWrite: 0x8,
  movedFrom: 0x40,
  movedTo: 0x80,
  create: 0x100,
  delete: 0x200,
  deleteSelf: 0x400,
  unmount: 0x2000,
  overflow: 0x4000,
  ignored: 0x8000,
  isFolder: 0x40000000,
} as const;

/** The events that the watch of a folder reports. */
const watched =
  events.modify |
  events.attrib |
  events.closeWrite |
  events.movedFrom |
  events.movedTo |
  events.create |
  events.delete |
  events.deleteSelf;
const onlyFolders = 0x01000000;

/** An event. The object is reused, so it is valid only during the call that receives it. */
export interface InotifyEvent {
  /** The watch that reported the event. */
  watch: number;
  mask: number;
  /** A number that both events of a move share. */
  cookie: number;
  /** The name is `bytes[from, to)`. It is empty in an event for the folder itself. */
  bytes: Buffer;
  from: number;
  to: number;
}

/** Returns "last" to leave the events after this one for the next read. */
export type OnEvent = (event: Readonly<InotifyEvent>) => unknown;

/**
 * The reason why a folder cannot be watched: the limit of watches or the memory is used up ("limit"), the
 * folder may not be read ("unreadable"), or something else.
 */
export type WatchFailure = "limit" | "unreadable" | "other";

/** The part of `Inotify` that a tree uses. */
export type WatchQueue = Pick<Inotify, "watch" | "unwatch" | "read" | "close">;

/** The kernel's event queue for the watched folders. */
export class Inotify {
  readonly #descriptor: number;
  readonly #calls: Calls;
  /** The events of the last read that were left. */
  #rest: Buffer | undefined;

  private constructor(descriptor: number, calls: Calls) {
    this.#descriptor = descriptor;
    this.#calls = calls;
  }

  /**
   * Opens a queue. Returns `undefined` if this runtime or system has no inotify, and "limit" if the user has
   * as many queues as are allowed.
   */
  static open(): Inotify | "limit" | undefined {
    const calls = load();
    if (calls === undefined) return undefined;
    const descriptor = calls.inotify_init1(nonBlocking | closeOnExec);
    if (descriptor >= 0) return new Inotify(descriptor, calls);
    return limitErrors.has(calls.errno()) ? "limit" : undefined;
  }

  /**
   * Watches the folder that the descriptor holds, whatever its name. A folder always gets the same number.
   */
  watch(folder: number): number | WatchFailure {
    putPath(`/proc/self/fd/${folder}`);
    const watch = this.#calls.inotify_add_watch(this.#descriptor, pathArgument, watched | onlyFolders);
    if (watch >= 0) return watch;
    const errno = this.#calls.errno();
    if (limitErrors.has(errno)) return "limit";
    return errno === EACCES ? "unreadable" : "other";
  }

  /** Ends a watch; an `ignored` event follows. */
  unwatch(watch: number): void {
    this.#calls.inotify_rm_watch(this.#descriptor, watch);
  }

  /**
   * Reports the next events of the queue, at most some hundred. Returns false if the queue is empty. Throws
   * if it is broken.
   */
  read(onEvent: OnEvent): boolean {
    const rest = this.#rest;
    if (rest !== undefined) {
      this.#parse(rest, rest.length, onEvent);
      return true;
    }
    buffer ??= Buffer.allocUnsafeSlow(bufferBytes);
    const length = Number(this.#calls.read(this.#descriptor, buffer, bufferBytes));
    if (length > 0) {
      this.#parse(buffer, length, onEvent);
      return true;
    }
    const errno = length === 0 ? 0 : this.#calls.errno();
    if (errno === EINTR) return this.read(onEvent);
    if (errno === EAGAIN) return false;
    throw new Error(`reading inotify failed (errno ${errno})`);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #parse(bytes: Buffer, length: number, onEvent: OnEvent): void {
    this.#rest = undefined;
    const at = parseEvents(bytes, length, onEvent);
    // All queues read into one buffer.
    if (at < length) this.#rest = Buffer.from(bytes.subarray(at, length));
  }
}

/**
 * Reports the records of struct inotify_event in `bytes[0, length)`, up to one that is the last of a step.
 * Returns the place after it.
 */
export function parseEvents(bytes: Buffer, length: number, onEvent: OnEvent): number {
  const event: InotifyEvent = { watch: 0, mask: 0, cookie: 0, bytes, from: 0, to: 0 };
  let at = 0;
  while (at < length) {
    event.watch = bytes.readInt32LE(at);
    event.mask = bytes.readUInt32LE(at + 4);
    event.cookie = bytes.readUInt32LE(at + 8);
    event.from = at + headBytes;
    event.to = event.from;
    const end = event.from + bytes.readUInt32LE(at + 12);
    while (event.to < end && bytes[event.to] !== 0) event.to++;
    at = end;
    if (onEvent(event) === "last") break;
  }
  return at;
}

const headBytes = 16;
const bufferBytes = 8 * 1024;
let buffer: Buffer | undefined;

/** These values are the same on all architectures that Bun runs on. */
const nonBlocking = 0o4000;
const closeOnExec = 0o2000000;
/** asm-generic/errno-base.h */
const [EINTR, EAGAIN, ENOMEM, EACCES, ENFILE, EMFILE, ENOSPC] = [4, 11, 12, 13, 23, 24, 28];
const limitErrors: ReadonlySet<number> = new Set([ENOMEM, ENFILE, EMFILE, ENOSPC]);

interface Libc {
  inotify_init1(flags: number): number;
  inotify_add_watch(descriptor: number, path: Uint8Array, mask: number): number;
  inotify_rm_watch(descriptor: number, watch: number): number;
  read(descriptor: number, bytes: Uint8Array, length: number): number | bigint;
}

interface Calls extends Libc {
  errno(): number;
}

let loaded: Calls | "none" | undefined;

function load(): Calls | undefined {
  loaded ??= open() ?? "none";
  return loaded === "none" ? undefined : loaded;
}

function open(): Calls | undefined {
  const errno = openErrno();
  const libc = openLibc<Libc>({
    inotify_init1: { args: ["i32"], returns: "i32" },
    inotify_add_watch: { args: ["i32", "ptr", "u32"], returns: "i32" },
    inotify_rm_watch: { args: ["i32", "i32"], returns: "i32" },
    read: { args: ["i32", "ptr", "u64"], returns: "i64_fast" },
  });
  return errno && libc && { ...libc, errno };
}
