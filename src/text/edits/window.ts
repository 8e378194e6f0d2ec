/**
 * Extracts lines from a file that comes piece by piece, from its beginning or from its end. Lines are those
 * of `lines.ts`; a byte order mark comes with line 1. Bytes are kept unchanged, so that consecutive windows
 * make up the file.
 */
import { bomLength, countLines, lineFeed, skipLines } from "./lines.ts";

/** A range of lines from 1, both ends included; `to` may be infinite. */
export interface WindowRange {
  readonly from: number;
  readonly to: number;
}

/** Consecutive lines of a file. */
export interface LineWindow {
  readonly content: Buffer;
  /** The number of lines in `content`. */
  readonly lines: number;
  /** The number of the first line, or `undefined` if the lines before were not counted. */
  readonly first: number | undefined;
  /** The number of lines in the whole file, or `undefined` if not all were counted. */
  readonly total: number | undefined;
  /** Whether more of the file follows them. */
  readonly hasMore: boolean;
}

/** Collects extracted bytes, up to `maxBytes`. */
class Parts {
  readonly #maxBytes: number;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  isFull = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Copies `bytes`, whose buffer may be reused. */
  add(bytes: Buffer): void {
    if (bytes.length === 0 || this.isFull) return;
    this.#bytes += bytes.length;
    this.isFull = this.#bytes > this.#maxBytes;
    if (!this.isFull) this.#parts.push(Buffer.from(bytes));
  }

  joined(): Buffer {
    return this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
  }

  joinedFromLast(): Buffer {
    this.#parts.reverse();
    return this.joined();
  }
}

/** Extracts a range of lines from the pieces of a file, in their order. */
export class RangeCollector {
  readonly #range: WindowRange;
  readonly #taken: Parts;
  /** The line in which the next piece begins. */
  #line: number;
  #bytes: number;
  #bytesBehind = 0;
  #head: Buffer = Buffer.alloc(0);
  #lastByte: number | undefined;

  /**
   * Creates a collector. `before` describes the bytes before the first piece: none, or more than a byte order
   * mark, without a line of the range.
   */
  constructor(range: WindowRange, maxBytes: number, before = { offset: 0, lines: 0 }) {
    this.#range = range;
    this.#taken = new Parts(maxBytes);
    this.#line = before.lines + 1;
    this.#bytes = before.offset;
  }

  push(piece: Buffer): void {
    const { start, end, lines } = cut(piece, this.#line, this.#range);
    this.#taken.add(piece.subarray(start, end));
    this.#bytesBehind += piece.length - end;
    this.#line += lines;
    this.#bytes += piece.length;
    if (this.#head.length < 3) this.#head = Buffer.concat([this.#head, piece.subarray(0, 3)]);
    this.#lastByte = piece.at(-1) ?? this.#lastByte;
  }

  /** The position reached so far: bytes, and lines that end in them. */
  get pushed(): { readonly offset: number; readonly lines: number } {
    return { offset: this.#bytes, lines: this.#line - 1 };
  }

  /** Whether all lines of the range were pushed, and something after them. */
  get isDone(): boolean {
    return this.#bytesBehind > 0;
  }

  /** Whether the lines exceed the limit of bytes. */
  get isOverLimit(): boolean {
    return this.#taken.isFull;
  }

  /**
   * Returns the extracted lines. `isWhole` says that every byte of the file was pushed, which is required
   * unless `isDone`.
   */
  finish(isWhole: boolean): LineWindow {
    const total = linesOf(this.#line - 1, { head: this.#head, bytes: this.#bytes, last: this.#lastByte });
    return {
      content: this.#taken.joined(),
      lines: countIn(this.#range, total),
      first: this.#range.from,
      total: isWhole ? total : undefined,
      hasMore: this.isDone,
    };
  }
}

/** Returns the number of lines of a file in which `ended` lines have an ending. */
function linesOf(
  ended: number,
  { head, bytes, last }: { head: Buffer; bytes: number; last: number | undefined },
): number {
  return bytes > bomLength(head) && last !== lineFeed ? ended + 1 : ended;
}

/** Returns how many lines of a range exist in a file of `total` lines. */
const countIn = ({ from, to }: WindowRange, total: number): number =>
  Math.max(0, Math.min(to, total) - from + 1);

/**
 * Returns the part of a piece that is in the range, and the number of lines that end in the piece, which
 * begins in line `line`.
 */
function cut(
  piece: Buffer,
  line: number,
  { from, to }: WindowRange,
): { start: number; end: number; lines: number } {
  const before = skipLines(piece, 0, Math.max(0, from - line));
  const inside = skipLines(piece, before.end, Math.max(0, to + 1 - line - before.lines));
  const behind = skipLines(piece, inside.end, Number.POSITIVE_INFINITY);
  return { start: before.end, end: inside.end, lines: before.lines + inside.lines + behind.lines };
}

/** Extracts a range from a file that is in memory. The content is a view of `body`. */
export function rangeOf(body: Buffer, range: WindowRange): LineWindow {
  const { start, end, lines } = cut(body, 1, range);
  const total = linesOf(lines, { head: body, bytes: body.length, last: body.at(-1) });
  return {
    content: body.subarray(start, end),
    lines: countIn(range, total),
    first: range.from,
    total,
    hasMore: end < body.length,
  };
}

/** Returns the last lines of a file that is in memory. */
export const tailOf = (body: Buffer, lines: number): LineWindow =>
  rangeOf(body, { from: Math.max(1, countLines(body) - lines + 1), to: Number.POSITIVE_INFINITY });

/** Extracts the last lines from the pieces of a file, which come last piece first. */
export class TailCollector {
  readonly #taken: Parts;
  readonly #lines: number;
  /** The number of line feeds still to be found before the start of the first line. */
  #missing: number | undefined;
  #start: number | undefined;

  constructor(lines: number, maxBytes: number) {
    this.#lines = lines;
    this.#taken = new Parts(maxBytes);
  }

  /** Adds a piece that begins at `offset` in the file. */
  push(piece: Buffer, offset: number): void {
    if (piece.length === 0) return;
    // The line feed at the very end belongs to the last line.
    this.#missing ??= this.#lines + (piece.at(-1) === lineFeed ? 1 : 0);
    const { lines } = skipLines(piece, 0, Number.POSITIVE_INFINITY);
    if (lines < this.#missing) {
      this.#missing -= lines;
      this.#taken.add(piece);
      return;
    }
    let at = piece.length;
    for (; this.#missing > 0; this.#missing--) at = piece.lastIndexOf(lineFeed, at - 1);
    this.#start = offset + at + 1;
    this.#taken.add(piece.subarray(at + 1));
  }

  get isDone(): boolean {
    return this.#start !== undefined;
  }

  get isOverLimit(): boolean {
    return this.#taken.isFull;
  }

  /** The offset in the file where the lines begin. Every byte of the file was pushed, unless `isDone`. */
  get start(): number {
    return this.#start ?? 0;
  }

  /** Returns the extracted lines. `linesBefore` is the number of earlier lines, if they were counted. */
  finish(linesBefore: number | undefined): LineWindow {
    const content = this.#taken.joinedFromLast();
    const isWhole = this.start === 0;
    const before = isWhole ? 0 : linesBefore;
    const lines = isWhole ? countLines(content) : this.#lines;
    const isCounted = before !== undefined;
    return {
      content,
      lines,
      first: isCounted ? before + 1 : undefined,
      total: isCounted ? before + lines : undefined,
      hasMore: false,
    };
  }
}
