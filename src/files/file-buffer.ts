import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Folder } from "../jail/folder.ts";
import { type NameBytes, nameOf } from "../jail/name.ts";
import { openNameAt } from "../jail/openat.ts";

/** What a reader gets of a file. */
export interface ReadLimits {
  /** A larger file is passed over. */
  readonly maxBytes: number;
  /** Bytes behind the file's that the borrower may write to. */
  readonly slackBytes: number;
  /** Asked about the beginning of a file before more of it is read: false passes the file over. */
  readonly isOfUse?: (text: Buffer, length: number) => boolean;
}

/** A FIFO or device that took the place of a file must not block, nor a terminal become ours. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a name in a held folder for reading, never through a link. Throws the errno error. */
export function openFileIn(folder: Folder, name: NameBytes): number {
  const { descriptor } = folder;
  if (descriptor !== undefined) return openFileBelow(descriptor, name);
  const { bytes, from, to } = name;
  return folder.enter((at) => openSync(at(nameOf(bytes.subarray(from, to))), flags));
}

/** The same in the folder that `descriptor` holds; for threads, which share the process's descriptors. */
export const openFileBelow = (descriptor: number, name: NameBytes): number =>
  openNameAt(descriptor, name, flags);

/** Bytes that are read at once, at first: most files of a source tree have less. Of larger ones, `isOfUse` is asked. */
export const firstBytes = 64 * 1024;

/** Bytes at the beginning of a file in which most binaries show a NUL. */
const binaryProbeBytes = 1024;

/** Spares reading the rest of most binaries (`ReadLimits.isOfUse`). */
export const beginsAsText = (text: Buffer, length: number): boolean =>
  !text.subarray(0, Math.min(length, binaryProbeBytes)).includes(0);

/** Its one buffer, grown to at least that length; the contents stay. */
export type ReserveBuffer = (bytes: number) => Buffer;

/** One buffer that files are read into, one after the other: it grows to the largest file met, within the limits. */
export class FileBuffer {
  readonly #reserve: ReserveBuffer;
  #buffer: Buffer = Buffer.alloc(0);

  /** With `reserve` the files come to lie in memory of the borrower. */
  constructor(reserve: ReserveBuffer = reserveAnew()) {
    this.#reserve = reserve;
  }

  /**
   * Calls `use` with the bytes of an opened file, as `text[0, length)`, and returns what it found in them. A file over the
   * limit, or one that is no regular file, gives nothing. The bytes are worthless afterwards. Closes the descriptor.
   * Throws the errno error.
   */
  withContents<T>(descriptor: number, limits: ReadLimits, use: (text: Buffer, length: number) => T[]): T[] {
    try {
      const length = this.#read(descriptor, limits);
      if (length === undefined) return [];
      const found = use(this.#buffer, length);
      // What is not a regular file may have been read, but nothing of it is used; the others are spared the question.
      return found.length > 0 && !fstatSync(descriptor).isFile() ? [] : found;
    } finally {
      closeSync(descriptor);
    }
  }

  /** The length of the file; undefined when it is passed over. A short read is the end of a regular file. */
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
