import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { NeededNgrams } from "./needed-ngrams.ts";
import { hashBits } from "./ngrams.ts";
import { mayHold, type Signature } from "./signature.ts";

/** Signatures per block, one for each bit of a number. */
export const blockFiles = 32;

/** Returns the size of a block of signatures of this size. */
export const blockBytes = (bits: number): number => 4 * 2 ** bits;

/** Returns the index of the lowest bit that is set, which `mask &= mask - 1` clears. */
export const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** The signatures of 32 files, all of one size. */
export interface SignatureBlock {
  readonly bits: number;
  /**
   * The signatures, bit-sliced: for each hash a number with one bit per signature, set if that signature
   * contains the hash.
   */
  readonly rows: Uint32Array;
  /** The file number of each signature. */
  readonly files: Int32Array;
  /** A mask of the occupied columns. */
  used: number;
}

/** A block that has not been full yet. It is not bit-sliced: 32 signatures at once take far less time. */
interface OpenBlock extends Omit<SignatureBlock, "rows"> {
  /** The words of each signature. */
  readonly columns: (Uint32Array | undefined)[];
}

/** The place of a signature: the index of its block, and of its bit. */
export type SignaturePlace = number;

/** Maximum bytes that blocks may take, and take in a file once they are written. */
export interface BlockRoom {
  readonly bytes: number;
  readonly fileBytes: number;
}

/** Stores the signatures of files in memory. */
export class SignatureBlocks {
  readonly #blocks: (SignatureBlock | OpenBlock)[] = [];
  /** For each size of signatures, the indices of blocks that have room. */
  readonly #withRoom: number[][] = Array.from({ length: hashBits + 1 }, () => []);
  /** The sizes that have a block. */
  readonly #sizes = new Set<number>();
  #bytes = 0;
  #fileBytes = 0;

  /** Returns all blocks, each bit-sliced. */
  slice(): readonly SignatureBlock[] {
    return this.#blocks.map((block, index) => ("rows" in block ? block : this.#sliceOne(block, index)));
  }

  /** The size of all blocks, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Maximum bytes of a file with these signatures, including its checksums: a word per hash of each size. */
  get fileBytes(): number {
    return this.#fileBytes;
  }

  /** Adds the signature of a numbered file. Returns `undefined` if the blocks have no room for it. */
  add({ words, bits }: Signature, file: number, room: BlockRoom): SignaturePlace | undefined {
    const index = this.#withRoom[bits]!.at(-1) ?? this.#addBlock(bits, room);
    if (index === undefined) return undefined;
    const column = lowestBit(~this.#blocks[index]!.used);
    const block = this.#setColumn(index, column, words);
    block.files[column] = file;
    block.used |= 1 << column;
    if (block.used === -1) this.#withRoom[bits]!.pop();
    return index * blockFiles + column;
  }

  /** Enters a signature in a column that is not in use yet. The last one has the block bit-sliced. */
  #setColumn(index: number, column: number, words: Uint32Array): SignatureBlock | OpenBlock {
    const block = this.#blocks[index]!;
    const bit = 1 << column;
    if ("rows" in block) {
      setColumn(block.rows, words, bit);
      return block;
    }
    block.columns[column] = words.slice();
    return (block.used | bit) === -1 ? this.#sliceOne(block, index) : block;
  }

  #addBlock(bits: number, room: BlockRoom): number | undefined {
    const bytes = blockBytes(bits);
    // The first block of a size adds the checksums of its rows.
    const fileBytes = this.#sizes.has(bits) ? bytes : 2 * bytes;
    if (this.#bytes + bytes > room.bytes || this.#fileBytes + fileBytes > room.fileBytes) return undefined;
    const columns = Array<Uint32Array | undefined>(blockFiles).fill(undefined);
    const index = this.#blocks.push({ bits, columns, files: new Int32Array(blockFiles), used: 0 }) - 1;
    this.#withRoom[bits]!.push(index);
    this.#sizes.add(bits);
    this.#bytes += bytes;
    this.#fileBytes += fileBytes;
    return index;
  }

  #sliceOne({ columns, ...block }: OpenBlock, index: number): SignatureBlock {
    const sliced = { ...block, rows: sliceBits(columns, 2 ** block.bits) };
    this.#blocks[index] = sliced;
    return sliced;
  }

  remove(place: SignaturePlace): void {
    const index = Math.floor(place / blockFiles);
    const block = this.#blocks[index]!;
    const column = place % blockFiles;
    const bit = 1 << column;
    if ("columns" in block) block.columns[column] = undefined;
    else for (let row = 0; row < block.rows.length; row++) block.rows[row]! &= ~bit;
    if (block.used === -1) this.#withRoom[block.bits]!.push(index);
    block.used &= ~bit;
  }

  /** Calls `visit` with the number of each file that may contain what is needed, in no order, in steps. */
  *visit(needed: NeededNgrams, visit: (file: number) => void): Steps<void> {
    for (const block of this.#blocks) {
      for (let left = matchesIn(block, needed); left !== 0; left &= left - 1)
        visit(block.files[lowestBit(left)]!);
      yield;
    }
  }
}

/** Returns a number for each hash, with a bit for each signature that contains it. */
function sliceBits(columns: OpenBlock["columns"], hashes: number): Uint32Array {
  const rows = new Uint32Array(hashes);
  const square = new Int32Array(blockFiles);
  for (let row = 0; row < hashes; row += blockFiles) {
    for (let column = 0; column < blockFiles; column++)
      square[column] = columns[column]?.[row / blockFiles] ?? 0;
    transpose(square);
    rows.set(square, row);
  }
  return rows;
}

/**
 * Transposes a square of 32 rows of 32 bits: exchanges two of its quarters, then those of its quarters, and
 * so on (Warren, Hacker's Delight, section 7-3).
 */
function transpose(square: Int32Array): void {
  let mask = 0xffff;
  for (let size = 16; size > 0; size >>>= 1) {
    for (let row = 0; row < 32; row = (row + size + 1) & ~size) {
      const other = ((square[row]! >>> size) ^ square[row + size]!) & mask;
      square[row]! ^= other << size;
      square[row + size]! ^= other;
    }
    mask ^= mask << (size >>> 1);
  }
}

/** Sets the bit in each row whose hash the signature contains. */
function setColumn(rows: Uint32Array, words: Uint32Array, bit: number): void {
  for (let i = 0; i < words.length; i++) {
    for (let left = words[i]!; left !== 0; left &= left - 1) rows[32 * i + lowestBit(left)]! |= bit;
  }
}

/** Returns a mask of the block's signatures that may contain what is needed. */
function matchesIn(block: SignatureBlock | OpenBlock, needed: NeededNgrams): number {
  return "rows" in block ? matchesInRows(block, needed) : matchesInColumns(block, needed);
}

function matchesInColumns({ columns, bits, used }: OpenBlock, needed: NeededNgrams): number {
  let matches = 0;
  for (const [column, words] of columns.entries()) {
    if (words === undefined || (used & (1 << column)) === 0) continue;
    const signature = { words, bits };
    const isMatch = needed.some((sets) =>
      sets.every((hashes) => hashes.some((hash) => mayHold(signature, hash))),
    );
    if (isMatch) matches |= 1 << column;
  }
  return matches;
}

function matchesInRows({ rows, bits, used }: SignatureBlock, needed: NeededNgrams): number {
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
