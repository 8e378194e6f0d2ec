/** Ways to find where a sequence of strings stands. */
import { isAscii } from "node:buffer";
import { packedPair } from "./byte-frequency.ts";
import type { LiteralSeq } from "./inner-literals.ts";
import type { FoldedString, SearchKernel } from "./kernel.ts";
import type { TeddyMasks } from "./teddy.ts";

/** Finds one place after the other. */
export interface PrefilterSearcher {
  /** What ends its searches, to stand behind each text; empty when it needs nothing. */
  readonly sentinel: Buffer;
  /** What it looks for stands in no text that is ASCII. */
  readonly isNonAscii: boolean;
  /** Told of each text before it is asked about it. */
  begin?(text: Buffer, length: number): void;
  /** Start of the first place in `text[from, length)`, or -1. */
  find(text: Buffer, from: number, length: number): number;
  /** End of the place that was found last. */
  readonly end: number;
}

/** Looks for one string of a sequence, and then at what stands around it. */
export class MemmemSearcher implements PrefilterSearcher {
  /** The string from its rarest byte on. `indexOf` takes no end: it would go on to the buffer's. */
  readonly sentinel: Buffer;
  readonly isNonAscii: boolean;
  end = -1;
  readonly #before: LiteralSeq;
  readonly #after: LiteralSeq;

  /** `string` has one character per byte; `before` and `after` are the elements around it, in their order. */
  constructor(string: string, before: LiteralSeq, after: LiteralSeq) {
    const bytes = Buffer.from(string, "latin1");
    const [rarest] = packedPair(bytes);
    this.sentinel = bytes.subarray(rarest);
    this.isNonAscii = !isAscii(bytes);
    this.#before = [...before, ...(rarest > 0 ? [[string.slice(0, rarest)]] : [])].reverse();
    this.#after = after;
  }

  find(text: Buffer, from: number, length: number): number {
    const string = this.sentinel;
    for (
      let at = text.indexOf(string, from);
      at + string.length <= length;
      at = text.indexOf(string, at + 1)
    ) {
      const start = startOf(this.#before, text, { at, from });
      if (start < 0) continue;
      this.end = endOf(this.#after, text, { at: at + string.length, length });
      if (this.end >= 0) return start;
    }
    return -1;
  }
}

/** Looks for a sequence of ASCII characters, in any case where that does not matter, all at once. */
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
    const start = this.#kernel.find(text, this.#string, from, length);
    this.end = start + this.#string.bytes.length;
    return start;
  }
}

/** Looks for forms, all at once. Where one stands there may be a match. */
export class TeddySearcher implements PrefilterSearcher {
  readonly sentinel = Buffer.alloc(0);
  readonly isNonAscii = false;
  end = -1;
  readonly #kernel: SearchKernel;
  readonly #shape: TeddyMasks;
  #isOpen = true;

  constructor(kernel: SearchKernel, shape: TeddyMasks) {
    this.#kernel = kernel;
    this.#shape = shape;
  }

  begin(text: Buffer, length: number): void {
    this.#isOpen = this.#shape.isOpen && !isAscii(text.subarray(0, length));
  }

  find(text: Buffer, from: number, length: number): number {
    const start = this.#kernel.seek(text, this.#shape, { from, to: length, isOpen: this.#isOpen });
    this.end = start + this.#shape.length;
    return start;
  }
}

/** Start of the elements that end at `at`, the nearest first, or -1. */
function startOf(before: LiteralSeq, text: Buffer, { at, from }: { at: number; from: number }): number {
  let start = at;
  for (const element of before) {
    const found = element.find(
      (string) => start - string.length >= from && standsAt(text, start - string.length, string),
    );
    if (found === undefined) return -1;
    start -= found.length;
  }
  return start;
}

/** End of the elements that start at `at`, or -1. */
function endOf(after: LiteralSeq, text: Buffer, { at, length }: { at: number; length: number }): number {
  let end = at;
  for (const element of after) {
    const found = element.find((string) => end + string.length <= length && standsAt(text, end, string));
    if (found === undefined) return -1;
    end += found.length;
  }
  return end;
}

function standsAt(text: Buffer, at: number, string: string): boolean {
  for (let i = 0; i < string.length; i++) if (text[at + i] !== string.charCodeAt(i)) return false;
  return true;
}
