/**
 * Takes lines out of a file that comes piece by piece, from its beginning or from its end. Lines are those of `lines.ts`;
 * a byte order mark comes with line 1. What is taken keeps its bytes: windows that follow each other make up the file.
 */
import { bomLength, countLines, lineFeed, skipLines } from "./lines.ts";

/** Lines from the first to the last of them, from 1; `to` may be infinite. */
export interface WindowRange {
  readonly from: number;
  readonly to: number;
}

/** Lines that follow each other. */
export interface LineWindow {
  readonly content: Buffer;
  /** How many there are. */
  readonly lines: number;
  /** The number of the first one; undefined where the lines before were not counted. */
  readonly first: number | undefined;
  /** Lines of the whole file; undefined where they were not all counted. */
  readonly total: number | undefined;
  /** Whether the file goes on behind them. */
  readonly hasMore: boolean;
}

/** Collects what is taken, of which there may be no more than `mostBytes`. */
class Parts {
  readonly #mostBytes: number;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  isFull = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Copies `bytes`, whose buffer may be used again. */
  add(bytes: Buffer): void {
    if (bytes.length === 0 || this.isFull) return;
    this.#bytes += bytes.length;
    this.isFull = this.#bytes > this.#mostBytes;
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

/** Takes a range of lines out of the pieces of a file, in their order. */
export class RangeCollector {
  readonly #range: WindowRange;
  readonly #taken: Parts;
  /** The line that the next piece begins in. */
  #line: number;
  #bytes: number;
  #bytesBehind = 0;
  #head: Buffer = Buffer.alloc(0);
  #lastByte: number | undefined;

  /** `before` is what lies before the first piece: no bytes, or more than a byte order mark, that hold no line of the range. */
  constructor(range: WindowRange, mostBytes: number, before = { offset: 0, lines: 0 }) {
    this.#range = range;
    this.#taken = new Parts(mostBytes);
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

  /** How far it has come: bytes, and lines that end in them. */
  get pushed(): { readonly offset: number; readonly lines: number } {
    return { offset: this.#bytes, lines: this.#line - 1 };
  }

  /** Whether all lines of the range were pushed, and something behind them. */
  get isDone(): boolean {
    return this.#bytesBehind > 0;
  }

  /** Whether the lines have more bytes than they may. */
  get isOverLimit(): boolean {
    return this.#taken.isFull;
  }

  /** What was taken. `isWhole`: every byte of the file was pushed, as it must be unless `isDone`. */
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

/** Lines of a file in which `ended` of them end. */
function linesOf(
  ended: number,
  { head, bytes, last }: { head: Buffer; bytes: number; last: number | undefined },
): number {
  return bytes > bomLength(head) && last !== lineFeed ? ended + 1 : ended;
}

/** How many lines of a range a file of `total` lines has. */
const countIn = ({ from, to }: WindowRange, total: number): number =>
  Math.max(0, Math.min(to, total) - from + 1);

/** The part of a piece that is in the range, and how many lines end in the piece, which begins in line `line`. */
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

/** The same of a file that is there as a whole; its content is a part of `body`. */
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

/** The last lines of a file that is there as a whole. */
export const tailOf = (body: Buffer, lines: number): LineWindow =>
  rangeOf(body, { from: Math.max(1, countLines(body) - lines + 1), to: Number.POSITIVE_INFINITY });

/** Takes the last lines out of the pieces of a file, of which the last comes first. */
export class TailCollector {
  readonly #taken: Parts;
  readonly #lines: number;
  /** Line feeds that are to be met before the start of the first line is. */
  #missing: number | undefined;
  #start: number | undefined;

  constructor(lines: number, mostBytes: number) {
    this.#lines = lines;
    this.#taken = new Parts(mostBytes);
  }

  /** `offset` is where the piece begins in the file. */
  push(piece: Buffer, offset: number): void {
    if (piece.length === 0) return;
    // The one at the very end ends the last line.
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

  /** Where in the file the lines begin. Every byte of the file was pushed, unless `isDone`. */
  get start(): number {
    return this.#start ?? 0;
  }

  /** What was taken; `linesBefore` are the lines in front of it, where they were counted. */
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
