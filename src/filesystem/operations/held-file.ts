import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { createTurnSlice } from "../../base/scheduling/time-slice.ts";
import { DeferredClose } from "../disk/deferred-close.ts";
import type { EntryVersion } from "../disk/steps.ts";
import { awaitReplacement } from "../disk/swap-names.ts";
import { openWithin, readWithin } from "../files/read.ts";
import { isLarge, revisionOfBytes } from "../files/revision.ts";
import { ScratchBuffer } from "../files/scratch-buffer.ts";
import type { Limit } from "../files/types.ts";
import { errnoError } from "../jail/errno.ts";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import type { ExpectedFile } from "./writable-tree.ts";

/** The slice of all large files that are read in one turn, each in one step. */
const reading = createTurnSlice();

/** A file that was read, and the state that it had then. It is held until disposed. */
export class HeldFile implements ExpectedFile, Disposable {
  /** The content, valid until disposed. */
  readonly content: Buffer;
  /** The file on disk, or `undefined` if it is not there yet. */
  readonly held: DeferredClose | undefined;
  /** The stats, taken before the content was read. */
  readonly #stats: BigIntStats | undefined;
  readonly #scratch = new ScratchBuffer();

  /** Reads the regular file at `place`. Throws wrong-kind for anything else, and too-large. */
  static async read(place: ResolvedPath, limit: Limit): Promise<HeldFile> {
    if (place.content !== undefined) return new HeldFile(place, limit, undefined);
    const held = new DeferredClose(openWithin(place, limit));
    try {
      await awaitReplacement(held.descriptor);
      if (isLarge(place.stats!) && reading.isDue) await reading.yieldIfDue();
      return new HeldFile(place, limit, held);
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(place: ResolvedPath, limit: Limit, held: DeferredClose | undefined) {
    this.held = held;
    if (held === undefined) {
      this.content = Buffer.concat(place.content!);
      return;
    }
    this.#stats = fstatSync(held.descriptor, { bigint: true });
    this.content = readWithin(place, held.descriptor, { limit, scratch: this.#scratch });
  }

  get version(): EntryVersion | undefined {
    if (this.#stats === undefined) return undefined;
    const { dev, ino, size, mtimeNs, ctimeNs } = this.#stats;
    return { dev, ino, size, mtimeNs, ctimeNs, revision: revisionOfBytes([this.content]) };
  }

  /** Checks the stats. A rename changes only the time of the last change of status (rename(2)). */
  requireStats(path: JailedPath, { isRenamed }: { isRenamed: boolean }): void {
    const now = lstatSync(path, { bigint: true });
    const was = this.#stats!;
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

  [Symbol.dispose](): void {
    this.#scratch[Symbol.dispose]();
    this.held?.[Symbol.dispose]();
  }
}

function hasContent(path: JailedPath, content: Buffer): boolean {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  piece ??= Buffer.allocUnsafeSlow(largestPiece);
  const length = Math.min(content.length + 1, largestPiece);
  try {
    for (let at = 0; ; ) {
      const read = readSync(descriptor, piece, 0, length, at);
      if (!piece.subarray(0, read).equals(content.subarray(at, at + read))) return false;
      at += read;
      if (read < length) return at === content.length;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Maximum bytes per piece: large enough to be read fast, and small enough for the processor's cache. */
const largestPiece = 128 * 1024;

/** The piece being compared, which is kept because new memory costs more than reading into it. */
let piece: Buffer | undefined;
