import { isAscii, isUtf8 } from "node:buffer";
import type { SearchKernel } from "../prefilter/kernel.ts";
import { literalPrefilter, type Prefilter } from "../prefilter/prefilter.ts";
import type { Regex } from "../regex/regex-runtime.ts";
import { rawOffset, rawOffsets } from "./utf8.ts";

/** Matches lines of files and paths against a query. */
export interface LineMatcher {
  /** Whether `path` matches. */
  matchesPath(path: string): boolean;
  /** Bytes that `prepare` writes after a text. */
  readonly slack: number;
  /**
   * Starts on `text[0, length)`, and matches no more than `maxLineBytes` of each line. A newline and the slack follow the
   * text.
   */
  prepare(text: Buffer, length: number, maxLineBytes: number): void;
  /**
   * Offset of the first place at or after `from`, the start of a line, whose line may match; -1 when no further line
   * does. It may be a place past the end.
   */
  candidate(text: Buffer, from: number, length: number): number;
  /** Offset of the first match in `text[start, end)`, the line of the last candidate without its ending, or -1. */
  locate(text: Buffer, start: number, end: number): number;
  /** Start and end of the first `limit` matches in that line, counted from `start`. Its text holds no NUL byte. */
  locateEach(text: Buffer, span: MatchSpan): number[];
}

/** Where matches are located, and how many at most. */
export interface MatchSpan {
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** Matches a literal. */
export class LiteralMatcher implements LineMatcher {
  readonly #text: string;
  readonly #prefilter: Prefilter;
  readonly slack: number;

  /** With a `kernel`, texts have to lie in its memory. */
  constructor(text: string, kernel: SearchKernel | undefined) {
    this.#text = text;
    this.#prefilter = literalPrefilter(text, kernel);
    this.slack = this.#prefilter.slack;
  }

