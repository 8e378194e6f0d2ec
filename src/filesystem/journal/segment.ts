/**
 * A segment: a folder with a file of frames and the contents kept beside them. All workers of a root append
 * to it. Records are numbered by the order in which they begin there, so no worker needs to get a number from
 * another.
 */
import { randomBytes } from "node:crypto";
import { readSync } from "node:fs";
import { type DecodedFrame, decodeFrame, isEnd, isHead, type JournalFrame } from "./frame.ts";

/** The header of the file of frames. */
export interface SegmentHeader {
  readonly version: 2;
  /** The key that each of its frames begins with, 16 random hexadecimal digits. */
  readonly key: string;
  /** Maximum records that may begin in it. */
  readonly most_records: number;
  /** The bytes at which no further record may begin in it, including contents beside the frames. */
  readonly most_bytes: number;
}

export type SegmentLimits = Pick<SegmentHeader, "most_records" | "most_bytes">;

export const newHeader = (limits: SegmentLimits): SegmentHeader => ({
  version: 2,
  key: randomBytes(8).toString("hex"),
  ...limits,
});

export const encodeHeader = (header: SegmentHeader): Buffer => Buffer.from(`${JSON.stringify(header)}\n`);

const maxHeaderBytes = 256;

/**
 * Returns the header, and the offset of the frames, or `undefined` if there is no complete header. Throws the
 * errno error.
 */
export function readHeader(
  descriptor: number,
): { readonly header: SegmentHeader; readonly end: number } | undefined {
  const bytes = readBytes(descriptor, 0, maxHeaderBytes);
  const end = bytes.indexOf("\n") + 1;
  try {
    const header: unknown = JSON.parse(bytes.toString("latin1", 0, end));
    return isHeader(header) ? { header, end } : undefined;
  } catch {
    return undefined;
  }
}

const isHeader = (value: unknown): value is SegmentHeader =>
  typeof value === "object" && value !== null && "version" in value && value.version === 2;

/** A frame, and its location. */
export interface PlacedFrame {
  readonly frame: JournalFrame;
  /** The offset of the contents that it keeps. */
  readonly contentsAt: number;
  /** The bytes of everything kept for it. */
  readonly bytes: number;
  /** The number of its record among those that count, if it is the first frame of one. */
  readonly place: number | undefined;
}

/** Reads the frames of a segment, repeatedly while others append to it. */
export class SegmentScan {
  readonly #descriptor: number;
  readonly #header: SegmentHeader;
  /** The offset after the last complete frame. */
  end: number;
  /** The number of records that begin in it. */
  records = 0;
  /** The bytes of all frames, and of the contents kept beside them. */
  bytes: number;
  /** The bytes of torn frames that are followed by others. */
  ignored = 0;
  /** The latest time of the steps that were read, in microseconds since 1970. */
  latest = 0;
  /** Whether a worker has ended it before it reached the limits of its header. */
  #hasEnd = false;

  constructor(descriptor: number, { header, end }: { readonly header: SegmentHeader; readonly end: number }) {
    this.#descriptor = descriptor;
    this.#header = header;
    this.end = end;
    this.bytes = end;
  }

  /** Returns whether further records that begin in it do not count. */
  get isFull(): boolean {
    return this.#hasEnd || this.reaches(this.#header);
  }

  reaches({ most_records, most_bytes }: SegmentLimits): boolean {
    return this.records >= most_records || this.bytes >= most_bytes;
  }

  /**
   * Generates the frames after the known ones. A torn frame at the end may still be incomplete, and is read
   * again.
   */
  *frames(): Generator<PlacedFrame, void, void> {
    let read = readerOf(this.#descriptor);
    let at = this.end;
    for (;;) {
      let decoded = decodeFrame(read, at, this.#header.key);
      if (decoded === undefined) {
        const next = this.#find(at + 1);
        if (next === undefined) return;
        // A frame followed by another one is complete, or torn for good.
        read = readerOf(this.#descriptor);
        decoded = decodeFrame(read, at, this.#header.key);
        if (decoded === undefined) {
          at = next;
          continue;
        }
      }
      yield this.#take(at, decoded);
      at = this.end;
    }
  }

  #take(at: number, { frame, contents, end, apart }: DecodedFrame): PlacedFrame {
    this.ignored += at - this.end;
    this.end = at;
    const place = this.pass({ bytes: end, apart, isFirst: isHead(frame) });
    if (isEnd(frame)) this.#hasEnd = true;
    if ("at" in frame && Number.isSafeInteger(frame.at)) this.latest = Math.max(this.latest, frame.at);
    return { frame, contentsAt: at + contents, bytes: end + apart, place };
  }

  /**
   * Passes a frame that begins at the end. Returns the number of its record, if it is the first frame of one
   * that counts.
   */
  pass({ bytes, apart, isFirst }: { bytes: number; apart: number; isFirst: boolean }): number | undefined {
    const counts = isFirst && !this.isFull;
    this.end += bytes;
    this.bytes += bytes + apart;
    return counts ? this.records++ : undefined;
  }

  /** Returns the offset of the key of a frame, starting at `from`. */
  #find(from: number): number | undefined {
    const key = Buffer.from(this.#header.key);
    for (let at = from; ; at += pieceBytes - key.length) {
      const piece = readBytes(this.#descriptor, at, pieceBytes);
      const found = piece.indexOf(key);
      if (found !== -1) return at + found;
      if (piece.length < pieceBytes) return undefined;
    }
  }
}

const pieceBytes = 64 * 1024;
const blockBytes = 4096;

/** Returns a reader that reads blocks ahead, because a block usually contains several frames. */
function readerOf(descriptor: number): (at: number, length: number) => Buffer {
  let block: Buffer = Buffer.alloc(0);
  let blockAt = 0;
  return (at, length) => {
    if (at < blockAt || at + length > blockAt + block.length) {
      block = readBytes(descriptor, at, Math.max(length, blockBytes));
      blockAt = at;
    }
    return block.subarray(at - blockAt, at - blockAt + length);
  };
}

/** Reads up to `length` bytes, fewer at the end of the file. */
export function readBytes(descriptor: number, at: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readInto(bytes, descriptor, at));
}

/** Fills `bytes` from a place in a file. Returns how many it has read, fewer at the end of the file. */
export function readInto(bytes: Buffer, descriptor: number, at: number): number {
  let read = 0;
  for (let more = 1; more > 0 && read < bytes.length; read += more)
    more = readSync(descriptor, bytes, read, bytes.length - read, at + read);
  return read;
}
