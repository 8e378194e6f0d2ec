/** Loads the routines in WebAssembly. They reach only their own memory, so the searched texts lie in it. */

import { assemble } from "../../base/wasm/assembly.ts";
import { compileModule, instantiate } from "../../base/wasm/module.ts";
import type { ForwardDfa } from "./forward-dfa.ts";
import { layout } from "./layout.ts";
import type { FindLineBounds } from "./line-bounds.ts";
import type { LineDfa } from "./line-dfa.ts";
import { searchRoutines } from "./routines.ts";
import type { TeddyMasks } from "./teddy.ts";

/** An ASCII string. A letter that may have either case has a fold of 0x20, and a byte with that bit. */
export interface FoldedString {
  readonly bytes: Uint8Array;
  readonly folds: Uint8Array;
  /** Whether no byte has a fold. */
  readonly isExact: boolean;
  /** Positions of the packed pair, the two rarest bytes. The kernel compares the rest only if both match. */
  readonly pair: readonly [number, number];
}

/** A part of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** False if the sequences or the text are pure ASCII. */
  readonly hasNonAscii: boolean;
}

/** Searches a text, which must be in the buffer that `reserve` last returned. */
export interface SearchKernel {
  /** Grows the text buffer to at least `bytes`. It keeps its content; earlier views of it are detached. */
  readonly reserve: (bytes: number) => Buffer;
  /** Returns the start of the first `string` in `text[from, to)`, or -1. */
  memmem(text: Buffer, string: FoldedString, from: number, to: number): number;
  /** Returns the first offset in the span where one of the sequences of `masks` may occur, or -1. */
  teddy(text: Buffer, masks: TeddyMasks, span: Span): number;
  /**
   * Returns the start in `text` of the DFA's first match in the line `text[from, to)`, or -1; `undefined` if
   * the line is not ASCII.
   */
  matchLine(text: Buffer, dfa: LineDfa, from: number, to: number): number | undefined;
  /**
   * Searches for a match of a pattern that starts with a string. The text up to the end of the span must be
   * ASCII.
   */
  searchForward(text: Buffer, pattern: AnchoredPattern, span: ForwardSpan): ForwardMatch;
  readonly lineBounds: FindLineBounds;
}

/** A pattern whose matches start with a string. */
export interface AnchoredPattern {
  readonly string: FoldedString;
  readonly dfa: ForwardDfa;
}

/**
 * The offsets where a match may start, and the bytes that the DFA may read after failed starts and after
 * matches.
 */
export interface ForwardSpan {
  readonly from: number;
  readonly to: number;
  readonly budget: number;
}

/** The result of `searchForward`. The next call overwrites it. */
export interface ForwardMatch {
  /** The start of the match; -1 without a match; `undefined` if the budget is spent. */
  readonly start: number | undefined;
  readonly end: number;
  /** The remaining budget, in bytes. */
  readonly budget: number;
}

/** Maximum bytes of a folded string. */
export const maxFoldedLength = layout.maxStringLength;

const pageBytes = 65_536;
/** The offset of the text; the first pages hold the tables. */
const textStart = layout.text;
/** Bytes past the end of a text that the routines load and ignore. */
const overread = maxFoldedLength + 64;

/** A routine; its docstring names the operands. */
type Call = (...operands: readonly number[]) => number;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  memmem_exact: Call;
  memmem_folded: Call;
  teddy_byte: Call;
  teddy_range: Call;
  teddy_nibbles: Call;
  line_bounds: Call;
  match_line: Call;
  forward_exact: Call;
  forward_folded: Call;
}

/** Creates a kernel. Returns `undefined` if the machine has no SIMD in WebAssembly. */
export function createSearchKernel(): SearchKernel | undefined {
  try {
    return new SimdKernel(instantiate(compileModule(assemble(searchRoutines(), 3)), {}) as Exports);
  } catch {
    return undefined;
  }
}

class SimdKernel implements SearchKernel {
  readonly #exports: Exports;
  #text: Buffer;
  /** A view of the pages with the tables. */
  #tables: Buffer;
  /** The results of `line_bounds`, followed by those of `forward_exact` and `forward_folded`. */
  #numbers: Int32Array;
  #string: FoldedString | undefined;
  #masks: TeddyMasks | undefined;
  #dfa: LineDfa | undefined;
  #forwardDfa: ForwardDfa | undefined;
  readonly #forwardMatch = { start: -1 as number | undefined, end: -1, budget: 0 };