  matchesPath(path: string): boolean {
    return path.includes(this.#text);
  }

  prepare(text: Buffer, length: number): void {
    this.#prefilter.prepare(text, length);
  }

  candidate(text: Buffer, from: number, length: number): number {
    return this.#prefilter.next(text, from, length);
  }

  /** The last candidate is the first in its line; when it ends after `end`, so does each later one. */
  locate(_text: Buffer, _start: number, end: number): number {
    return this.#prefilter.end <= end ? this.#prefilter.start : -1;
  }

  locateEach(text: Buffer, { start, end, limit }: MatchSpan): number[] {
    return literalOffsets(text.subarray(start, end), this.#text, limit);
  }
}

/** Start and end of the first `limit` occurrences of a literal that do not overlap. */
export function literalOffsets(text: Buffer, literal: string, limit: number): number[] {
  const offsets: number[] = [];
  const bytes = Buffer.from(literal);
  for (let at = text.indexOf(bytes); at >= 0 && offsets.length < 2 * limit; ) {
    offsets.push(at, at + bytes.length);
    at = text.indexOf(bytes, at + bytes.length);
  }
  return offsets;
}

/** Start of the first match in the line `text[from, to)`, or -1; undefined when the line is not ASCII. */
export type AsciiLineMatcher = (text: Buffer, from: number, to: number) => number | undefined;

/** A compiled pattern, and what makes it fast. */
export interface RegexPlan {
  readonly regex: Regex;
  /** The same on ASCII text, line by line (`renderAsciiLines`). */
  readonly ascii: Regex | undefined;
  /** `ascii` sees no end of a line before a "\r\n". */
  readonly asksForEnd: boolean;
  /** Undefined where the engine is faster than any prefilter. */
  readonly prefilter: Prefilter | undefined;
  /** The reverse DFA in the kernel, for lines of ASCII text. */
  readonly dfa: AsciiLineMatcher | undefined;
}

/** Bytes of one call of the engine, which stops at the first match: the next call starts after that line. */
const chunkBytes = 16 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Matches a pattern. The prefilter finds candidates; without one, the engine searches chunks of ASCII text, and other text
 * line by line. In a line of ASCII text the DFA locates the match where the pattern has one, else the engine.
 */
export class RegexMatcher implements LineMatcher {
  readonly slack: number;
  readonly #plan: RegexPlan;
  #chunkBytes = 0;
  /** Of the text. */
  #length = 0;
  /** Undefined until asked. */
  #isAscii: boolean | undefined;
  #hasReturns: boolean | undefined;
  /** Lines that start before this are candidates one by one. */
  #singleUntil = 0;
  /** Start of the match in the line of the last candidate, when the engine has found it already; else -1. */
  #located = -1;

  constructor(plan: RegexPlan) {
    this.#plan = plan;
    this.slack = plan.prefilter?.slack ?? 0;
  }

  matchesPath(path: string): boolean {
    const bytes = Buffer.from(path);
    return this.#plan.regex.isMatch(bytes, 0, bytes.length);
  }

  prepare(text: Buffer, length: number, maxLineBytes: number): void {
    this.#plan.prefilter?.prepare(text, length);
    this.#chunkBytes = Math.min(chunkBytes, maxLineBytes);
    this.#length = length;
    this.#isAscii = undefined;
    this.#hasReturns = undefined;
    this.#singleUntil = 0;
  }

  candidate(text: Buffer, from: number, length: number): number {
    const { prefilter } = this.#plan;
    return prefilter === undefined ? this.#scan(text, from, length) : prefilter.next(text, from, length);
  }

  locate(text: Buffer, start: number, end: number): number {
    const { prefilter } = this.#plan;
    if (prefilter === undefined) return this.#located < 0 ? this.#search(text, start, end) : this.#located;
    return prefilter.isWhole && prefilter.end <= end ? prefilter.start : this.#search(text, start, end);
  }

  locateEach(text: Buffer, { start, end, limit }: MatchSpan): number[] {
    const { regex, ascii = regex } = this.#plan;
    const isAsciiLine = this.#isAsciiIn(text, start, end);
    return findEach(isAsciiLine ? ascii : regex, text.subarray(start, end), limit);
  }

  /** The next line that may match. It searches whole chunks where those match exactly as their lines do. */
  #scan(text: Buffer, from: number, length: number): number {
    this.#located = -1;
    for (let start = from; start < length; ) {
      if (start < this.#singleUntil) return start;
      const end = this.#chunkEnd(text, start, length);
      const { ascii } = this.#plan;
      if (ascii === undefined || !this.#matchesAsLines(text, { start, end, length })) {
        this.#singleUntil = end + 1;
        return start;
      }
      const at = ascii.find(text, start, end);
      if (at >= 0) return this.#locatedAt(text, start + at, length);
      start = end + 1;
    }
    return -1;
  }

  /** End of the chunk that starts with the line at `start`: whole lines, without the last newline. */
  #chunkEnd(text: Buffer, start: number, length: number): number {
    const furthest = start + this.#chunkBytes;
    if (furthest >= length) return text[length - 1] === newline ? length - 1 : length;
    const last = text.lastIndexOf(newline, furthest);
    return last < start ? text.indexOf(newline, start) : last;
  }

  /** Whether the chunk is ASCII, its lines are not cut, and each ends where `ascii` sees its end. */
  #matchesAsLines(
    text: Buffer,
    { start, end, length }: { start: number; end: number; length: number },
  ): boolean {
    if (end - start > this.#chunkBytes) return false;
    if (!this.#isAsciiIn(text, start, end)) return false;
    return !this.#plan.asksForEnd || !this.#hasReturn(text, length);
  }

  #locatedAt(text: Buffer, hit: number, length: number): number {
    // A match may include a "\r" of the line's ending.
    if (!this.#hasReturn(text, length)) this.#located = hit;
    return hit;
  }

  #hasReturn(text: Buffer, length: number): boolean {
    this.#hasReturns ??= text.subarray(0, length).includes(carriageReturn);
    return this.#hasReturns;
  }

  /** Most texts are ASCII as a whole: the whole is tested once. */
  #isAsciiIn(text: Buffer, start: number, end: number): boolean {
    this.#isAscii ??= isAscii(text.subarray(0, this.#length));
    return this.#isAscii || isAscii(text.subarray(start, end));
  }

  /** Decodes a line that is not UTF-8 first, with U+FFFD for each part that is not. */
  #search(text: Buffer, start: number, end: number): number {
    const { regex, ascii = regex, dfa } = this.#plan;
    const found = dfa?.(text, start, end);
    if (found !== undefined) return found;
    if (this.#isAsciiIn(text, start, end)) return shift(start, ascii.find(text, start, end));
    const line = text.subarray(start, end);
    if (isUtf8(line)) return shift(start, regex.find(text, start, end));
    const decoded = Buffer.from(line.toString());
    const offset = regex.find(decoded, 0, decoded.length);
    return offset < 0 ? -1 : start + rawOffset(line, offset);
  }
}

/** The first `limit` matches in a text, which is decoded first if it is not UTF-8. */
export function findEach(regex: Regex, text: Buffer, limit: number): number[] {
  // To the engine, 0 is no limit.
  const most = Math.min(limit, text.length + 1);
  if (isUtf8(text)) return regex.findEach(text, { from: 0, to: text.length, limit: most });
  const decoded = Buffer.from(text.toString());
  return rawOffsets(text, regex.findEach(decoded, { from: 0, to: decoded.length, limit: most }));
}

const shift = (start: number, offset: number): number => (offset < 0 ? -1 : start + offset);
