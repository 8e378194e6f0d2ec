/**
 * A segment: a folder with a file of frames, to which all workers of a root append, and the contents that are kept beside. The
 * records in it are numbered by the order in which they begin there, so no worker needs to ask another for a number.
 */
import { randomBytes } from "node:crypto";
import { readSync } from "node:fs";
import { type DecodedFrame, decodeFrame, isHead, type JournalFrame } from "./frame.ts";

/** What the file of frames begins with. */
export interface SegmentHeader {
  readonly version: 2;
  /** 16 hexadecimal digits at random, with which each of its frames begins. */
  readonly key: string;
  /** Records that may begin in it. */
  readonly most_records: number;
  /** Bytes from which on no record may begin in it, contents beside the frames included. */
  readonly most_bytes: number;
}

export const newHeader = (limits: Pick<SegmentHeader, "most_records" | "most_bytes">): SegmentHeader => ({
  version: 2,
  key: randomBytes(8).toString("hex"),
  ...limits,
});

export const encodeHeader = (header: SegmentHeader): Buffer => Buffer.from(`${JSON.stringify(header)}\n`);

const longestHeader = 256;

/** The header, and where the frames begin; undefined where none is whole. Throws the errno error. */
export function readHeader(
  descriptor: number,
): { readonly header: SegmentHeader; readonly end: number } | undefined {
  const bytes = readBytes(descriptor, 0, longestHeader);
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

/** A frame, where it stands. */
export interface PlacedFrame {
  readonly frame: JournalFrame;
  /** Where the contents begin that it keeps. */
  readonly contentsAt: number;
  /** Of everything that is kept for it. */
  readonly bytes: number;
  /** Of the first of a record that counts: its place among those. */
  readonly place: number | undefined;
}

/** Goes through the frames of a segment, on and on while others append to it. */
export class SegmentScan {
  readonly #descriptor: number;
  readonly #header: SegmentHeader;
  /** Behind the last whole frame. */
  end: number;
  /** How many records begin in it. */
  records = 0;
  /** Of all frames, and of what is kept beside them. */
  bytes: number;
  /** Of torn frames that have others behind them. */
  ignored = 0;

  constructor(descriptor: number, { header, end }: { readonly header: SegmentHeader; readonly end: number }) {
    this.#descriptor = descriptor;
    this.#header = header;
    this.end = end;
    this.bytes = end;
  }

  /** Whether no further record counts that begins in it. */
  get isFull(): boolean {
    return this.records >= this.#header.most_records || this.bytes >= this.#header.most_bytes;
  }

  /** The frames behind those that it knows. What is torn at the end may still be written, and is looked at again. */
  *frames(): Generator<PlacedFrame, void, void> {
    let read = readerOf(this.#descriptor);
    let at = this.end;
    for (;;) {
      let decoded = decodeFrame(read, at, this.#header.key);
      if (decoded === undefined) {
        const next = this.#find(at + 1);
        if (next === undefined) return;
        // Now that something is behind it, it is not being written any more.
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
    return { frame, contentsAt: at + contents, bytes: end + apart, place };
  }

  /** Passes a frame that begins at the end. Answers the place of its record, if it is the first frame of one that counts. */
  pass({ bytes, apart, isFirst }: { bytes: number; apart: number; isFirst: boolean }): number | undefined {
    const counts = isFirst && !this.isFull;
    this.end += bytes;
    this.bytes += bytes + apart;
    return counts ? this.records++ : undefined;
  }

  /** Where the key of a frame stands, from `from` on. */
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

/** Most frames fit into one read. */
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

/** As many bytes as there are. */
export function readBytes(descriptor: number, at: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let more = 1; more > 0 && read < length; read += more)
    more = readSync(descriptor, bytes, read, length - read, at + read);
  return bytes.subarray(0, read);
}
