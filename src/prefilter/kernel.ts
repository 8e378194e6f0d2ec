/** Loads the routines in WebAssembly. They reach only their own memory, so the texts to search lie in it. */

import { assemble } from "../wasm/assembly.ts";
import { compileModule, instantiate } from "../wasm/module.ts";
import { layout } from "./layout.ts";
import type { FindLineBounds } from "./line-bounds.ts";
import type { LineDfa } from "./line-dfa.ts";
import { searchRoutines } from "./routines.ts";
import type { TeddyMasks } from "./teddy.ts";

/** An ASCII string. A letter of any case has a fold of 0x20 and a byte with that bit. */
export interface FoldedString {
  readonly bytes: Uint8Array;
  readonly folds: Uint8Array;
  /** It has no fold. */
  readonly isExact: boolean;
  /** Positions of the packed pair, the two rarest bytes: the kernel compares the rest where both match. */
  readonly pair: readonly [number, number];
}

/** A part of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** False where the sequences or the text are ASCII alone. */
  readonly hasNonAscii: boolean;
}

/** Searches a text, which is always the buffer that `reserve` returned last. */
export interface SearchKernel {
  /** Grows the buffer of texts to at least `bytes`. It keeps its content; earlier views of it are detached. */
  readonly reserve: (bytes: number) => Buffer;
  /** Start of the first `string` in `text[from, to)`, or -1. */
  memmem(text: Buffer, string: FoldedString, from: number, to: number): number;
  /** First offset in the span where one of the sequences of `masks` may occur, or -1. */
  teddy(text: Buffer, masks: TeddyMasks, span: Span): number;
  /**
   * Start in `text` of the first match of the DFA's pattern in the line `text[from, to)`, or -1; undefined when the line
   * is not ASCII.
   */
  matchLine(text: Buffer, dfa: LineDfa, from: number, to: number): number | undefined;
  readonly lineBounds: FindLineBounds;
}

/** Bytes of the longest folded string. */
export const maxFoldedLength = layout.maxStringLength;

const pageBytes = 65_536;
/** The first page holds the tables, the others hold the text. */
const textStart = pageBytes;
/** Bytes that the routines load after the end of a text, and ignore. */
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
}

/** Creates a kernel; undefined where the machine has no SIMD in WebAssembly. */
export function createSearchKernel(): SearchKernel | undefined {
  try {
    return new SimdKernel(instantiate(compileModule(assemble(searchRoutines(), 2)), {}) as Exports);
  } catch {
    return undefined;
  }
}

class SimdKernel implements SearchKernel {
  readonly #exports: Exports;
  #text: Buffer;
  /** The first page. */
  #tables: Buffer;
  /** The result of `line_bounds`. */
  #bounds: Int32Array;
  #string: FoldedString | undefined;
  #masks: TeddyMasks | undefined;
  #dfa: LineDfa | undefined;

  constructor(exports: Exports) {
    this.#exports = exports;
    [this.#text, this.#tables, this.#bounds] = this.#view(0);
  }

  // A property, so that callers can pass it on without the kernel.
  readonly reserve = (bytes: number): Buffer => {
    const { memory } = this.#exports;
    const missing = textStart + bytes + overread - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    [this.#text, this.#tables, this.#bounds] = this.#view(bytes);
    return this.#text;
  };

  #view(bytes: number): [text: Buffer, page: Buffer, line: Int32Array] {
    const { buffer } = this.#exports.memory;
    const text = Buffer.from(buffer, textStart, bytes);
    return [text, Buffer.from(buffer, 0, textStart), new Int32Array(buffer, layout.lineBounds, 3)];
  }

  memmem(text: Buffer, string: FoldedString, from: number, to: number): number {
    this.#requireOwn(text);
    if (this.#string !== string) {
      this.#tables.set(string.bytes, layout.string);
      this.#tables.set(string.folds, layout.string + layout.maxStringLength);
      this.#string = string;
    }
    const memmem = string.isExact ? this.#exports.memmem_exact : this.#exports.memmem_folded;
    const [first, second] = string.pair;
    return offsetOf(memmem(textStart + from, textStart + to, string.bytes.length, first, second));
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
      const { classes, transitions } = dfa;
      this.#tables.set(classes, layout.classes);
      this.#tables.set(
        new Uint8Array(transitions.buffer, transitions.byteOffset, transitions.byteLength),
        layout.transitions,
      );
      this.#dfa = dfa;
    }
    const { minMatch, startColumn } = dfa;
    const found = this.#exports.match_line(textStart + from, textStart + to, minMatch, startColumn);
    return found === notAscii ? undefined : offsetOf(found);
  }

  readonly lineBounds: FindLineBounds = (text, hit, { from, counted }, line) => {
    this.#requireOwn(text);
    this.#exports.line_bounds(textStart + from, textStart + hit, textStart + counted);
    line.start = this.#bounds[0]! - textStart;
    line.next = this.#bounds[1]! - textStart;
    line.newlines = this.#bounds[2]!;
  };

  #requireOwn(text: Buffer): void {
    if (text !== this.#text) throw new Error("the text is not the one in the memory of the kernel");
  }
}

/** The result of `match_line` for a line that is not ASCII. */
const notAscii = -2;

const offsetOf = (address: number): number => (address < 0 ? -1 : address - textStart);
