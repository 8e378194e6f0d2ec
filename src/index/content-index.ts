/** What is known of the contents of files, so that a search reads only those that may match. */
import { stampWords } from "../jail/stamps.ts";
import { type FileRecord, FileTable, fileFlags } from "./file-records.ts";
import type { NeededNgrams } from "./needed-ngrams.ts";
import { type SignedFiles, signed } from "./sign-files.ts";
import type { Signature } from "./signature.ts";
import { SignatureBlocks } from "./signature-blocks.ts";

/** Which files a search has to read, as a message to threads. It holds as long as the search holds the index. */
export interface CandidateSet {
  /** Of `FileRecords`. */
  readonly records: SharedArrayBuffer;
  /** A bit for each file, by its number, that may match: the others do not, unless their stamps differ from those that are known. */
  readonly mayMatch: SharedArrayBuffer;
}

/** State of an index, for those who run the worker. */
export interface IndexState {
  /** Files of which something is known. */
  readonly files: number;
  readonly bytes: number;
}

/** Share of the memory for signatures; the rest is for stamps. */
const signatureShare = 0.75;
/** Share of the known files from which on a search reads all files at once: to look at their stamps would take longer. */
const mostCandidates = 0.4;
/** Share of the known files whose news may wait for a moment in which no search holds the index. For more, the next searches go without it. */
const mostWaitingShare = 1 / 8;

export class ContentIndex {
  readonly #maxBytes: number;
  readonly #table = new FileTable();
  readonly #blocks: SignatureBlocks;
  /** Searches that use candidates of it. */
  #holds = 0;
  /** What came meanwhile, and of how many files. */
  #waiting: SignedFiles[] = [];
  #waitingFiles = 0;

  /** `maxBytes`: most memory. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#blocks = new SignatureBlocks(signatureShare * maxBytes);
  }

  get state(): IndexState {
    return { files: this.#table.count, bytes: this.#blocks.bytes + this.#table.buffer.byteLength };
  }

  /** Whether nothing is known yet. */
  get isEmpty(): boolean {
    return this.#table.count === 0;
  }

  /**
   * What a search that needs this has to read; it holds the index until it calls `release`. Undefined where that is too much, and
   * where much news waits for those who hold it.
   */
  judge(needed: NeededNgrams): CandidateSet | undefined {
    const { count } = this.#table;
    if (this.#waitingFiles > mostWaitingShare * count) return undefined;
    const candidates: number[] = [];
    this.#blocks.visit(needed, (file) => candidates.push(file));
    if (count === 0 || candidates.length > mostCandidates * count) return undefined;
    const mayMatch = new SharedArrayBuffer(4 * Math.ceil(count / 32));
    const bits = new Int32Array(mayMatch);
    for (const file of candidates) bits[file >>> 5]! |= 1 << (file & 31);
    this.#holds++;
    return { records: this.#table.buffer, mayMatch };
  }

  release(): void {
    this.#holds--;
    if (this.#holds > 0) return;
    this.#waitingFiles = 0;
    for (const files of this.#waiting.splice(0)) this.#takeAll(files);
  }

  /** Keeps what is known of these files, as soon as no search uses what it would replace. */
  take(files: SignedFiles): void {
    if (this.#holds === 0) this.#takeAll(files);
    else {
      this.#waiting.push(files);
      this.#waitingFiles += files.outcomes.length;
    }
  }

  #takeAll({ outcomes, flags, stamps, bits, words }: SignedFiles): void {
    let at = 0;
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
    const old = this.#table.signaturePlace(file);
    if (old !== undefined) this.#blocks.remove(old);
    const place = signature && this.#blocks.add(signature, file);
    this.#table.setSignaturePlace(file, place);
    // No memory is left for its signature.
    if (signature !== undefined && place === undefined)
      this.#table.setFlags(file, record.flags | fileFlags.alwaysRead);
  }
}
