/**
 * The file of a saved index: a header, the table of files, the directory of the blocks, and the rows of
 * signatures.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { FileTable } from "./file-records.ts";
import { blockFiles } from "./signature-blocks.ts";
import {
  type BlockDirectory,
  bytesOfRows,
  checksumOf,
  readAt,
  SignatureFile,
  type SignaturesToWrite,
  signatureSizes,
  stepWords,
  writeRows,
  writeWords,
} from "./signature-file.ts";

/** Changes with the layout of the file. */
export const format = 3;

/** The words of the header: the identity, and one for each of its numbers, the checksum last. */
const headerWords = 13;
const identityWords = 8;
const checksumAt = headerWords - 1;

/** Everything of an index that is saved. */
export interface HeldIndex {
  readonly files: number;
  /** The words in use of its `FileTable`. */
  readonly table: Uint32Array;
  readonly signatures: SignaturesToWrite;
}

/** The sizes of the parts of a saved index. */
export interface IndexSizes {
  /** The memory for the table of files, and for the directory of the blocks. */
  readonly tableBytes: number;
  readonly directoryBytes: number;
  readonly rowBytes: number;
}

export interface IndexHeader extends IndexSizes {
  /** The number of updates after which this index is worn, as `writeIndex` was given it. */
  readonly updatesLeft: number;
  readonly words: Uint32Array;
}

/**
 * Reads the header of an index with this identity, a digest of everything that the content depends on, from a
 * file of `size` bytes. Returns `undefined` if it has a fault.
 */
export function readIndexHeader(
  descriptor: number,
  size: number,
  identity: Uint32Array,
): IndexHeader | "other" | undefined {
  const words = new Uint32Array(headerWords);
  if (!readAt(descriptor, words, 0)) return undefined;
  if (identity.some((word, at) => words[at] !== word)) return "other";
  const { tableWords, files, blocks, updatesLeft } = numbersOf(words);
  const tableBytes = FileTable.bytesOf(tableWords, files);
  const rowBytes = size - headBytesOf(words);
  if (tableBytes === undefined || rowBytes < 0) return undefined;
  const directoryBytes = blocks * bytesPerBlock;
  return { words, updatesLeft, tableBytes, directoryBytes, rowBytes };
}

const bytesPerBlock = 4 * (1 + blockFiles);

const numbersOf = (header: Uint32Array) => {
  const [tableWords, files, blocks, updatesLeft] = header.subarray(identityWords) as unknown as [
    number,
    number,
    number,
    number,
  ];
  return { tableWords, files, blocks, updatesLeft };
};

/** Returns the number of bytes before the rows. */
function headBytesOf(header: Uint32Array): number {
  const { tableWords, blocks } = numbersOf(header);
  return 4 * (headerWords + tableWords + signatureSizes) + blocks * bytesPerBlock;
}

export interface Head {
  readonly table: FileTable;
  readonly file: SignatureFile;
}

/** Reads the part of the file before its rows, in steps. Returns `undefined` if that has a fault. */
export function* readHead(
  descriptor: number,
  { words: header, rowBytes }: IndexHeader,
  onFault: () => void,
): Steps<Head | undefined> {
  const { tableWords, files, blocks } = numbersOf(header);
  const table = FileTable.withUsed(tableWords, files);
  const words = new Uint32Array(signatureSizes + blocks * (1 + blockFiles));
  const parts = [table.usedWords, words];
  let at = header.byteLength;
  for (const step of stepsOf(parts)) {
    if (!readAt(descriptor, step, at)) return undefined;
    at += step.byteLength;
    yield;
  }
  if ((yield* checksumOfHead(header, parts)) !== header[checksumAt]) return undefined;
  const filesAt = signatureSizes + blocks;
  const directory = {
    counts: words.slice(0, signatureSizes),
    used: words.slice(signatureSizes, filesAt),
    files: Int32Array.from(words.subarray(filesAt)),
  };
  const isSound = (yield* table.check()) && isDirectoryOf(directory, files, rowBytes);
  return isSound ? { table, file: new SignatureFile(descriptor, directory, at, onFault) } : undefined;
}

/** Returns whether the directory can be one of that many files, with rows of that many bytes. */
function isDirectoryOf({ counts, used, files: numbers }: BlockDirectory, files: number, rowBytes: number) {
  const blocks = counts.reduce((sum, count) => sum + count, 0);
  if (blocks !== used.length || bytesOfRows(counts) !== rowBytes) return false;
  return numbers.every((number) => number >= 0 && number < files);
}

/** Returns the size of the file that `writeIndex` writes. */
export const bytesOfIndex = ({ table, signatures: { directory } }: HeldIndex): number =>
  4 * (headerWords + table.length + signatureSizes) +
  directory.used.length * bytesPerBlock +
  bytesOfRows(directory.counts);

/** Writes the whole file, in steps, and returns the number of bytes before its rows. */
export function* writeIndex(
  descriptor: number,
  { identity, updatesLeft }: { readonly identity: Uint32Array; readonly updatesLeft: number },
  { table, files, signatures }: HeldIndex,
): Steps<number> {
  const { counts, used, files: numbers } = signatures.directory;
  const parts = [table, counts, used, new Uint32Array(numbers.buffer)];
  const header = Uint32Array.of(...identity, table.length, files, used.length, updatesLeft, 0);
  header[checksumAt] = yield* checksumOfHead(header, parts);
  for (const step of stepsOf([header, ...parts])) {
    writeWords(descriptor, step);
    yield;
  }
  yield* writeRows(descriptor, signatures);
  return headBytesOf(header);
}

/** Returns the checksum of everything before the rows. */
function* checksumOfHead(header: Uint32Array, parts: readonly Uint32Array[]): Steps<number> {
  let sum = 1;
  for (const step of stepsOf([header.subarray(0, checksumAt), ...parts])) {
    sum = checksumOf(step, 0, step.length, sum);
    yield;
  }
  return sum;
}

/** Yields the words in steps. */
function* stepsOf(parts: readonly Uint32Array[]): Generator<Uint32Array> {
  for (const words of parts)
    for (let at = 0; at < words.length; at += stepWords) yield words.subarray(at, at + stepWords);
}
