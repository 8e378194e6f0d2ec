import type { NeededNgrams } from "./needed-ngrams.ts";
import { hashBits } from "./ngrams.ts";
import type { Signature } from "./signature.ts";

/** Signatures per block, one for each bit of a number. */
export const blockFiles = 32;

/**
 * Signatures of one size, bit-sliced: for each hash a number with one bit per signature, set if that
 * signature contains the hash.
 */
export interface SignatureBlock {
  readonly bits: number;
  readonly rows: Uint32Array;
  /** The file number of each signature. */
  readonly files: Int32Array;
  /** A mask of the occupied columns. */
  used: number;
}

/** The place of a signature: the index of its block, and of its bit. */
export type SignatureSlot = number;

/** Stores the signatures of files, within a limit of memory. */
export class SignatureBlocks {
  readonly #maxBytes: number;
  readonly #blocks: SignatureBlock[] = [];
  /** For each size of signatures, the indices of blocks that have room. */
  readonly #withRoom: number[][] = Array.from({ length: hashBits + 1 }, () => []);
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get blocks(): readonly SignatureBlock[] {
    return this.#blocks;
  }

  /** The size of all blocks, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the signature of a numbered file. Returns `undefined` if no memory is left for it. */
  add({ words, bits }: Signature, file: number): SignatureSlot | undefined {
    const index = this.#withRoom[bits]!.at(-1) ?? this.#addBlock(bits);
    if (index === undefined) return undefined;
    const block = this.#blocks[index]!;
    const column = 31 - Math.clz32(~block.used);
    const bit = 1 << column;
    setColumn(block.rows, words, bit);
    block.used |= bit;
    block.files[column] = file;
    if (block.used === -1) this.#withRoom[bits]!.pop();
    return index * blockFiles + column;
  }

  #addBlock(bits: number): number | undefined {
    const bytes = 4 * 2 ** bits;
    if (this.#bytes + bytes > this.#maxBytes) return undefined;
    this.#bytes += bytes;
    const rows = new Uint32Array(2 ** bits);
    const index = this.#blocks.push({ bits, rows, files: new Int32Array(blockFiles), used: 0 }) - 1;
    this.#withRoom[bits]!.push(index);
    return index;
  }

  remove(place: SignatureSlot): void {
    const index = Math.floor(place / blockFiles);
    const block = this.#blocks[index]!;
    const bit = 1 << (place % blockFiles);
    for (let row = 0; row < block.rows.length; row++) block.rows[row]! &= ~bit;
    if (block.used === -1) this.#withRoom[block.bits]!.push(index);
    block.used &= ~bit;
  }

  /** Calls `visit` with the number of each file that may contain what is needed, in no order. */
  visit(needed: NeededNgrams, visit: (file: number) => void): void {
    for (const block of this.#blocks) {
      for (let left = matchesIn(block, needed); left !== 0; left &= left - 1)
        visit(block.files[31 - Math.clz32(left & -left)]!);
    }
  }
}

/** Sets the bit in each row whose hash the signature contains. */
function setColumn(rows: Uint32Array, words: Uint32Array, bit: number): void {
  for (let i = 0; i < words.length; i++) {
    for (let left = words[i]!; left !== 0; left &= left - 1)
      rows[32 * i + 31 - Math.clz32(left & -left)]! |= bit;
  }
}

/** Returns a mask of the block's signatures that may contain what is needed. */
function matchesIn({ rows, bits, used }: SignatureBlock, needed: NeededNgrams): number {
  const mask = 2 ** bits - 1;
  let matches = 0;
  for (const sets of needed) {
    let left = used & ~matches;
    for (let i = 0; i < sets.length && left !== 0; i++) {
      const hashes = sets[i]!;
      let any = 0;
      for (let j = 0; j < hashes.length; j++) any |= rows[hashes[j]! & mask]!;
      left &= any;
    }
    matches |= left;
  }
  return matches;
}
