import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import type { ReplacedFile } from "../disk/swap-names.ts";
import { readWithin } from "../files/read.ts";
import type { ScratchBuffer } from "../files/scratch-buffer.ts";
import type { Limit } from "../files/types.ts";
import { errnoError } from "../jail/errno.ts";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";

/** The state of a file when it was read. */
export class Version implements ReplacedFile {
  readonly content: Buffer;
  /** The stats, taken before the content was read. */
  readonly #stats: BigIntStats;

  /** Reads the opened file. Throws too-large. */
  constructor(
    place: ResolvedPath,
    descriptor: number,
    { limit, scratch }: { limit: Limit; scratch: ScratchBuffer },
  ) {
    this.#stats = fstatSync(descriptor, { bigint: true });
    this.content = readWithin(place, descriptor, { limit, scratch });
  }

  /** Checks the stats. A rename changes only the time of the last change of status (rename(2)). */
  requireStats(path: JailedPath, { isRenamed }: { isRenamed: boolean }): void {
    const now = lstatSync(path, { bigint: true });
    const was = this.#stats;
    const isSame =
      now.ino === was.ino &&
      now.dev === was.dev &&
      now.size === was.size &&
      now.mtimeNs === was.mtimeNs &&
      (isRenamed || now.ctimeNs === was.ctimeNs);
    if (!isSame) throw errnoError("ESTALE");
  }

  /**
   * Checks the content. File systems with time stamps of whole seconds show no trace of a second change
   * within one.
   */
  requireContent(path: JailedPath): void {
    if (!hasContent(path, this.content)) throw errnoError("ESTALE");
  }
}

function hasContent(path: JailedPath, content: Buffer): boolean {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const piece = Buffer.allocUnsafe(Math.min(content.length + 1, largestPiece));
    for (let at = 0; ; ) {
      const read = readSync(descriptor, piece, 0, piece.length, at);
      if (!piece.subarray(0, read).equals(content.subarray(at, at + read))) return false;
      at += read;
      if (read < piece.length) return at === content.length;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Maximum bytes per piece: large enough to be read fast, and small enough for the processor's cache. */
const largestPiece = 128 * 1024;
