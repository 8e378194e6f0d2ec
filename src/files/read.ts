import { closeSync, readSync } from "node:fs";
import { refuse } from "../errors.ts";
import { refusing } from "../jail/errno.ts";
import type { Jail, Place } from "../jail/folder.ts";
import type { FileStats, Limit } from "./files.ts";
import { describe } from "./stats.ts";

/** See `Files.read`. `size` in the stats is that of the bytes returned, also when the file was growing. */
export function readFile(jail: Jail, path: string, limit: Limit): { bytes: Buffer; stats: FileStats } {
  using place = jail.admit(path);
  const bytes = readPlace(place, limit);
  return { bytes, stats: { ...describe(place.stats!), size: bytes.length } };
}

/**
 * The content of the regular file at `place`, which must exist. `observe` is given the descriptor before anything is
 * read. Throws wrong-kind for what is no regular file, and too-large.
 */
export function readPlace(place: Place, limit: Limit, observe?: (descriptor: number) => void): Buffer {
  const stats = place.stats!;
  if (!stats.isFile()) throw refuse.notAFile(place.asked);
  if (stats.size > limit.bytes) throw tooLarge(place, limit);
  return refusing(place.asked, () => {
    const descriptor = place.open();
    try {
      observe?.(descriptor);
      const bytes = readAtMost(descriptor, stats.size, limit.bytes + 1);
      if (bytes.length > limit.bytes) throw tooLarge(place, limit);
      return bytes;
    } finally {
      closeSync(descriptor);
    }
  });
}

const tooLarge = (place: Place, limit: Limit) =>
  refuse.tooLarge(place.asked, limit, "use a smaller file, or ask the operator to raise the limit");

/** Reads to the end or to `most` bytes, whatever the file does meanwhile. Its size was `expected` bytes. */
export function readAtMost(descriptor: number, expected: number, most: number): Buffer {
  // One byte more than expected, so that the read which takes a quiet file also shows that it ends there.
  let bytes: Buffer = Buffer.allocUnsafe(Math.min(expected + 1, most));
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, null);
    length += read;
    if (length === most) return bytes;
    if (read === 0 || length === expected) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = enlarge(bytes, most);
  }
}

function enlarge(bytes: Buffer, most: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(bytes.length * 2 + 4096, most));
  bytes.copy(larger);
  return larger;
}