  constructor(exports: Exports) {
    this.#exports = exports;
    [this.#text, this.#tables, this.#numbers] = this.#view(0);
  }

  // This is a property, so that callers can pass it on without the kernel.
  readonly reserve = (bytes: number): Buffer => {
    const { memory } = this.#exports;
    const missing = textStart + bytes + overread - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    [this.#text, this.#tables, this.#numbers] = this.#view(bytes);
    return this.#text;
  };

  #view(bytes: number): [text: Buffer, page: Buffer, line: Int32Array] {
    const { buffer } = this.#exports.memory;
    const text = Buffer.from(buffer, textStart, bytes);
    return [text, Buffer.from(buffer, 0, textStart), new Int32Array(buffer, layout.lineBounds, 6)];
  }

  memmem(text: Buffer, string: FoldedString, from: number, to: number): number {
    this.#requireOwn(text);
    this.#load(string);
    const memmem = string.isExact ? this.#exports.memmem_exact : this.#exports.memmem_folded;
    const [first, second] = string.pair;
    return offsetOf(memmem(textStart + from, textStart + to, string.bytes.length, first, second));
  }

  #load(string: FoldedString): void {
    if (this.#string === string) return;
    this.#tables.set(string.bytes, layout.string);
    this.#tables.set(string.folds, layout.string + layout.maxStringLength);
    this.#string = string;
  }

  teddy(text: Buffer, masks: TeddyMasks, { from, to, hasNonAscii }: Span): number {
    this.#requireOwn(text);
    if (this.#masks !== masks) {
      this.#tables.set(masks.buckets, layout.buckets);
      this.#tables.set(masks.vectors, layout.vectors);
      this.#masks = masks;
    }
    const { minLength, maxLength } = masks;
    const teddy = this.#exports[`teddy_${masks.fingerprint}`];
    const [first, second] = masks.pair;
    return offsetOf(
      teddy(textStart + from, textStart + to, minLength, maxLength, first, second, hasNonAscii ? 1 : 0),
    );
  }

  matchLine(text: Buffer, dfa: LineDfa, from: number, to: number): number | undefined {
    this.#requireOwn(text);
    if (this.#dfa !== dfa) {
      this.#tables.set(dfa.classes, layout.classes);
      this.#tables.set(bytesOf(dfa.transitions), layout.transitions);
      this.#dfa = dfa;
    }
    const { minMatch, startColumn } = dfa;
    const found = this.#exports.match_line(textStart + from, textStart + to, minMatch, startColumn);
    return found === notAscii ? undefined : offsetOf(found);
  }

  searchForward(text: Buffer, { string, dfa }: AnchoredPattern, span: ForwardSpan): ForwardMatch {
    this.#requireOwn(text);
    this.#load(string);
    if (this.#forwardDfa !== dfa) {
      this.#tables.set(dfa.classes, layout.forwardClasses);
      this.#tables.set(bytesOf(dfa.transitions), layout.forwardTransitions);
      this.#forwardDfa = dfa;
    }
    const search = string.isExact ? this.#exports.forward_exact : this.#exports.forward_folded;
    const { minMatch, minDead, width } = dfa;
    const found = search(
      ...[textStart + span.from, textStart + span.to, string.bytes.length, ...string.pair],
      ...[span.budget, minMatch, minDead, minDead + width, width - 1],
    );
    const match = this.#forwardMatch;
    match.start = found === overBudget ? undefined : offsetOf(found);
    match.end = this.#numbers[4]! - textStart;
    match.budget = this.#numbers[5]!;
    return match;
  }

  readonly lineBounds: FindLineBounds = (text, hit, { from, counted }, line) => {
    this.#requireOwn(text);
    this.#exports.line_bounds(textStart + from, textStart + hit, textStart + counted);
    line.start = this.#numbers[0]! - textStart;
    line.next = this.#numbers[1]! - textStart;
    line.newlines = this.#numbers[2]!;
  };

  #requireOwn(text: Buffer): void {
    if (text !== this.#text) throw new Error("the text is not the one in the memory of the kernel");
  }
}

/** The result of `match_line` for a line that is not ASCII. */
const notAscii = -2;
/** The result of `forward_exact` and `forward_folded` when the budget is spent. */
const overBudget = -2;

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const offsetOf = (address: number): number => (address < 0 ? -1 : address - textStart);
