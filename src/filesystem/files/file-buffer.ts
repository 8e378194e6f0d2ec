import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Folder } from "../jail/folder.ts";
import { type NameBytes, nameOf } from "../jail/name.ts";
import { openNameAt } from "../jail/openat.ts";

/** The limits of a reader. */
export interface ReadLimits {
  /** Maximum size of a file in bytes; a larger one is skipped. */
  readonly maxBytes: number;
  /** Bytes after the file's own that the borrower may write to. */
  readonly slackBytes: number;
  /** Judges the beginning of a file before more of it is read. Returning false skips the file. */
  readonly isOfUse?: (text: Buffer, length: number) => boolean;
  /** Returns whether to skip the file `buffer[0, size)`, before `textOf`. */
  readonly passesOver?: ((buffer: Buffer, size: number) => boolean) | undefined;
  /**
   * Returns the text of the file `buffer[0, size)`: a part of its bytes, which it may change in place, or new
   * ones; `undefined` for all bytes, which is the default.
   */
  readonly textOf?: ((buffer: Buffer, size: number) => Buffer | undefined) | undefined;
}

/**
 * The flags for opening a file. A FIFO or device that took its place must not block, nor may a terminal
 * become the controlling one.
 */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a name in a held folder for reading, never through a link. Throws the errno error. */
export function openFileIn(folder: Folder, name: NameBytes): number {
  const { descriptor } = folder;
  if (descriptor !== undefined) return openFileBelow(descriptor, name);
  const { bytes, from, to } = name;
  return folder.enter((at) => openSync(at(nameOf(bytes.subarray(from, to))), flags));
}

/**
 * Like `openFileIn`, but in the folder that `descriptor` holds, for threads, which share the process's
 * descriptors.
 */
export const openFileBelow = (descriptor: number, name: NameBytes): number =>
  openNameAt(descriptor, name, flags);

/**
 * Bytes that are read at first. Nearly all files of a source tree have fewer; `isOfUse` judges larger ones.
 */
export const firstBytes = 64 * 1024;

/** Bytes at the beginning of a file within which nearly all binaries have a NUL. */
const binaryProbeBytes = 1024;

/**
 * Returns whether a file begins like text, which spares reading the rest of nearly all binaries
 * (`ReadLimits.isOfUse`).
 */
export const beginsAsText = (text: Buffer, length: number): boolean =>
  !text.subarray(0, Math.min(length, binaryProbeBytes)).includes(0);

/** Returns the one buffer, grown to at least that length; its contents stay. */
export type ReserveBuffer = (bytes: number) => Buffer;

/**
 * One buffer that files are read into, one after the other. It grows to the largest file met, within the
 * limits.
 */
export class FileBuffer {
  readonly #reserve: ReserveBuffer;
  #buffer: Buffer = Buffer.alloc(0);

  /** Creates a buffer. `reserve` places the files in memory of the borrower. */
  constructor(reserve: ReserveBuffer = reserveAnew()) {
    this.#reserve = reserve;
  }

  /**
   * Calls `use` with the text of an opened file, as `text[0, length)`, and the size of the file, and returns
   * its findings. A file over the limit, or one that is not regular, has none. The bytes are invalid
   * afterwards. Closes the descriptor. Throws the errno error.
   */
  withContents<T>(
    descriptor: number,
    limits: ReadLimits,
    use: (text: Buffer, length: number, size: number) => T[],
  ): T[] {
    try {
      const size = this.#read(descriptor, limits);
      if (size === undefined || limits.passesOver?.(this.#buffer, size) === true) return [];
      const length =
        limits.textOf === undefined ? size : this.#replace(size, limits.textOf, limits.slackBytes);
      const found = use(this.#buffer, length, size);
      // Something other than a regular file may have been read, but its findings are dropped. Files without
      // findings skip the check.
      return found.length > 0 && !fstatSync(descriptor).isFile() ? [] : found;
    } finally {
      closeSync(descriptor);
    }
  }

  /** Replaces the bytes of the file by its text, and returns the length of that. */
  #replace(size: number, textOf: NonNullable<ReadLimits["textOf"]>, slackBytes: number): number {
    const text = textOf(this.#buffer, size);
    if (text === undefined) return size;
    if (this.#buffer.length < text.length + slackBytes)
      this.#buffer = this.#reserve(text.length + slackBytes);
    // A copy onto itself would take as long as any other.
    if (text.byteOffset !== this.#buffer.byteOffset || text.buffer !== this.#buffer.buffer)
      text.copy(this.#buffer);
    return text.length;
  }

  /**
   * Returns the length of the file, or `undefined` if it is skipped. A short read is the end of a regular
   * file.
   */
  #read(descriptor: number, { maxBytes, slackBytes, isOfUse }: ReadLimits): number | undefined {
    const most = maxBytes + 1;
    let length = 0;
    let end = Math.min(firstBytes, most);
    for (;;) {
      if (this.#buffer.length < end + slackBytes) this.#buffer = this.#reserve(end + slackBytes);
      const read = readSync(descriptor, this.#buffer, length, end - length, null);
      const isWhole = length + read < end;
      if (length === 0 && !isWhole && isOfUse?.(this.#buffer, read) === false) return undefined;
      length += read;
      if (length > maxBytes) return undefined;
      if (isWhole) return length;
      end = Math.min(Math.max(this.#buffer.length - slackBytes, 2 * length), most);
    }
  }
}

function reserveAnew(): ReserveBuffer {
  let buffer: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const larger = Buffer.allocUnsafeSlow(bytes);
    buffer.copy(larger);
    buffer = larger;
    return larger;
  };
}
