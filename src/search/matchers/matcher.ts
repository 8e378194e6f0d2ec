import { isAscii, isUtf8 } from "node:buffer";
import type { SearchKernel } from "../../text/prefilter/kernel.ts";
import { literalPrefilter, type Prefilter } from "../../text/prefilter/prefilter.ts";
import type { MatchVisitor } from "../../text/regex/each-match.ts";
import type { MatchSpan, Regex } from "../../text/regex/regex-runtime.ts";
import type { AnchoredSearch } from "./anchored-search.ts";
import { type CandidateReach, fromLineOn } from "./candidate-lines.ts";
import { rawOffset, rawOffsetsIn } from "./utf8.ts";

/** Matches paths and texts against a query. */
interface Matcher {
  matchesPath(path: string): boolean;
  /** The bytes that `prepare` writes after a text. */
  readonly slack: number;
  /**
   * Returns the offset of the first possible match at or after `from`, the start of a line, or -1. It may be
   * an offset past the end.
   */
  candidate(text: Buffer, from: number, length: number): number;
  /**
   * Calls `visit` with the start and the end of the first `limit` matches in `text[start, end)`, which do not
   * overlap. Offsets are relative to `start`. The text holds no NUL byte.
   */
  visitEach(text: Buffer, span: LineSpan, visit: MatchVisitor): void;
  /** Returns the number of these matches, or any number from `limit` on if there are more. */
  countEach(text: Buffer, span: LineSpan): number;
}

/** Matches a text line by line. */
export interface LineMatcher extends Matcher {
  /**
   * Starts on `text[0, length)`, and matches at most `maxLineBytes` of each line. A newline and the slack
   * follow the text.
   */
  prepare(text: Buffer, length: number, maxLineBytes: number): void;
  /**
   * Returns the offset of the first match in `text[start, end)`, the line of the last candidate without its
   * ending, or -1.
   */
  locate(text: Buffer, start: number, end: number): number;
}

/** Matches a text as a whole, across lines. */
export interface TextMatcher extends Matcher {
  readonly reach: CandidateReach;
  /** Whether a match may be empty. */
  readonly matchesEmpty: boolean;
  /** The search without the engine, for patterns that allow it. */
  readonly anchored?: AnchoredSearch | undefined;
  /** Starts to match in `text[0, length)`. A newline and the slack follow the text. */
  prepare(text: Buffer, length: number): void;
}

/** The part of a text to match, and the maximum number of matches. */
export interface LineSpan {
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** Matches a literal, which contains a newline only if matches may span lines. */
export class LiteralMatcher implements LineMatcher {
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #prefilter: Prefilter;
  readonly slack: number;

