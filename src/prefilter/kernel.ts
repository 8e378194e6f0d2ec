/** The routines in WebAssembly. They reach their own memory alone, so texts to be searched lie in it. */

import { assemble } from "../wasm/assembly.ts";
import { compileModule, instantiate } from "../wasm/module.ts";
import { layout } from "./layout.ts";
import type { FindLineBounds } from "./line-bounds.ts";
import type { LineDfa } from "./line-dfa.ts";
import { searchRoutines } from "./routines.ts";
import type { TeddyMasks } from "./teddy.ts";

/** An ASCII string; places where the case of a letter does not matter have a fold of 0x20 and a byte that has this bit. */
export interface FoldedString {
  readonly bytes: Uint8Array;
  readonly folds: Uint8Array;
  /** There is no fold in it. */
  readonly isExact: boolean;
  /** Positions of the two rarest bytes: only where both stand is the rest looked at. */
  readonly rare: readonly [number, number];
}

/** A part of a text. One that is not open is of ASCII alone. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly isOpen: boolean;
}

/** Every text is the buffer that `reserve` gave last. */
export interface SearchKernel {
  /** The one buffer of texts, made at least `bytes` long. What is in it stays, but other views of it are dead. */
  readonly reserve: (bytes: number) => Buffer;
  /** Start of the first `string` in `text[from, to)`, or -1. */
  find(text: Buffer, string: FoldedString, from: number, to: number): number;
  /** Start of the first place in the span where `shape` may stand, or -1. */
  seek(text: Buffer, shape: TeddyMasks, span: Span): number;
  /**
   * Where in `text` the first match of the automaton's pattern starts in the line `text[from, to)`, or -1; undefined
   * when the line is not ASCII.
   */
  match(text: Buffer, automaton: LineDfa, from: number, to: number): number | undefined;
  readonly enclose: FindLineBounds;
}

/** Longest string that can be looked for. */
export const longestFolded = layout.longestString;

const pageBytes = 65_536;
/** The first page is for what is looked for, the others are for texts. */
const textStart = pageBytes;
/** What is loaded behind the end of a text, and not looked at. */
const overread = longestFolded + 64;

/** One of the routines, which tell what they take. */
type Call = (...operands: readonly number[]) => number;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  find_exact: Call;
  find_folded: Call;
  seek_byte: Call;
  seek_range: Call;
  seek_halves: Call;
  enclose: Call;
  match: Call;
}

/** A kernel, or undefined where the machine has no SIMD in WebAssembly. */
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
  /** What is looked for lies here. */
  #page: Buffer;
  /** What `enclose` of the routines tells. */
  #line: Int32Array;
  #string: FoldedString | undefined;
  #shape: TeddyMasks | undefined;
  #automaton: LineDfa | undefined;

  constructor(exports: Exports) {
    this.#exports = exports;
    [this.#text, this.#page, this.#line] = this.#view(0);
  }

  // A property, so that it can be handed on by itself.
  readonly reserve = (bytes: number): Buffer => {
    const { memory } = this.#exports;
    const missing = textStart + bytes + overread - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    [this.#text, this.#page, this.#line] = this.#view(bytes);
    return this.#text;
  };

  #view(bytes: number): [text: Buffer, page: Buffer, line: Int32Array] {
    const { buffer } = this.#exports.memory;
    const text = Buffer.from(buffer, textStart, bytes);
    return [text, Buffer.from(buffer, 0, textStart), new Int32Array(buffer, layout.line, 3)];
  }

  find(text: Buffer, string: FoldedString, from: number, to: number): number {
    this.#requireOwn(text);
    if (this.#string !== string) {
      this.#page.set(string.bytes, layout.string);
      this.#page.set(string.folds, layout.string + layout.longestString);
      this.#string = string;
    }
    const find = string.isExact ? this.#exports.find_exact : this.#exports.find_folded;
    const [first, second] = string.rare;
    return place(find(textStart + from, textStart + to, string.bytes.length, first, second));
  }

  seek(text: Buffer, shape: TeddyMasks, { from, to, isOpen }: Span): number {
    this.#requireOwn(text);
    if (this.#shape !== shape) {
      this.#page.set(shape.table, layout.shape);
      this.#page.set(shape.tests, layout.tests);
      this.#shape = shape;
    }
    const { length, depth } = shape;
    const seek = this.#exports[`seek_${shape.test}`];
    const [first, second] = shape.rare;
    return place(seek(textStart + from, textStart + to, length, depth, first, second, isOpen ? 1 : 0));
  }

  match(text: Buffer, automaton: LineDfa, from: number, to: number): number | undefined {
    this.#requireOwn(text);
    if (this.#automaton !== automaton) {
      const { classes, rows } = automaton;
      this.#page.set(classes, layout.classes);
      this.#page.set(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength), layout.rows);
      this.#automaton = automaton;
    }
    const { matching, edge } = automaton;
    const found = this.#exports.match(textStart + from, textStart + to, matching, edge);
    return found === notAscii ? undefined : place(found);
  }

  readonly enclose: FindLineBounds = (text, hit, { from, counted }, line) => {
    this.#requireOwn(text);
    this.#exports.enclose(textStart + from, textStart + hit, textStart + counted);
    line.start = this.#line[0]! - textStart;
    line.next = this.#line[1]! - textStart;
    line.newlines = this.#line[2]!;
  };

  #requireOwn(text: Buffer): void {
    if (text !== this.#text) throw new Error("the text is not the one in the memory of the kernel");
  }
}

/** What `match` of the routines answers for a line that is not ASCII. */
const notAscii = -2;

const place = (address: number): number => (address < 0 ? -1 : address - textStart);
