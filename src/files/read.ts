import { closeSync, readSync } from "node:fs";
import { refuse } from "../errors.ts";
import { refusing } from "../jail/errno.ts";
import type { Jail, Seen } from "../jail/folder.ts";
import type { FileStats, Limit } from "./files.ts";
import { describe } from "./stats.ts";

/** What is done with the bytes of a file while they are there. */
export type Use<T> = (bytes: Buffer, stats: FileStats) => T;

/** See `Files.read`. `size` in the stats is that of the bytes, also when the file was growing. */
export function readFile<T>(jail: Jail, path: string, { limit, use }: { limit: Limit; use: Use<T> }): T {
  using place = jail.see(path);
  const bytes = readPlace(place, limit, { room: sharedRoom });
  return use(bytes, { ...describe(place.stats!), size: bytes.length });
}

/** A buffer of at least so many bytes, whatever is in it. */
type Room = (bytes: number) => Buffer;

let shared: Buffer | undefined;

/** Of the largest files the buffer is kept as well: memory that is new to the process costs more than reading into it. */
const mostShared = 16 * 1024 * 1024;

/** The one buffer for bytes that nobody keeps. */
const sharedRoom: Room = (bytes) => {
  if (bytes > mostShared) return Buffer.allocUnsafe(bytes);
  if (shared === undefined || shared.length < bytes)
    shared = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024));
  return shared;
};

interface ReadOptions {
  /** Where the bytes come to lie. Default: in a buffer of their own. */
  readonly room?: Room;
  /** Is given the descriptor before anything is read. */
  readonly observe?: (descriptor: number) => void;
}

/** The content of the regular file at `place`, which must exist. Throws wrong-kind for what is none, and too-large. */
export function readPlace(place: Seen, limit: Limit, { room, observe }: ReadOptions): Buffer {
  const stats = place.stats!;
  if (!stats.isFile()) throw refuse.notAFile(place.asked);
  if (stats.size > limit.bytes) throw tooLarge(place, limit);
  return refusing(place.asked, () => {
    const descriptor = place.open();
    try {
      observe?.(descriptor);
      const bytes = readAtMost(descriptor, stats.size, limit.bytes + 1, room);
      if (bytes.length > limit.bytes) throw tooLarge(place, limit);
      return bytes;
    } finally {
      closeSync(descriptor);
    }
  });
}

const tooLarge = (place: Seen, limit: Limit) =>
  refuse.tooLarge(place.asked, limit, "use a smaller file, or ask the operator to raise the limit");

/** Reads to the end or to `most` bytes, whatever the file does meanwhile. Its size was `expected` bytes. */
export function readAtMost(
  descriptor: number,
  expected: number,
  most: number,
  room: Room = (bytes) => Buffer.allocUnsafe(bytes),
): Buffer {
  // One byte more than expected, so that the read which takes a quiet file also shows that it ends there.
  let end = Math.min(expected + 1, most);
  let bytes = room(end);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, end - length, null);
    length += read;
    if (length === most || read === 0 || length === expected) return bytes.subarray(0, length);
    if (length < end) continue;
    end = Math.min(end * 2 + 4096, most);
    bytes = enlarge(bytes, room(end));
  }
}

function enlarge(bytes: Buffer, larger: Buffer): Buffer {
  if (larger !== bytes) bytes.copy(larger);
  return larger;
}