  /** If a `kernel` is given, texts have to be in its memory. */
  constructor(text: string, kernel: SearchKernel | undefined) {
    this.#text = text;
    this.#bytes = Buffer.from(text);
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

  /** The last candidate is the first in its line. If it ends after `end`, so does each later one. */
  locate(_text: Buffer, _start: number, end: number): number {
    return this.#prefilter.end <= end ? this.#prefilter.start : -1;
  }

  visitEach(text: Buffer, { start, end, limit }: LineSpan, visit: MatchVisitor): void {
    const [part, { length }] = [text.subarray(start, end), this.#bytes];
    let at = part.indexOf(this.#bytes);
    for (let count = 0; at >= 0 && count < limit; count++) {
      if (!visit(at, at + length)) return;
      at = part.indexOf(this.#bytes, at + length);
    }
  }

  countEach(text: Buffer, { start, end, limit }: LineSpan): number {
    const [part, { length }] = [text.subarray(start, end), this.#bytes];
    let at = part.indexOf(this.#bytes);
    let count = 0;
    for (; at >= 0 && count < limit; at = part.indexOf(this.#bytes, at + length)) count++;
    return count;
  }
}

/** Matches a literal across lines. */
export class LiteralTextMatcher extends LiteralMatcher implements TextMatcher {
  readonly reach: CandidateReach;
  readonly matchesEmpty = false;

  constructor(text: string, kernel: SearchKernel | undefined) {
    super(text, kernel);
    this.reach = text.includes("\n") ? fromLineOn : "line";
  }
}

/**
 * Returns the start of the first match in the line `text[from, to)`, or -1; `undefined` if the line is not
 * ASCII.
 */
export type AsciiLineMatcher = (text: Buffer, from: number, to: number) => number | undefined;

/** A compiled pattern, with the means to match it fast. */
interface PatternPlan {
  readonly regex: Regex;
  /** An equivalent pattern for ASCII text (`renderAsciiLines`, `renderAsciiText`). */
  readonly ascii: Regex | undefined;
  readonly prefilter: Prefilter | undefined;
}

/** A pattern that is matched line by line. It has no prefilter if the engine is faster than any. */
export interface LinePlan extends PatternPlan {
  /** Whether the pattern depends on the end of a line, which `ascii` does not see before a "\r\n". */
  readonly asksForEnd: boolean;
  /** The reverse DFA in the kernel, for lines of ASCII text. */
  readonly dfa: AsciiLineMatcher | undefined;
}

/** A pattern that is matched across lines. */
export interface TextPlan extends PatternPlan {
  readonly reach: CandidateReach;
  readonly matchesEmpty: boolean;
  readonly anchored: AnchoredSearch | undefined;
}

/** Matches a pattern in parts of a text. */
class PatternMatcher {
  readonly #plan: PatternPlan;
  protected readonly ascii = new AsciiCheck();

  constructor(plan: PatternPlan) {
    this.#plan = plan;
  }

  matchesPath(path: string): boolean {
    const bytes = Buffer.from(path);
    return this.#plan.regex.isMatch(bytes, 0, bytes.length);
  }

  visitEach(text: Buffer, { start, end, limit }: LineSpan, visit: MatchVisitor): void {
    const { regex, ascii = regex } = this.#plan;
    const span = { from: start, to: end, limit };
    if (this.ascii.isAsciiIn(text, start, end)) ascii.visitEach(text, span, visit);
    else visitDecoded(regex, text, span, visit);
  }

  countEach(text: Buffer, { start, end }: LineSpan): number {
    const { regex, ascii = regex } = this.#plan;
    if (this.ascii.isAsciiIn(text, start, end)) return ascii.countEach(text, start, end);
    const shown = decoded(text.subarray(start, end));
    return regex.countEach(shown, 0, shown.length);
  }
}

/**
 * Maximum bytes per call of the engine. It stops at the first match, and the next call starts after that
 * line.
 */
const chunkBytes = 16 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Matches a pattern line by line. The prefilter finds candidates; without one, the engine searches chunks of
 * ASCII text, and other text line by line. In a line of ASCII text the DFA locates the match if the pattern
 * has one, else the engine.
 */
export class RegexLineMatcher extends PatternMatcher implements LineMatcher {
  readonly slack: number;
  readonly #plan: LinePlan;
  #chunkBytes = 0;
  /** Whether the text holds a "\r", or `undefined` before that is needed. */
  #hasReturns: boolean | undefined;
  /** The offset before which each line is a candidate of its own. */
  #singleUntil = 0;
  /**
   * The start of the match in the line of the last candidate, if the engine has already found it; else -1.
   */
  #located = -1;

  constructor(plan: LinePlan) {
    super(plan);
    this.#plan = plan;
    this.slack = plan.prefilter?.slack ?? 0;
  }

  prepare(text: Buffer, length: number, maxLineBytes: number): void {
    this.#plan.prefilter?.prepare(text, length);
    this.#chunkBytes = Math.min(chunkBytes, maxLineBytes);
    this.ascii.prepare(length);
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

  /** Returns the next line that may match. Searches whole chunks if they match exactly as their lines do. */
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

  /**
   * Returns the end of the chunk that starts with the line at `start`: whole lines, without the last newline.
   */
  #chunkEnd(text: Buffer, start: number, length: number): number {
    const furthest = start + this.#chunkBytes;
    if (furthest >= length) return text[length - 1] === newline ? length - 1 : length;
    const last = text.lastIndexOf(newline, furthest);
    return last < start ? text.indexOf(newline, start) : last;
  }

  /** Returns whether the chunk is ASCII, its lines are not cut, and `ascii` sees the end of each. */
  #matchesAsLines(
    text: Buffer,
    { start, end, length }: { start: number; end: number; length: number },
  ): boolean {
    if (end - start > this.#chunkBytes) return false;
    if (!this.ascii.isAsciiIn(text, start, end)) return false;
    return !this.#plan.asksForEnd || !this.#hasReturn(text, length);
  }

  #locatedAt(text: Buffer, hit: number, length: number): number {
    // A match may include the "\r" of a line ending.
    if (!this.#hasReturn(text, length)) this.#located = hit;
    return hit;
  }

  #hasReturn(text: Buffer, length: number): boolean {
    this.#hasReturns ??= text.subarray(0, length).includes(carriageReturn);
    return this.#hasReturns;
  }

  /**
   * Finds the match in a line. A line that is not UTF-8 is decoded first, with U+FFFD for each invalid part.
   */
  #search(text: Buffer, start: number, end: number): number {
    const { regex, ascii = regex, dfa } = this.#plan;
    const found = dfa?.(text, start, end);
    if (found !== undefined) return found;
    if (this.ascii.isAsciiIn(text, start, end)) return shift(start, ascii.find(text, start, end));
    const line = text.subarray(start, end);
    if (isUtf8(line)) return shift(start, regex.find(text, start, end));
    const decoded = Buffer.from(line.toString());
    const offset = regex.find(decoded, 0, decoded.length);
    return offset < 0 ? -1 : start + rawOffset(line, offset);
  }
}

/** Matches a pattern across lines. The prefilter spares the engine the parts without candidates. */
export class RegexTextMatcher extends PatternMatcher implements TextMatcher {
  readonly slack: number;
  readonly reach: CandidateReach;
  readonly matchesEmpty: boolean;
  readonly anchored: AnchoredSearch | undefined;
  readonly #prefilter: Prefilter | undefined;

  constructor(plan: TextPlan) {
    super(plan);
    const { prefilter, reach, matchesEmpty, anchored } = plan;
    this.slack = Math.max(prefilter?.slack ?? 0, anchored?.slack ?? 0);
    this.reach = reach;
    this.matchesEmpty = matchesEmpty;
    this.anchored = anchored;
    this.#prefilter = prefilter;
  }

  prepare(text: Buffer, length: number): void {
    this.#prefilter?.prepare(text, length);
    this.ascii.prepare(length);
  }

  candidate(text: Buffer, from: number, length: number): number {
    return this.#prefilter === undefined ? from : this.#prefilter.next(text, from, length);
  }
}

/**
 * Visits the matches in a part of a text, which is decoded first if it is not UTF-8. Offsets refer to the raw
 * text.
 */
export function visitDecoded(regex: Regex, text: Buffer, span: MatchSpan, visit: MatchVisitor): void {
  const part = text.subarray(span.from, span.to);
  const shown = decoded(part);
  const rawOffsetOf = shown === part ? (offset: number) => offset : rawOffsetsIn(part);
  regex.visitEach(shown, { from: 0, to: shown.length, limit: span.limit }, (start, end) =>
    visit(rawOffsetOf(start), rawOffsetOf(end)),
  );
}

/** Returns the text in UTF-8, with U+FFFD for each invalid part. */
const decoded = (text: Buffer): Buffer => (isUtf8(text) ? text : Buffer.from(text.toString()));

const shift = (start: number, offset: number): number => (offset < 0 ? -1 : start + offset);

/** Tests parts of one text. The whole is tested once, because texts are usually ASCII throughout. */
class AsciiCheck {
  #length = 0;
  /** Whether the whole text is ASCII, or `undefined` before that is needed. */
  #isWhole: boolean | undefined;

  /** Starts a check of the text `text[0, length)`. */
  prepare(length: number): void {
    this.#length = length;
    this.#isWhole = undefined;
  }

  isAsciiIn(text: Buffer, start: number, end: number): boolean {
    this.#isWhole ??= isAscii(text.subarray(0, this.#length));
    return this.#isWhole || isAscii(text.subarray(start, end));
  }
}
