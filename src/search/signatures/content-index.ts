/** Remembers facts about the contents of files, so that a search reads only those that may match. */
import type { TimeSlice } from "../../base/scheduling/time-slice.ts";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { type FileRecord, FileTable, fileFlags } from "./file-records.ts";
import type { NeededNgrams } from "./needed-ngrams.ts";
import { type SignedFiles, signed } from "./sign-files.ts";
import type { Signature } from "./signature.ts";
import { SignatureBlocks } from "./signature-blocks.ts";
import { type SignatureFile, type SignaturesToWrite, signaturesToWrite } from "./signature-file.ts";

/**
 * The files that a search has to read, as a message to threads. It is valid while the search holds the index.
 */
export interface CandidateSet {
  /** The buffer of a `FileRecords`. */
  readonly records: SharedArrayBuffer;
  /**
   * One bit per file number, set if the file may match. The others do not match, unless their stamps differ
   * from the known ones.
   */
  readonly mayMatch: SharedArrayBuffer;
}

/** Everything of an index that is saved. */
export interface HeldIndex {
  readonly files: number;
  /** The words in use of its `FileTable`. */
  readonly table: Uint32Array;
  readonly signatures: SignaturesToWrite;
}

/** The state of an index, for the people who run the worker. */
export interface IndexState {
  /** The number of known files. */
  readonly files: number;
  readonly bytes: number;
}

/** Share of the memory for signatures; stamps get the rest. */
const signatureShare = 0.75;
/**
 * Share of the known files from which on a search reads all files at once, because checking stamps would take
 * longer.
 */
const maxCandidates = 0.4;
/**
 * Share of the known files whose updates may wait until no search holds the index. Beyond it, searches go
 * without the index.
 */
const maxWaitingShare = 1 / 8;

export class ContentIndex {
  readonly #maxBytes: number;
  #table = new FileTable();
  /** Signatures that were saved. Their places precede those of `#blocks`. */
  #file: SignatureFile | undefined;
  #blocks: SignatureBlocks;
  /** The number of searches that use candidates of the index. */
  #holds = 0;
  /** Updates that arrived while a search held the index, and the number of their files. */
  #waiting: SignedFiles[] = [];
  #waitingFiles = 0;
  #updatedFiles = 0;
  readonly #onReplaced: (file: number) => void;

  /**
   * Creates an index that uses at most `maxBytes` of memory. Calls `onReplaced` when the record of a file is
   * replaced.
   */
  constructor(maxBytes: number, onReplaced: (file: number) => void = () => {}) {
    this.#maxBytes = maxBytes;
    this.#onReplaced = onReplaced;
    this.#blocks = new SignatureBlocks(signatureShare * maxBytes);
  }

