import { isAscii, isUtf8 } from "node:buffer";
import type { SearchKernel } from "../prefilter/kernel.ts";
import { literalPrefilter, type Prefilter } from "../prefilter/prefilter.ts";
import type { Regex } from "../regex/regex-runtime.ts";
import { rawOffset } from "./utf8.ts";

/** What is looked for, in lines of files and in paths. */
export interface LineMatcher {
  /** Whether it is found in `path`. */
  inPath(path: string): boolean;
  /** Bytes that `prepare` writes behind a text. */
  readonly slack: number;
  /**
   * Makes `text[0, length)` ready to be searched by so many bytes of each line. There is a newline behind it, and then
   * room for the slack.
   */
  prepare(text: Buffer, length: number, maxLineBytes: number): void;
  /**
   * Offset of the first place at or after `from`, the start of a line, whose line may match; -1 when no further line
   * does. A place past the end may be returned too.
   */
  candidate(text: Buffer, from: number, length: number): number;
  /** Offset of the first match in `text[start, end)`, the line of the last candidate without its ending, or -1. */
  locate(text: Buffer, start: number, end: number): number;
}

/** Looks for exactly these characters. */
export class LiteralMatcher implements LineMatcher {
  readonly #text: string;
  readonly #finder: Prefilter;
  readonly slack: number;

  /** With a `kernel`, texts have to lie in its memory. */
  constructor(text: string, kernel: SearchKernel | undefined) {
    this.#text = text;
    this.#finder = literalPrefilter(text, kernel);
    this.slack = this.#finder.slack;
  }

  inPath(path: string): boolean {
    return path.includes(this.#text);
  }

  prepare(text: Buffer, length: number): void {
    this.#finder.prepare(text, length);
  }

  candidate(text: Buffer, from: number, length: number): number {
    return this.#finder.next(text, from, length);
  }

  /** The candidate is the first in its line, and no later one fits where it does not. */
  locate(_text: Buffer, _start: number, end: number): number {
    return this.#finder.end <= end ? this.#finder.start : -1;
  }
}

/** Where in a text the first match in one of its lines starts, or -1; undefined when the line is not ASCII. */
export type AsciiLineMatcher = (text: Buffer, from: number, to: number) => number | undefined;

/** A pattern, and what makes it fast. */
export interface RegexPlan {
  readonly regex: Regex;
  /** The same on ASCII text, line by line (`renderAsciiLines`). */
  readonly ascii: Regex | undefined;
  /** `ascii` sees no end of a line before a "\r\n". */
  readonly asksForEnd: boolean;
  /** Finds what every match contains, where that is rare. */
  readonly finder: Prefilter | undefined;
  /** Finds matches in lines of ASCII text, which lie in the kernel. */
  readonly matcher: AsciiLineMatcher | undefined;
}

/** Most text that the engine is given at once: it stops at the first match, and the rest is given again. */
const pieceBytes = 16 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Looks for matches of a pattern: of what it requires where that is rare, else in pieces of ASCII text, else by line. In
 * a line of ASCII text the automaton finds the match where the pattern has one, else the engine.
 */
export class RegexMatcher implements LineMatcher {
  readonly slack: number;
  readonly #plan: RegexPlan;
  #pieceBytes = 0;
  /** Of the text. */
  #length = 0;
  /** Undefined when not known yet. */
  #isAscii: boolean | undefined;
  #hasReturns: boolean | undefined;
  /** Lines that start before this are candidates one by one. */
  #singleUntil = 0;
  /** Where the line of the last candidate matches, when that is certain. */
  #certain = -1;

  constructor(plan: RegexPlan) {
    this.#plan = plan;
    this.slack = plan.finder?.slack ?? 0;
  }

  inPath(path: string): boolean {
    const bytes = Buffer.from(path);
    return this.#plan.regex.isMatch(bytes, 0, bytes.length);
  }

  prepare(text: Buffer, length: number, maxLineBytes: number): void {
    this.#plan.finder?.prepare(text, length);
    this.#pieceBytes = Math.min(pieceBytes, maxLineBytes);
    this.#length = length;
    this.#isAscii = undefined;
    this.#hasReturns = undefined;
    this.#singleUntil = 0;
  }

  candidate(text: Buffer, from: number, length: number): number {
    const { finder } = this.#plan;
    return finder === undefined ? this.#scan(text, from, length) : finder.next(text, from, length);
  }

  locate(text: Buffer, start: number, end: number): number {
    const { finder } = this.#plan;
    if (finder === undefined) return this.#certain < 0 ? this.#search(text, start, end) : this.#certain;
    return finder.isWhole && finder.end <= end ? finder.start : this.#search(text, start, end);
  }

  /** The next line that may match, found in whole pieces of text where that tells no less than its lines. */
  #scan(text: Buffer, from: number, length: number): number {
    this.#certain = -1;
    for (let start = from; start < length; ) {
      if (start < this.#singleUntil) return start;
      const end = this.#pieceEnd(text, start, length);
      const { ascii } = this.#plan;
      if (ascii === undefined || !this.#isPlain(text, { start, end, length })) {
        this.#singleUntil = end + 1;
        return start;
      }
      const at = ascii.find(text, start, end);
      if (at >= 0) return this.#mark(text, start + at, length);
      start = end + 1;
    }
    return -1;
  }

  /** End of the piece that starts with the line at `start`: whole lines, without the last newline. */
  #pieceEnd(text: Buffer, start: number, length: number): number {
    const furthest = start + this.#pieceBytes;
    if (furthest >= length) return text[length - 1] === newline ? length - 1 : length;
    const last = text.lastIndexOf(newline, furthest);
    return last < start ? text.indexOf(newline, start) : last;
  }

  /** Whether the piece is ASCII, its lines are not cut, and each ends where `ascii` sees it. */
  #isPlain(text: Buffer, { start, end, length }: { start: number; end: number; length: number }): boolean {
    if (end - start > this.#pieceBytes) return false;
    if (!this.#isAsciiIn(text, start, end)) return false;
    return !this.#plan.asksForEnd || !this.#returns(text, length);
  }

  #mark(text: Buffer, hit: number, length: number): number {
    // A match may have taken a "\r" in that is part of the line's ending.
    if (!this.#returns(text, length)) this.#certain = hit;
    return hit;
  }

  #returns(text: Buffer, length: number): boolean {
    this.#hasReturns ??= text.subarray(0, length).includes(carriageReturn);
    return this.#hasReturns;
  }

  /** Most texts are ASCII as a whole: that is asked once. */
  #isAsciiIn(text: Buffer, start: number, end: number): boolean {
    this.#isAscii ??= isAscii(text.subarray(0, this.#length));
    return this.#isAscii || isAscii(text.subarray(start, end));
  }

  /** A line that is not UTF-8 is searched as it is shown: with U+FFFD for each part that is not. */
  #search(text: Buffer, start: number, end: number): number {
    const { regex, ascii = regex, matcher } = this.#plan;
    const matched = matcher?.(text, start, end);
    if (matched !== undefined) return matched;
    if (this.#isAsciiIn(text, start, end)) return shift(start, ascii.find(text, start, end));
    const line = text.subarray(start, end);
    if (isUtf8(line)) return shift(start, regex.find(text, start, end));
    const shown = Buffer.from(line.toString());
    const found = regex.find(shown, 0, shown.length);
    return found < 0 ? -1 : start + rawOffset(line, found);
  }
}

const shift = (start: number, offset: number): number => (offset < 0 ? -1 : start + offset);
