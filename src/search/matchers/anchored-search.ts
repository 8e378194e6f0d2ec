/**
 * The search without the engine for patterns whose matches start with a literal: the kernel finds each start, and by a
 * forward DFA the end.
 */
import { isAscii } from "node:buffer";
import type { AnchoredPattern, SearchKernel } from "../../prefilter/kernel.ts";
import type { PrefixPrefilter } from "../../prefilter/prefilter.ts";

/** A pattern, and a prefilter for texts in which it does not match. */
type PrefilteredPattern = AnchoredPattern & PrefixPrefilter;

/**
 * How much the DFA may read beside matches, as from each start it could read to the end of the text: this many times the length
 * of one text, and this share of all texts that hold candidates.
 */
const maxReadsInText = 1;
const maxShareOfReads = 0.25;

/** Bytes that the DFA may read in any case. */
const freeReads = 64 * 1024;

/** Finds one match after the other in one text at a time. */
export class AnchoredSearch {
  readonly slack: number;
  /** End of the last match. */
  end = -1;
  readonly #kernel: SearchKernel;
  readonly #pattern: PrefilteredPattern;
  #length = 0;
  #budget = 0;
  #isStarted = false;
  /** Bytes that the DFA has read beside matches, and those of texts with candidates; of all texts. */
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
   * Start of the first match in the text from `from` on, or -1; undefined when the engine has to go on: the text is not
   * ASCII, or holds a NUL byte, or the DFA has read so much that the engine is faster, which reads a text once.
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
