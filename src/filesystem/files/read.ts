import { closeSync, readSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import { mapErrno } from "../jail/errno.ts";
import type { Jail, ReadTarget } from "../jail/folder.ts";
import type { FileStats } from "../jail/kind.ts";
import { type OpenFile, openPlace } from "./open-file.ts";
import { ScratchBuffer } from "./scratch-buffer.ts";
import { describe } from "./stats.ts";
import type { Limit } from "./types.ts";

/** Uses the bytes of a file while they are valid. */
export type Use<T> = (bytes: Buffer, stats: FileStats) => T;

/** The uses of a file that may be larger than the limit of one read. */
export interface Uses<T> {
  /** Receives a file within the limit. */
  readonly whole: Use<T>;
  /** Receives a file over the limit. It was neither read nor opened; `open` is valid until this returns. */
  readonly large: (stats: FileStats, open: () => OpenFile) => T;
}

/** Implements `Files.readOrOpen`. */
export function readOrOpen<T>(jail: Jail, path: string, { limit, uses }: { limit: Limit; uses: Uses<T> }): T {
  using place = jail.resolveForRead(path);
  const stats = place.stats!;
  return stats.isFile() && stats.size > limit.bytes
    ? uses.large(describe(stats), () => openPlace(place, undefined))
    : useWhole(place, { limit, use: uses.whole });
}

/** Implements `Files.read`. `size` in the stats is that of the bytes, even if the file was growing. */
export function readWholeFile<T>(jail: Jail, path: string, { limit, use }: { limit: Limit; use: Use<T> }): T {
  using place = jail.resolveForRead(path);
  return useWhole(place, { limit, use });
}

function useWhole<T>(place: ReadTarget, { limit, use }: { limit: Limit; use: Use<T> }): T {
  if (place.content !== undefined) {
    const planned = Buffer.concat(place.content);
    return use(planned, { ...describe(place.stats!), size: planned.length });
  }
  using scratch = new ScratchBuffer();
  const descriptor = openWithin(place, limit);
  try {
    const bytes = readWithin(place, descriptor, { limit, scratch: scratch });
    return use(bytes, { ...describe(place.stats!), size: bytes.length });
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens the regular file at `place`, which must exist. Throws wrong-kind for anything else, and too-large.
 */
export function openWithin(place: ReadTarget, limit: Limit): number {
  const stats = place.stats!;
  if (!stats.isFile()) throw refuse.notAFile(place.requested);
  if (stats.size > limit.bytes) throw tooLarge(place.requested, limit);
  return mapErrno(place.requested, () => place.open());
}

/** Reads the content of the opened file into the scratch buffer. Throws too-large. */
export function readWithin(
  { requested, stats }: ReadTarget,
  descriptor: number,
  { limit, scratch }: { limit: Limit; scratch: ScratchBuffer },
): Buffer {
  const most = limit.bytes + 1;
  const bytes = mapErrno(requested, () => readAtMost(descriptor, { expected: stats!.size, most }, scratch));
  if (bytes.length > limit.bytes) throw tooLarge(requested, limit);
  return bytes;
}

const tooLarge = (path: string, limit: Limit) =>
  refuse.tooLarge(path, limit, "use a smaller file, or ask the user to raise the limit");

/** Reads to the end or to `most` bytes, even if the file is changing. Its size was `expected` bytes. */
export function readAtMost(
  descriptor: number,
  { expected, most }: { expected: number; most: number },
  scratch: ScratchBuffer,
): Buffer {
  // One byte more than expected, so that the same read also shows that an unchanged file ends there.
  let end = Math.min(expected + 1, most);
  let bytes = scratch.reserve(end);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, end - length, null);
    length += read;
    if (length === most || read === 0 || length === expected) return bytes.subarray(0, length);
    if (length < end) continue;
    end = Math.min(end * 2 + 4096, most);
    bytes = enlarge(bytes, scratch.reserve(end));
  }
}

/**
 * Returns the first `size` bytes of an opened file, whatever its position; `undefined` if it has fewer.
 */
export function readFromStart(descriptor: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size);
  return readSync(descriptor, bytes, 0, size, 0) === size ? bytes : undefined;
}

function enlarge(bytes: Buffer, larger: Buffer): Buffer {
  if (larger !== bytes) bytes.copy(larger);
  return larger;
}
