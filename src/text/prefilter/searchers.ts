/** The kinds of searchers that make up a prefilter. */
import { isAscii } from "node:buffer";
import { packedPair } from "./byte-frequency.ts";
import type { LiteralSeq } from "./inner-literals.ts";
import type { FoldedString, SearchKernel } from "./kernel.ts";
import type { TeddyMasks } from "./teddy.ts";

/** Finds one candidate after the other. */
export interface PrefilterSearcher {
  /** Bytes placed after each text to end its searches; empty if not needed. */
  readonly sentinel: Buffer;
  /** Whether it finds nothing in an ASCII text. */
  readonly isNonAscii: boolean;
  /** Prepares for a text. Called once before `find`. */
  prepare?(text: Buffer, length: number): void;
  /** Returns the start of the first candidate in `text[from, length)`, or -1. */
  find(text: Buffer, from: number, length: number): number;
  /** The end of the last candidate. */
  readonly end: number;
}

/**
 * The rejected occurrences after which a literal is searched for as a whole. Each takes as long as `indexOf`
 * takes for hundreds of bytes.
 */
const maxRejected = 64;

/** Searches for one string of a sequence with `indexOf`, then verifies the literals around it. */
export class MemmemSearcher implements PrefilterSearcher {
  /**
   * The string from its rarest byte on. `indexOf` takes no end, so without it a search would go through the
   * rest of the buffer.
   */
  readonly sentinel: Buffer;
  readonly isNonAscii: boolean;
  end = -1;
  readonly #before: LiteralSeq;
  readonly #after: LiteralSeq;
  /** The literal, and its bytes before `sentinel`; `undefined` if the sequence matches several. */
  readonly #whole: { readonly text: Buffer; readonly before: number } | undefined;

  /**
   * Searches for `string`, which has one character per byte. `before` and `after` are the literals around it,
   * in order.
   */
  constructor(string: string, before: LiteralSeq, after: LiteralSeq) {
    const bytes = Buffer.from(string, "latin1");
    const [rarest] = packedPair(bytes);
    this.sentinel = bytes.subarray(rarest);
    this.isNonAscii = !isAscii(bytes);
    this.#before = [...before, ...(rarest > 0 ? [[string.slice(0, rarest)]] : [])].reverse();
    this.#after = after;
    const all = [...before, [string], ...after];
    const whole = all.every(({ length }) => length === 1) ? all.flat().join("") : undefined;
    const beforeString = before.flat().join("").length;
    this.#whole =
      whole === undefined ? undefined : { text: Buffer.from(whole, "latin1"), before: beforeString + rarest };
  }

  find(text: Buffer, from: number, length: number): number {
    const string = this.sentinel;
    let rejected = 0;
    for (
      let at = text.indexOf(string, from);
      at + string.length <= length;
      at = text.indexOf(string, at + 1)
    ) {
      const start = matchBackward(this.#before, text, { at, from });
      this.end = start < 0 ? -1 : matchForward(this.#after, text, { at: at + string.length, length });
      if (this.end >= 0) return start;
      if (++rejected === maxRejected && this.#whole !== undefined)
        return this.#findWhole(text.subarray(0, length), Math.max(from, at + 1 - this.#whole.before));
    }
    return -1;
  }

  #findWhole(text: Buffer, from: number): number {
    const whole = this.#whole!.text;
    const start = text.indexOf(whole, from);
    this.end = start + whole.length;
    return start;
  }
}

/** Searches for an ASCII string with the kernel, folding the case of letters. */
export class CaseFoldSearcher implements PrefilterSearcher {
  readonly sentinel = Buffer.alloc(0);
  readonly isNonAscii = false;
  end = -1;
  readonly #kernel: SearchKernel;
  readonly #string: FoldedString;

  constructor(kernel: SearchKernel, string: FoldedString) {
    this.#kernel = kernel;
    this.#string = string;
  }

  find(text: Buffer, from: number, length: number): number {
    const start = this.#kernel.memmem(text, this.#string, from, length);
    this.end = start + this.#string.bytes.length;
    return start;
  }
}

/** Searches for sequences of byte classes with the kernel, all at once. */
export class TeddySearcher implements PrefilterSearcher {
  readonly sentinel = Buffer.alloc(0);
  readonly isNonAscii = false;
  end = -1;
  readonly #kernel: SearchKernel;
  readonly #masks: TeddyMasks;
  #hasNonAscii = true;

  constructor(kernel: SearchKernel, masks: TeddyMasks) {
    this.#kernel = kernel;
    this.#masks = masks;
  }

  prepare(text: Buffer, length: number): void {
    this.#hasNonAscii = this.#masks.hasNonAscii && !isAscii(text.subarray(0, length));
  }

  find(text: Buffer, from: number, length: number): number {
    const start = this.#kernel.teddy(text, this.#masks, { from, to: length, hasNonAscii: this.#hasNonAscii });
    this.end = start + this.#masks.minLength;
    return start;
  }
}

/** Returns the start of the literals that end at `at`, checking the nearest first, or -1. */
function matchBackward(before: LiteralSeq, text: Buffer, { at, from }: { at: number; from: number }): number {
  let start = at;
  for (const literals of before) {
    const found = literals.find(
      (string) => start - string.length >= from && equalsAt(text, start - string.length, string),
    );
    if (found === undefined) return -1;
    start -= found.length;
  }
  return start;
}

/** Returns the end of the literals that start at `at`, or -1. */
function matchForward(
  after: LiteralSeq,
  text: Buffer,
  { at, length }: { at: number; length: number },
): number {
  let end = at;
  for (const literals of after) {
    const found = literals.find((string) => end + string.length <= length && equalsAt(text, end, string));
    if (found === undefined) return -1;
    end += found.length;
  }
  return end;
}

function equalsAt(text: Buffer, at: number, string: string): boolean {
  for (let i = 0; i < string.length; i++) if (text[at + i] !== string.charCodeAt(i)) return false;
  return true;
}
