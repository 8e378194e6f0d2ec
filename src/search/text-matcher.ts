import { isAscii } from "node:buffer";
import type { SearchKernel } from "../prefilter/kernel.ts";
import { literalPrefilter, type Prefilter } from "../prefilter/prefilter.ts";
import type { Regex } from "../regex/regex-runtime.ts";
import { findEach, literalOffsets } from "./line-matcher.ts";

/** Matches whole texts, over lines, and paths against a query. */
export interface TextMatcher {
  /** Whether `path` matches. */
  matchesPath(path: string): boolean;
  /** Bytes that `mayMatch` writes after a text. */
  readonly slack: number;
  /** False where `text[0, length)` cannot match. A newline and the slack follow the text. */
  mayMatch(text: Buffer, length: number): boolean;
  /** Start and end of the first `limit` matches, which do not overlap. The text holds no NUL byte. */
  findEach(text: Buffer, limit: number): number[];
}

/** Matches a literal, which may hold newlines. */
export class LiteralTextMatcher implements TextMatcher {
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

  mayMatch(text: Buffer, length: number): boolean {
    this.#prefilter.prepare(text, length);
    return this.#prefilter.next(text, 0, length) >= 0;
  }

  findEach(text: Buffer, limit: number): number[] {
    return literalOffsets(text, this.#text, limit);
  }
}

/** A compiled pattern, and what makes it fast. */
export interface TextPlan {
  readonly regex: Regex;
  /** The same on ASCII text (`renderAsciiText`). */
  readonly ascii: Regex | undefined;
  readonly prefilter: Prefilter | undefined;
}

/** Matches a pattern: the prefilter spares the engine the texts that hold no candidate. */
export class RegexTextMatcher implements TextMatcher {
  readonly slack: number;
  readonly #plan: TextPlan;

  constructor(plan: TextPlan) {
    this.#plan = plan;
    this.slack = plan.prefilter?.slack ?? 0;
  }

  matchesPath(path: string): boolean {
    const bytes = Buffer.from(path);
    return this.#plan.regex.isMatch(bytes, 0, bytes.length);
  }

  mayMatch(text: Buffer, length: number): boolean {
    const { prefilter } = this.#plan;
    prefilter?.prepare(text, length);
    return prefilter === undefined || prefilter.next(text, 0, length) >= 0;
  }

  findEach(text: Buffer, limit: number): number[] {
    const { regex, ascii } = this.#plan;
    if (ascii === undefined || !isAscii(text)) return findEach(regex, text, limit);
    // Objects are made only where there is a match.
    return ascii.isMatch(text, 0, text.length) ? findEach(ascii, text, limit) : [];
  }
}
