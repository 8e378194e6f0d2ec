/** The routines in WebAssembly. They reach their own memory alone, so texts to be searched lie in it. */

import { assemble } from "../wasm/assembly.ts";
import { compileModule, instantiate } from "../wasm/module.ts";
import { layout, routines } from "./routines.ts";
import type { Shape } from "./shape.ts";

/** An ASCII string; places where the case of a letter does not matter have a fold of 0x20 and a byte that has this bit. */
export interface FoldedString {
  readonly bytes: Uint8Array;
  readonly folds: Uint8Array;
  /** Positions of the two rarest bytes: only where both stand is the rest looked at. */
  readonly rare: readonly [number, number];
}

/** Every text is a buffer that `reserve` gave. */
export interface Kernel {
  /** The one buffer of texts, made at least `bytes` long. What is in it stays, but other views of it are dead. */
  readonly reserve: (bytes: number) => Buffer;
  /** Start of the first `string` in `text[from, to)`, or -1. */
  find(text: Buffer, string: FoldedString, from: number, to: number): number;
  /** Start of the first place in `text[from, to)` where `shape` may stand, or -1. Not open is a text of ASCII alone. */
  seek(text: Buffer, shape: Shape, span: { from: number; to: number; isOpen: boolean }): number;
  /** How many newlines there are in `text[from, to)`. */
  readonly count: (text: Buffer, from: number, to: number) => number;
}

/** Longest string that can be looked for. */
export const longestFolded = layout.longestString;

const pageBytes = 65_536;
/** The first page is for what is looked for, the others are for texts. */
const textStart = pageBytes;
/** What is loaded behind the end of a text, and not looked at. */
const overread = longestFolded + 64;

/** See `seek` of the routines. */
type Seek = (...operands: readonly number[]) => number;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  find(at: number, end: number, length: number, first: number, second: number): number;
  count(at: number, end: number): number;
  seek_range: Seek;
  seek_halves: Seek;
}

/** A kernel, or undefined where the machine has no SIMD in WebAssembly. */
export function openKernel(): Kernel | undefined {
  try {
    return new SimdKernel(instantiate(compileModule(assemble(routines(), 2)), {}) as Exports);
  } catch {
    return undefined;
  }
}

class SimdKernel implements Kernel {
  readonly #exports: Exports;
  #page: Uint8Array;
  #string: FoldedString | undefined;
  #shape: Shape | undefined;

  constructor(exports: Exports) {
    this.#exports = exports;
    this.#page = new Uint8Array(exports.memory.buffer, 0, textStart);
  }

  // A property, so that it can be handed on by itself.
  readonly reserve = (bytes: number): Buffer => {
    const { memory } = this.#exports;
    const missing = textStart + bytes + overread - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    return Buffer.from(memory.buffer, textStart, bytes);
  };

  find(text: Buffer, string: FoldedString, from: number, to: number): number {
    const page = this.#pageOf(text);
    if (this.#string !== string) {
      page.set(string.bytes, layout.string);
      page.set(string.folds, layout.string + layout.longestString);
      this.#string = string;
    }
    const [first, second] = string.rare;
    return place(this.#exports.find(textStart + from, textStart + to, string.bytes.length, first, second));
  }

  seek(
    text: Buffer,
    shape: Shape,
    { from, to, isOpen }: { from: number; to: number; isOpen: boolean },
  ): number {
    const page = this.#pageOf(text);
    if (this.#shape !== shape) {
      page.set(shape.table, layout.shape);
      page.set(shape.tests, layout.tests);
      this.#shape = shape;
    }
    const { length, depth } = shape;
    const seek = shape.areRanges ? this.#exports.seek_range : this.#exports.seek_halves;
    const [first, second] = shape.rare;
    return place(seek(textStart + from, textStart + to, length, depth, first, second, isOpen ? 1 : 0));
  }

  readonly count = (text: Buffer, from: number, to: number): number => {
    this.#pageOf(text);
    return this.#exports.count(textStart + from, textStart + to);
  };

  /** The page of what is looked for. Throws for a text that lies elsewhere. */
  #pageOf(text: Buffer): Uint8Array {
    const { buffer } = this.#exports.memory;
    if (text.buffer !== buffer) throw new Error("the text is not in the memory of the kernel");
    if (this.#page.buffer !== buffer) this.#page = new Uint8Array(buffer, 0, textStart);
    return this.#page;
  }
}

const place = (address: number): number => (address < 0 ? -1 : address - textStart);
