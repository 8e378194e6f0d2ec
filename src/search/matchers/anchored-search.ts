/**
 * The search without the engine for patterns whose matches start with a literal: the kernel finds each start,
 * and a forward DFA the end.
 */
import { isAscii } from "node:buffer";
import type { AnchoredPattern, SearchKernel } from "../../text/prefilter/kernel.ts";
import type { PrefixPrefilter } from "../../text/prefilter/prefilter.ts";

/** A pattern, and a prefilter for texts without a match. */
type PrefilteredPattern = AnchoredPattern & PrefixPrefilter;

/**
 * Maximum bytes that the DFA may read besides matches, as a multiple of the length of one text and as a share
 * of all texts with candidates. From each start it could read to the end of the text.
 */
const maxReadsInText = 1;
const maxShareOfReads = 0.25;

/** The bytes that the DFA may read in any case. */
const freeReads = 64 * 1024;

/** Finds the matches in one text at a time, one after the other. */
export class AnchoredSearch {
  readonly slack: number;
  /** The end of the last match. */
  end = -1;
  readonly #kernel: SearchKernel;
  readonly #pattern: PrefilteredPattern;
  #length = 0;
  #budget = 0;
  #isStarted = false;
  /**
   * The bytes that the DFA has read besides matches, and the bytes of texts with candidates, in all texts.
   */
  #reads = 0;
  #bytes = 0;

  constructor(kernel: SearchKernel, pattern: PrefilteredPattern) {
    this.#kernel = kernel;
    this.#pattern = pattern;
    this.slack = pattern.prefilter.slack;
  }

  /** Starts on `text[0, length)`. A newline and the slack follow the text. */
  prepare(text: Buffer, length: number): void {
    this.#pattern.prefilter.prepare(text, length);
    this.#length = length;
    this.#budget = maxReadsInText * length;
    this.#isStarted = false;
  }

  /**
   * Returns the start of the first match at or after `from`, or -1. Returns `undefined` if the engine has to
   * take over: because the text is not ASCII or holds a NUL byte, or because the DFA has read so much that
   * the engine, which reads a text once, is faster.
   */
  next(text: Buffer, from: number): number | undefined {
    if (this.#isStarted) return this.#search(text, from);
    const { prefilter, findsStarts } = this.#pattern;
    const candidate = prefilter.next(text, from, this.#length);
    if (candidate < 0) return -1;
    this.#bytes += this.#length;
    if (this.#reads > freeReads + this.#bytes * maxShareOfReads) return undefined;
    if (!isPlain(text.subarray(0, this.#length))) return undefined;
    this.#isStarted = true;
    return this.#search(text, findsStarts ? candidate : from);
  }

  #search(text: Buffer, from: number): number | undefined {
    const span = { from, to: this.#length, budget: this.#budget };
    const { start, end, budget } = this.#kernel.searchForward(text, this.#pattern, span);
    this.end = end;
    this.#reads += this.#budget - budget;
    this.#budget = budget;
    return start;
  }
}

const isPlain = (text: Buffer): boolean => isAscii(text) && !text.includes(0);
