/** Signatures: of each file a set of hashed n-grams, by which a search rules out most files without reading them. */
import { assemble } from "../wasm/assembly.ts";
import { compileModule, instantiate, validates } from "../wasm/module.ts";
import { hashBits, ngramLengths, shortestNgram } from "./ngrams.ts";
import { markNgrams, packMarks } from "./signature-routines.ts";

/** Which n-grams a text may hold: a Bloom filter with one hash function. */
export interface Signature {
  /** A bit for each hash, by its low `bits` bits. */
  readonly words: Uint32Array;
  /** From `fewestBits` to `hashBits`. */
  readonly bits: number;
}

/** Computes the signatures of texts, which are always in the buffer that `reserve` returned last. */
export interface Signer {
  /** Grows the buffer of texts to at least `bytes`. It keeps its content; earlier views of it are detached. */
  readonly reserve: (bytes: number) => Buffer;
  /** The signature of `text[0, length)`; undefined when it would rule out too little. It is overwritten by the next. */
  sign(length: number): Signature | undefined;
}

/** The smallest signature has 2 to the power of this bits. */
export const fewestBits = 8;

/** Fewest bits of a signature for each n-gram: up to twice as many, so that a third to a half of them are set. */
const bitsPerNgram = 1.5;
/** A signature with a larger share of its bits set is of no use. */
const densest = 0.55;

const pageBytes = 65_536;
/** Addresses: the table of marks, the packed bits, and the text. */
const marksAt = 0;
const bitsAt = 2 ** hashBits;
const textAt = bitsAt + pageBytes;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  mark_ngrams(at: number, end: number, marks: number, mask: number): number;
  pack_marks(marks: number, end: number, bits: number): number;
}

const assembleSigner = (): Uint8Array => assemble([markNgrams(), packMarks()], textAt / pageBytes + 1);

/** Whether threads can create signers: the machine has SIMD in WebAssembly. */
export const canSign = (): boolean => validates(assembleSigner());

/** Throws where `canSign` says that it cannot. */
export const createSigner = (): Signer =>
  new WasmSigner(instantiate(compileModule(assembleSigner()), {}) as Exports);

class WasmSigner implements Signer {
  readonly #exports: Exports;
  #bits: Uint32Array;

  constructor(exports: Exports) {
    this.#exports = exports;
    this.#bits = this.#viewBits();
  }

  // A property, so that callers can pass it on without the signer.
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
    let bits = Math.min(hashBits, Math.max(fewestBits, Math.ceil(Math.log2(bitsPerNgram * most + 1))));
    if (length >= shortestNgram) this.#exports.mark_ngrams(textAt, textAt + length, marksAt, 2 ** bits - 1);
    const count = this.#exports.pack_marks(marksAt, marksAt + 2 ** bits, bitsAt);
    if (count > densest * 2 ** bits) return undefined;
    for (; bits > fewestBits && 2 ** (bits - 1) >= bitsPerNgram * count; bits--) this.#halve(bits);
    return { words: this.#bits.subarray(0, 2 ** bits / 32), bits };
  }

  /** Drops the highest bit of the hashes. */
  #halve(bits: number): void {
    const half = 2 ** bits / 64;
    const words = this.#bits;
    for (let i = 0; i < half; i++) words[i]! |= words[half + i]!;
  }
}

/** Whether a text with this signature may hold the n-gram with the hash. */
export function mayHold({ words, bits }: Signature, hash: number): boolean {
  const bit = hash & (2 ** bits - 1);
  return (words[bit >>> 5]! & (1 << (bit & 31))) !== 0;
}
