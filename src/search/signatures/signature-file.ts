/**
 * Signatures in a file. They are bit-sliced like those in `SignatureBlocks`, but lie by size and then by
 * hash: each hash has a row with the numbers of all blocks of that size, and a checksum. So a search reads a
 * row for each size and each hash that it needs, and everything else stays on the disk.
 */
import { close, readSync, writeSync } from "node:fs";
import type { Steps, TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { NeededNgrams } from "./needed-ngrams.ts";
import { hashBits } from "./ngrams.ts";
import { minBits } from "./signature.ts";
import { blockFiles, lowestBit, type SignatureBlock, type SignaturePlace } from "./signature-blocks.ts";

/** The part of a file that is kept in memory. Blocks are in the order of the sizes of their signatures. */
export interface BlockDirectory {
  /** For each size of signatures from `minBits` to `hashBits`, the number of its blocks. */
  readonly counts: Uint32Array;
  /** For each block, a mask of its columns in use. */
  readonly used: Uint32Array;
  /** For each block, the file number of each column. */
  readonly files: Int32Array;
}

/** The number of sizes that signatures may have. */
export const signatureSizes = hashBits - minBits + 1;

/** The rows of one size. */
interface Rows {
  readonly bits: number;
  /** The number of the first block, and of blocks. */
  readonly first: number;
  readonly blocks: number;
  /** The words of a row: a number for each block, and the checksum. */
  readonly stride: number;
  /** The offset of the first row in the file, in bytes. */
  readonly at: number;
}

function* rowsOf(counts: Uint32Array, offset: number): Generator<Rows> {
  let [first, at] = [0, offset];
  for (let bits = minBits; bits <= hashBits; bits++) {
    const blocks = counts[bits - minBits]!;
    const stride = blocks + 1;
    if (blocks > 0) yield { bits, first, blocks, stride, at };
    if (blocks > 0) at += 4 * stride * 2 ** bits;
    first += blocks;
  }
}

/** Returns the bytes of all rows. */
export const bytesOfRows = (counts: Uint32Array): number =>
  [...rowsOf(counts, 0)].reduce((sum, { stride, bits }) => sum + 4 * stride * 2 ** bits, 0);

/** Finds files by signatures on the disk. */
export class SignatureFile {
  /** The bytes of all rows. */
  readonly bytes: number;
  readonly #descriptor: number;
  readonly #directory: BlockDirectory;
  readonly #rows: readonly Rows[];
  readonly #row: Uint32Array;
  readonly #onFault: () => void;
  #isIntact = true;
  #isClosed = false;

  /**
   * Takes over the descriptor of a file that has the rows of these blocks from `offset` on, in bytes. Calls
   * `onFault` once, if a row has another checksum.
   */
  constructor(descriptor: number, directory: BlockDirectory, offset: number, onFault = () => {}) {
    this.#onFault = onFault;
    this.#descriptor = descriptor;
    this.#directory = directory;
    this.bytes = bytesOfRows(directory.counts);
    this.#rows = [...rowsOf(directory.counts, offset)];
    this.#row = new Uint32Array(Math.max(0, ...this.#rows.map(({ stride }) => stride)));
  }

  /** The bytes of memory in use. */
  get memoryBytes(): number {
    const { used, files } = this.#directory;
    return used.byteLength + files.byteLength + this.#row.byteLength;
  }

  /** Whether no fault was found in the rows that were read. */
  get isIntact(): boolean {
    return this.#isIntact;
  }

  /** The number of places for signatures, including empty ones. */
  get places(): number {
    return this.#directory.files.length;
  }

  /** Calls `visit` with the file number and the place of each signature in a range of whole blocks. */
  visitPlaces(
    { from, to }: { readonly from: SignaturePlace; readonly to: SignaturePlace },
    visit: (file: number, place: SignaturePlace) => void,
  ): void {
    const { used, files } = this.#directory;
    for (let block = from / blockFiles; block < Math.min(to / blockFiles, used.length); block++)
      for (let left = used[block]! | 0; left !== 0; left &= left - 1) {
        const place = block * blockFiles + lowestBit(left);
        visit(files[place]!, place);
      }
  }

  remove(place: SignaturePlace): void {
    this.#directory.used[Math.floor(place / blockFiles)]! &= ~(1 << (place % blockFiles));
  }

  /**
   * Calls `visit` with the number of each file that may contain what is needed, in no order; with all of
   * them if the signatures cannot be read.
   */
  async visit(needed: NeededNgrams, slice: TimeSlice, visit: (file: number) => void): Promise<void> {
    for (const rows of this.#rows) {
      const matches = (await this.#matchesIn(rows, needed, slice)) ?? this.#usedIn(rows);
      for (let block = 0; block < rows.blocks; block++) {
        const files = (rows.first + block) * blockFiles;
        for (let left = matches[block]! | 0; left !== 0; left &= left - 1)
          visit(this.#directory.files[files + lowestBit(left)]!);
        if (slice.isDue) await slice.yieldIfDue();
      }
    }
  }

  /** Returns for each block a mask of the signatures that may contain what is needed. */
  async #matchesIn(rows: Rows, needed: NeededNgrams, slice: TimeSlice): Promise<Uint32Array | undefined> {
    const matches = new Uint32Array(rows.blocks);
    for (const sets of needed) {
      const left = this.#usedIn(rows).slice();
      for (const hashes of sets) {
        const any = new Uint32Array(rows.blocks);
        for (const hash of hashes) {
          const row = this.#read(rows, hash & (2 ** rows.bits - 1), this.#row.subarray(0, rows.stride));
          if (row === undefined) return undefined;
          for (let block = 0; block < rows.blocks; block++) any[block]! |= row[block]!;
          await slice.yieldIfDue();
        }
        let rest = 0;
        for (let block = 0; block < rows.blocks; block++) rest |= left[block]! &= any[block]!;
        if (rest === 0) break;
      }
      for (let block = 0; block < rows.blocks; block++) matches[block]! |= left[block]!;
    }
    return matches;
  }

  #usedIn({ first, blocks }: Rows): Uint32Array {
    return this.#directory.used.subarray(first, first + blocks);
  }

  /** Reads whole rows from the row `from` on. Returns `undefined` if they have a fault. */
  #read({ at, stride }: Rows, from: number, words: Uint32Array): Uint32Array | undefined {
    if (!this.#isIntact || this.#isClosed) return undefined;
    this.#isIntact = readAt(this.#descriptor, words, at + 4 * from * stride);
    for (let row = 0; row < words.length && this.#isIntact; row += stride)
      this.#isIntact = checksumOf(words, row, row + stride - 1) === words[row + stride - 1];
    if (!this.#isIntact) this.#onFault();
    return this.#isIntact ? words : undefined;
  }

  /** Returns the blocks with a signature, in the order of their sizes. */
  blocksInUse(): StoredBlock[] {
    return this.#rows.flatMap((rows) =>
      Array.from({ length: rows.blocks }, (_, index) => {
        const block = rows.first + index;
        const files = this.#directory.files.subarray(block * blockFiles, (block + 1) * blockFiles);
        return { bits: rows.bits, used: this.#directory.used[block]!, files, source: this, index };
      }).filter(({ used }) => used !== 0),
    );
  }

  /** Returns `count` rows of this size, and the length of each. Throws if they are not intact. */
  readRows(bits: number, from: number, count: number): StoredRows {
    const rows = this.#rows.find((one) => one.bits === bits)!;
    const words = this.#read(rows, from, new Uint32Array(count * rows.stride));
    if (words === undefined) throw new Error("the file of signatures has a fault");
    return { words, stride: rows.stride };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // If this removes a large file, it takes a while.
    close(this.#descriptor, () => {});
  }
}

/** Rows that were read from a file. */
interface StoredRows {
  readonly words: Uint32Array;
  readonly stride: number;
}

/** A block of a file. */
interface StoredBlock extends Pick<SignatureBlock, "bits" | "used" | "files"> {
  readonly source: SignatureFile;
  /** The index of its numbers in the rows. */
  readonly index: number;
}

/** Signatures that are to be written: those of other files, and of blocks in memory. */
export interface SignaturesToWrite {
  readonly directory: BlockDirectory;
  /** In the order of the directory. */
  readonly blocks: readonly (StoredBlock | SignatureBlock)[];
}

/** Selects the blocks that are in use. */
export function signaturesToWrite(
  stored: readonly SignatureFile[],
  inMemory: readonly SignatureBlock[],
): SignaturesToWrite {
  const blocks = [
    ...stored.flatMap((file) => file.blocksInUse()),
    ...inMemory.filter(({ used }) => used !== 0),
  ];
  blocks.sort((one, other) => one.bits - other.bits);
  const counts = new Uint32Array(signatureSizes);
  for (const { bits } of blocks) counts[bits - minBits]!++;
  const files = new Int32Array(blocks.length * blockFiles);
  for (const [index, block] of blocks.entries()) files.set(block.files, index * blockFiles);
  const used = Uint32Array.from(blocks, (block) => block.used >>> 0);
  return { directory: { counts, used, files }, blocks };
}

/** Words that are read, written or summed up at once, which takes about a millisecond. */
export const stepWords = 2 ** 17;

/** Appends the rows of the blocks to the file, in steps. Until that is done, the blocks must not change. */
export function* writeRows(descriptor: number, { directory, blocks }: SignaturesToWrite): Steps<void> {
  for (const { bits, first, blocks: count, stride } of rowsOf(directory.counts, 0)) {
    const own = blocks.slice(first, first + count);
    const sources = new Set(own.flatMap((block) => ("source" in block ? [block.source] : [])));
    const step = Math.max(1, Math.floor(stepWords / stride));
    for (let from = 0; from < 2 ** bits; from += step) {
      const rows = Math.min(step, 2 ** bits - from);
      const words = new Uint32Array(rows * stride);
      const stored = new Map(Array.from(sources, (file) => [file, file.readRows(bits, from, rows)]));
      for (const [index, block] of own.entries()) {
        copyColumn(columnOf(block, from, stored), { words, at: index, step: stride });
      }
      for (let row = 0; row < words.length; row += stride)
        words[row + count] = checksumOf(words, row, row + count);
      writeWords(descriptor, words);
      yield;
    }
  }
}

/** Every word at a distance of `step`, from `at` on. */
interface Column {
  readonly words: Uint32Array;
  readonly at: number;
  readonly step: number;
}

/** Returns the numbers of a block from the row `from` on, in memory or in the rows that were read. */
function columnOf(
  block: StoredBlock | SignatureBlock,
  from: number,
  stored: ReadonlyMap<SignatureFile, StoredRows>,
): Column {
  if ("rows" in block) return { words: block.rows, at: from, step: 1 };
  const { words, stride } = stored.get(block.source)!;
  return { words, at: block.index, step: stride };
}

function copyColumn(from: Column, to: Column): void {
  let source = from.at;
  for (let target = to.at; target < to.words.length; target += to.step) {
    to.words[target] = from.words[source]!;
    source += from.step;
  }
}

/** Reads exactly that many words, from `position` on, in bytes. Returns false if that fails. */
export function readAt(descriptor: number, words: Uint32Array, position: number): boolean {
  const bytes = bytesOf(words);
  try {
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(descriptor, bytes, done, bytes.length - done, position + done);
      if (count === 0) return false;
      done += count;
    }
    return true;
  } catch {
    return false;
  }
}

/** Appends the words. Throws the errno error. */
export function writeWords(descriptor: number, words: Uint32Array): void {
  const bytes = bytesOf(words);
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/**
 * Returns a checksum of `words[from, to)`, or continues the one of earlier words. It detects faults of the
 * disk, but not forgeries.
 */
export function checksumOf(words: Uint32Array, from: number, to: number, sum = 1): number {
  let result = sum | 0;
  for (let at = from; at < to; at++) result = Math.imul(result ^ words[at]! ^ (result >>> 15), prime);
  return result >>> 0;
}

/** The prime of FNV-1a (32 bits). */
const prime = 0x01000193;
