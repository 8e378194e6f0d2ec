/**
 * Signatures: for each file a set of hashed n-grams, which lets a search rule out nearly all files without
 * reading them.
 */
import { assemble } from "../../base/wasm/assembly.ts";
import { compileModule, instantiate, validates } from "../../base/wasm/module.ts";
import { hashBits, ngramLengths, shortestNgram } from "./ngrams.ts";
import { markNgrams, packMarks } from "./signature-routines.ts";

/** The n-grams that a text may contain: a Bloom filter with one hash function. */
export interface Signature {
  /** One bit per hash, addressed by the lowest `bits` bits of the hash. */
  readonly words: Uint32Array;
  /** A number from `minBits` to `hashBits`. */
  readonly bits: number;
}

/** Computes the signatures of texts, which must be in the buffer that `reserve` last returned. */
export interface Signer {
  /** Grows the text buffer to at least `bytes`. It keeps its content; earlier views of it are detached. */
  readonly reserve: (bytes: number) => Buffer;
  /**
   * Returns the signature of `text[0, length)`, or `undefined` if it would rule out too little. The next call
   * overwrites it.
   */
  sign(length: number): Signature | undefined;
}

/** The binary logarithm of the smallest signature's size in bits. */
export const minBits = 8;

/**
 * Minimum bits of a signature per n-gram. It gets up to twice as many, so that a third to a half of them are
 * set.
 */
const bitsPerNgram = 1.5;
/** Maximum share of set bits. A denser signature is useless. */
const densest = 0.55;

const pageBytes = 65_536;
/** The addresses of the table of marks, the packed bits, and the text. */
const marksAt = 0;
const bitsAt = 2 ** hashBits;
const textAt = bitsAt + pageBytes;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  mark_ngrams(at: number, end: number, marks: number, mask: number): number;
  pack_marks(marks: number, end: number, bits: number): number;
}

/** Returns the program that computes signatures, in WebAssembly. */
export const assembleSigner = (): Uint8Array => assemble([markNgrams(), packMarks()], textAt / pageBytes + 1);

/** Returns whether threads can create signers, which needs SIMD in WebAssembly. */
export const canSign = (): boolean => validates(assembleSigner());

/** Creates a signer. Throws if `canSign` returns false. */
export const createSigner = (): Signer =>
  new WasmSigner(instantiate(compileModule(assembleSigner()), {}) as Exports);

class WasmSigner implements Signer {
  readonly #exports: Exports;
  #bits: Uint32Array;

  constructor(exports: Exports) {
    this.#exports = exports;
    this.#bits = this.#viewBits();
  }

  // This is a property, so that callers can pass it on without the signer.
  readonly reserve = (bytes: number): Buffer => {
    const { memory } = this.#exports;
    const missing = textAt + bytes - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    this.#bits = this.#viewBits();
    return Buffer.from(memory.buffer, textAt, bytes);
  };

  #viewBits(): Uint32Array {
    return new Uint32Array(this.#exports.memory.buffer, bitsAt, 2 ** hashBits / 32);
  }

  sign(length: number): Signature | undefined {
    const most = ngramLengths.length * length;
    let bits = Math.min(hashBits, Math.max(minBits, Math.ceil(Math.log2(bitsPerNgram * most + 1))));
    if (length >= shortestNgram) this.#exports.mark_ngrams(textAt, textAt + length, marksAt, 2 ** bits - 1);
    const count = this.#exports.pack_marks(marksAt, marksAt + 2 ** bits, bitsAt);
    if (count > densest * 2 ** bits) return undefined;
    for (; bits > minBits && 2 ** (bits - 1) >= bitsPerNgram * count; bits--) this.#halve(bits);
    return { words: this.#bits.subarray(0, 2 ** bits / 32), bits };
  }

  /** Drops the highest bit of the hashes. */
  #halve(bits: number): void {
    const half = 2 ** bits / 64;
    const words = this.#bits;
    for (let i = 0; i < half; i++) words[i]! |= words[half + i]!;
  }
}

/** Returns whether a text with this signature may contain the n-gram with the hash. */
export function mayHold({ words, bits }: Signature, hash: number): boolean {
  const bit = hash & (2 ** bits - 1);
  return (words[bit >>> 5]! & (1 << (bit & 31))) !== 0;
}