  get state(): IndexState {
    const bytes = this.#blocks.bytes + this.#table.buffer.byteLength + (this.#file?.memoryBytes ?? 0);
    return { files: this.#table.count, bytes };
  }

  /** The number of files that were stored or replaced so far. */
  get updatedFiles(): number {
    return this.#updatedFiles;
  }

  /** Whether no file is known yet. */
  get isEmpty(): boolean {
    return this.#table.count === 0;
  }

  /**
   * Returns the files to read for a search that needs these n-grams, which holds the index until it calls
   * `release`. Returns `undefined` if they are too many, or if too many updates wait for the holders.
   */
  async judge(needed: NeededNgrams, slice: TimeSlice): Promise<CandidateSet | undefined> {
    const { count } = this.#table;
    if (count === 0 || this.#waitingFiles > maxWaitingShare * count) return undefined;
    this.#holds++;
    const candidates: number[] = [];
    // A saved file may replace both while this one is read.
    const [file, blocks] = [this.#file, this.#blocks];
    await file?.visit(needed, slice, (number) => candidates.push(number));
    if (file !== undefined && file === this.#file && !file.isIntact) this.#drop(file);
    blocks.visit(needed, (number) => candidates.push(number));
    if (candidates.length > maxCandidates * count) {
      this.release();
      return undefined;
    }
    const mayMatch = new SharedArrayBuffer(4 * Math.ceil(count / 32));
    const bits = new Int32Array(mayMatch);
    for (const file of candidates) bits[file >>> 5]! |= 1 << (file & 31);
    return { records: this.#table.buffer, mayMatch };
  }

  /** Returns everything that is to be saved. It does not change until `release`. */
  hold(): HeldIndex {
    this.#holds++;
    return {
      files: this.#table.count,
      table: this.#table.usedWords,
      signatures: signaturesToWrite(this.#file, this.#blocks.slice()),
    };
  }

  /** Returns the records of all files. They do not change until `release`. */
  holdRecords(): SharedArrayBuffer {
    this.#holds++;
    return this.#table.buffer;
  }

  /** Fills an empty index with a saved one. Returns false if that does not fit. */
  restore(file: SignatureFile, { table: words, files }: Pick<HeldIndex, "table" | "files">): boolean {
    const room = signatureShare * this.#maxBytes - file.bytes;
    const isTooLarge = room < 0 || words.byteLength > (1 - signatureShare) * this.#maxBytes;
    const table = this.isEmpty && !isTooLarge ? FileTable.from(words, files) : undefined;
    if (table === undefined) return false;
    this.#table = table;
    this.adopt(file);
    return true;
  }

  /** Continues with the signatures of a file that has exactly those of `hold`, and forgets them in memory. */
  adopt(file: SignatureFile): void {
    this.#file?.close();
    this.#file = file;
    this.#blocks = new SignatureBlocks(signatureShare * this.#maxBytes - file.bytes);
    for (let number = 0; number < this.#table.count; number++)
      this.#table.setSignaturePlace(number, undefined);
    file.visitPlaces((number, place) => this.#table.setSignaturePlace(number, place));
  }

  /** Has all files read and signed again whose signatures are in a faulty file. */
  #drop(file: SignatureFile): void {
    const { places } = file;
    for (let number = 0; number < this.#table.count; number++) {
      const place = this.#table.signaturePlace(number);
      if (place === undefined) continue;
      this.#table.setSignaturePlace(number, place < places ? undefined : place - places);
      if (place >= places) continue;
      this.#table.distrust(number);
      this.#onReplaced(number);
    }
    this.#file = undefined;
    file.close();
  }

  close(): void {
    this.#file?.close();
  }

  release(): void {
    this.#holds--;
    if (this.#holds > 0) return;
    this.#waitingFiles = 0;
    for (const files of this.#waiting.splice(0)) this.#takeAll(files);
  }

  /** Stores facts about these files, once no search uses the ones that they replace. */
  take(files: SignedFiles): void {
    if (this.#holds === 0) this.#takeAll(files);
    else {
      this.#waiting.push(files);
      this.#waitingFiles += files.outcomes.length;
    }
  }

  #takeAll({ outcomes, flags, stamps, bits, words }: SignedFiles): void {
    let at = 0;
    this.#updatedFiles += outcomes.length;
    for (let index = 0; index < outcomes.length; index++) {
      const size = bits[index] === 0 ? 0 : 2 ** bits[index]! / 32;
      if (outcomes[index] === signed.yes)
        this.#put(
          { stamps: stamps.subarray(index * stampWords, (index + 1) * stampWords), flags: flags[index]! },
          size === 0 ? undefined : { words: words.subarray(at, at + size), bits: bits[index]! },
        );
      at += size;
    }
  }

  #put(record: FileRecord, signature: Signature | undefined): void {
    const file = this.#table.put(record, (1 - signatureShare) * this.#maxBytes);
    if (file === undefined) return;
    this.#onReplaced(file);
    const old = this.#table.signaturePlace(file);
    const saved = this.#file?.places ?? 0;
    if (old !== undefined && old < saved) this.#file!.remove(old);
    else if (old !== undefined) this.#blocks.remove(old - saved);
    const place = signature && this.#blocks.add(signature, file);
    this.#table.setSignaturePlace(file, place === undefined ? undefined : saved + place);
    // No memory is left for its signature.
    if (signature !== undefined && place === undefined)
      this.#table.setFlags(file, record.flags | fileFlags.alwaysRead);
  }
}
