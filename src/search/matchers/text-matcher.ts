import type { SearchKernel } from "../../prefilter/kernel.ts";
import { literalPrefilter, type Prefilter } from "../../prefilter/prefilter.ts";
import type { MatchVisitor } from "../../regex/each-match.ts";
import type { Regex } from "../../regex/regex-runtime.ts";
import type { AnchoredSearch } from "./anchored-search.ts";
import { type CandidateReach, fromLineOn } from "./candidate-lines.ts";
import {
  AsciiCheck,
  countDecoded,
  countLiterals,
  type LineSpan,
  visitDecoded,
  visitLiterals,
} from "./line-matcher.ts";

/** Matches whole texts, over lines, and paths against a query. */
export interface TextMatcher {
  /** Whether `path` matches. */
  matchesPath(path: string): boolean;
  /** Bytes that `prepare` writes after a text. */
  readonly slack: number;
  readonly reach: CandidateReach;
  /** A match may be empty. */
  readonly matchesEmpty: boolean;
  /** The search without the engine, for patterns that have one. */
  readonly anchored?: AnchoredSearch | undefined;
  /** Starts on `text[0, length)`. A newline and the slack follow the text. */
  prepare(text: Buffer, length: number): void;
  /** Offset of the first candidate at or after `from`, the start of a line; -1 when nothing there matches. */
  candidate(text: Buffer, from: number, length: number): number;
  /**
   * Calls `visit` with the start and the end of the first `limit` matches in `text[start, end)`, which do not overlap,
   * counted from `start`. The text holds no NUL byte.
   */
  visitEach(text: Buffer, span: LineSpan, visit: MatchVisitor): void;
  /** How many there are. */
  countEach(text: Buffer, start: number, end: number): number;
}

const newline = "\n";

/** Matches a literal, which may hold newlines. */
export class LiteralTextMatcher implements TextMatcher {
  readonly slack: number;
  readonly reach: CandidateReach;
  readonly matchesEmpty = false;
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #prefilter: Prefilter;

  /** With a `kernel`, texts have to lie in its memory. */
  constructor(text: string, kernel: SearchKernel | undefined) {
    this.#text = text;
    this.#bytes = Buffer.from(text);
    this.#prefilter = literalPrefilter(text, kernel);
    this.slack = this.#prefilter.slack;
    this.reach = text.includes(newline) ? fromLineOn : "line";
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

  visitEach(text: Buffer, { start, end, limit }: LineSpan, visit: MatchVisitor): void {
    visitLiterals(text.subarray(start, end), this.#bytes, { limit, visit });
  }

  countEach(text: Buffer, start: number, end: number): number {
    return countLiterals(text.subarray(start, end), this.#bytes);
  }
}

/** A compiled pattern, and what makes it fast. */
export interface TextPlan {
  readonly regex: Regex;
  /** The same on ASCII text (`renderAsciiText`). */
  readonly ascii: Regex | undefined;
  readonly prefilter: Prefilter | undefined;
  readonly reach: CandidateReach;
  readonly matchesEmpty: boolean;
  readonly anchored: AnchoredSearch | undefined;
}

/** Matches a pattern: the prefilter spares the engine what holds no candidate. */
export class RegexTextMatcher implements TextMatcher {
  readonly slack: number;
  readonly reach: CandidateReach;
  readonly matchesEmpty: boolean;
  readonly anchored: AnchoredSearch | undefined;
  readonly #plan: TextPlan;
  readonly #ascii = new AsciiCheck();

  constructor(plan: TextPlan) {
    this.#plan = plan;
    this.slack = Math.max(plan.prefilter?.slack ?? 0, plan.anchored?.slack ?? 0);
    this.reach = plan.reach;
    this.matchesEmpty = plan.matchesEmpty;
    this.anchored = plan.anchored;
  }

  matchesPath(path: string): boolean {
    const bytes = Buffer.from(path);
    return this.#plan.regex.isMatch(bytes, 0, bytes.length);
  }

  prepare(text: Buffer, length: number): void {
    this.#plan.prefilter?.prepare(text, length);
    this.#ascii.prepare(length);
  }

  candidate(text: Buffer, from: number, length: number): number {
    const { prefilter } = this.#plan;
    return prefilter === undefined ? from : prefilter.next(text, from, length);
  }

  visitEach(text: Buffer, { start, end, limit }: LineSpan, visit: MatchVisitor): void {
    const { regex, ascii = regex } = this.#plan;
    const span = { from: start, to: end, limit };
    if (this.#ascii.isAsciiIn(text, start, end)) ascii.visitEach(text, span, visit);
    else visitDecoded(regex, text, span, visit);
  }

  countEach(text: Buffer, start: number, end: number): number {
    const { regex, ascii = regex } = this.#plan;
    if (this.#ascii.isAsciiIn(text, start, end)) return ascii.countEach(text, start, end);
    return countDecoded(regex, text.subarray(start, end));
  }
}
