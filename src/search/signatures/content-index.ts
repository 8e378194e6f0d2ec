/** Remembers facts about the contents of files, so that a search reads only those that may match. */
import {
  createTimeSlice,
  runInSlices,
  type Steps,
  type TimeSlice,
} from "../../base/scheduling/time-slice.ts";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { type FileRecord, FileTable, fileFlags } from "./file-records.ts";
import type { HeldIndex, IndexSizes } from "./index-file.ts";
import type { NeededNgrams } from "./needed-ngrams.ts";
import { type SignedFiles, signed } from "./sign-files.ts";
import type { Signature } from "./signature.ts";
import { type BlockRoom, blockBytes, SignatureBlocks } from "./signature-blocks.ts";
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
  /** The number of files that may match. */
  readonly count: number;
  /** Whether the index has no room for a file that it does not know. */
  readonly isFull: boolean;
}

/** The state of an index, for the people who run the worker. */
export interface IndexState {
  /** The number of known files. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * Writes signatures to a file of their own, without a name. Rejects with the errno error, or if `closed` is
 * aborted.
 */
export type SignatureWriter = (signatures: SignaturesToWrite, closed: AbortSignal) => Promise<SignatureFile>;

export interface ContentIndexOptions {
  /** Called when the record of a file is replaced. */
  readonly onReplaced?: (file: number) => void;
  /** Moves signatures that have no room in memory to the disk. Absent if nothing may be written. */
  readonly spill?: SignatureWriter | undefined;
}

/** Maximum share of the memory for the table of files, without and with the disk for signatures. */
const tableShare = { inMemory: 1 / 4, onDisk: 3 / 4 } as const;
/** Maximum bytes of signatures on the disk and of those that are to be saved, for each byte of memory. */
const diskFactor = 8;
/**
 * Minimum share of the memory that signatures take before they move to the disk, and maximum number of files
 * there: a search reads rows of each. If moving fails, further updates before the next attempt.
 */
const spillLimits = { minShare: 1 / 16, maxFiles: 64, retryAfter: 1000 } as const;
/** The number of places of signatures, or of records, that one step updates. */
const updatesPerStep = 4096;
/**
 * Maximum share of candidates among the known files. Above it, a search reads all files at once, because
 * checking stamps would take longer.
 */
const maxCandidates = 0.4;
/**
 * Share of the known files whose updates may wait until no search holds the index. Beyond it, searches go
 * without the index.
 */
const maxWaitingShare = 1 / 8;

/** Files that are to be stored, in order. */
interface WaitingFiles {
  readonly files: SignedFiles;
  /** The index of the next one, and of its first word. */
  next: number;
  wordsAt: number;
}

export class ContentIndex {
  readonly #maxBytes: number;
  readonly #onReplaced: (file: number) => void;
  readonly #spillTo: SignatureWriter | undefined;
  /** The number of updates before which nothing is moved to the disk, because that has failed. */
  #spillAfter = 0;
  #table = new FileTable();
  /** The signatures on the disk, whose places precede those of `#blocks`. */
  #signatureFiles: readonly SignatureFile[] = [];
  #blocks = new SignatureBlocks();
  /** Signature files without use, except for searches that have begun to read them. */
  readonly #retired: SignatureFile[] = [];
  /** The number of searches and others that rely on the index as it is. */
  #holds = 0;
  #onReleased = () => {};
  /** Updates that are not stored yet, and the number of their files. */
  readonly #waiting: WaitingFiles[] = [];
  #waitingFiles = 0;
  #isStoring = false;
  /** Settles when the updates are stored. */
  #storing: Promise<void> | undefined;
  #updatedFiles = 0;
  readonly #closing = new AbortController();

  /**
   * Creates an index that uses at most `maxBytes` of memory, and eight times as much of the disk; twice that
   * while it is saved again, since the new file has all signatures and the old one is in use.
   */
  constructor(maxBytes: number, { onReplaced = () => {}, spill }: ContentIndexOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#onReplaced = onReplaced;
    this.#spillTo = spill;
  }

  get state(): IndexState {
    const bytes = this.#blocks.bytes + this.#table.buffer.byteLength + this.#directoryBytes;
    return { files: this.#table.count, bytes };
  }

  /** A signal that is aborted when the index is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** The number of files that were stored or replaced so far, or that had no room. */
  get updatedFiles(): number {
    return this.#updatedFiles;
  }

  /** Whether no file is known yet. */
  get isEmpty(): boolean {
    return this.#table.count === 0;
  }

  /** The bytes of memory for signatures on the disk. */
  get #directoryBytes(): number {
    return this.#signatureFiles.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  }

  /** The number of places for signatures on the disk. */
  get #placesOnDisk(): number {
    return placesIn(this.#signatureFiles);
  }

  /** The room for signatures in memory: there, and on the disk, where they are to be saved. */
  get #room(): BlockRoom {
    const onDisk = this.#signatureFiles.reduce((sum, { bytes }) => sum + bytes, 0);
    return {
      bytes: this.#maxBytes - this.#table.buffer.byteLength - this.#directoryBytes,
      fileBytes: diskFactor * this.#maxBytes - onDisk,
    };
  }

  /** Whether the table may grow, at once or after the signatures in memory have moved to the disk. */
  get #mayGrow(): boolean {
    const share = this.#spillTo === undefined ? tableShare.inMemory : tableShare.onDisk;
    const isAllowed = this.#table.grownBytes <= share * this.#maxBytes;
    return isAllowed && (this.#hasRoomToGrow || this.#maySpill);
  }

  get #hasRoomToGrow(): boolean {
    return this.#table.grownBytes + this.#directoryBytes + this.#blocks.bytes <= this.#maxBytes;
  }

  /** Whether the signatures in memory may move to the disk. */
  get #maySpill(): boolean {
    return (
      this.#spillTo !== undefined &&
      this.#updatedFiles >= this.#spillAfter &&
      this.#blocks.bytes >= spillLimits.minShare * this.#maxBytes &&
      this.#signatureFiles.length < spillLimits.maxFiles
    );
  }

  /**
   * Returns the files to read for a search that needs these n-grams, which holds the index until it calls
   * `release`. Returns `undefined` if they are too many, or if too many updates wait for the holders.
   */
  async judge(needed: NeededNgrams, slice: TimeSlice): Promise<CandidateSet | undefined> {
    if (this.isEmpty || this.#manyWait) return undefined;
    this.#holds++;
    let found: CandidateSet | undefined;
    try {
      found = await this.#candidatesFor(needed, slice);
      return found;
    } finally {
      if (found === undefined) this.release();
    }
  }

  /** Returns the files that `judge` returns. The caller holds the index. */
  async #candidatesFor(needed: NeededNgrams, slice: TimeSlice): Promise<CandidateSet | undefined> {
    const { count } = this.#table;
    const candidates: number[] = [];
    // Others may take their place while they are read.
    const [signatureFiles, blocks] = [this.#signatureFiles, this.#blocks];
    const add = (file: number) => candidates.push(file);
    for (const signatures of signatureFiles) await signatures.visit(needed, slice, add);
    await runInSlices(blocks.visit(needed, add), slice);
    if (candidates.length > maxCandidates * count) return undefined;
    const mayMatch = new SharedArrayBuffer(4 * Math.ceil(count / 32));
    const bits = new Int32Array(mayMatch);
    for (const file of candidates) bits[file >>> 5]! |= 1 << (file & 31);
    return {
      records: this.#table.buffer,
      mayMatch,
      count: candidates.length,
      isFull: this.#table.isFullWith(1) && !this.#mayGrow,
    };
  }

  /**
   * Resolves to everything that is to be saved. It does not change until `release`. Rejects if the index is
   * closed.
   */
  async hold(): Promise<HeldIndex> {
    while (this.#isStoring) await this.#storing;
    this.closed.throwIfAborted();
    const signatures = signaturesToWrite(this.#signatureFiles, this.#blocks.slice());
    this.#holds++;
    return { files: this.#table.count, table: this.#table.usedWords, signatures };
  }

  /** Returns the records of all files. They do not change until `release`. */
  holdRecords(): SharedArrayBuffer {
    this.#holds++;
    return this.#table.buffer;
  }

  /** Returns whether the limits of this index allow a saved one of these sizes. */
  fits({ tableBytes, directoryBytes, rowBytes }: IndexSizes): boolean {
    return (
      rowBytes <= diskFactor * this.#maxBytes &&
      tableBytes <= tableShare.onDisk * this.#maxBytes &&
      tableBytes + directoryBytes <= this.#maxBytes
    );
  }

  /**
   * Fills an empty index with a saved one that fits, and takes over the file. Resolves to false if the index
   * is not empty, or closed, or if the saved one is full and may not be.
   */
  async restore(signatures: SignatureFile, table: FileTable, mayBeFull: boolean): Promise<boolean> {
    const minBytes = spillLimits.minShare * this.#maxBytes;
    const hasRoom = signatures.bytes + minBytes <= diskFactor * this.#maxBytes;
    const isFullTable = table.isFullWith(1) && table.grownBytes > tableShare.onDisk * this.#maxBytes;
    if ((isFullTable || !hasRoom) && !mayBeFull) return false;
    await runInSlices(setPlaces(table, signatures, 0), createTimeSlice());
    if (hasRoom) await runInSlices(table.distrustAll(fileFlags.lacksRoom), createTimeSlice());
    if (!this.isEmpty || this.closed.aborted) return false;
    this.#table = table;
    this.#signatureFiles = [signatures];
    return true;
  }

  /**
   * Replaces all signatures by those of a file that has exactly them, and takes it over. The caller holds the
   * index.
   */
  async adopt(signatures: SignatureFile): Promise<void> {
    if (this.closed.aborted) {
      signatures.close();
      return;
    }
    this.#retired.push(...this.#signatureFiles);
    this.#signatureFiles = [signatures];
    this.#blocks = new SignatureBlocks();
    await runInSlices(setPlaces(this.#table, signatures, 0), createTimeSlice());
  }

  /** Moves the signatures in memory to the disk. If that fails, memory alone is used for some updates. */
  async #spill(): Promise<void> {
    try {
      const signatures = await this.#spillTo!(signaturesToWrite([], this.#blocks.slice()), this.closed);
      if (this.closed.aborted) {
        signatures.close();
        return;
      }
      const first = this.#placesOnDisk;
      this.#signatureFiles = [...this.#signatureFiles, signatures];
      this.#blocks = new SignatureBlocks();
      await runInSlices(setPlaces(this.#table, signatures, first), createTimeSlice());
    } catch {
      this.#spillAfter = this.#updatedFiles + spillLimits.retryAfter;
      return;
    }
    const hasFailed = this.#spillAfter > 0;
    this.#spillAfter = 0;
    if (hasFailed) await runInSlices(this.#table.distrustAll(fileFlags.lacksRoom), createTimeSlice());
  }

  /** Marks all files with signatures in a faulty file to be read and signed again, in steps. */
  *#drop(faulty: SignatureFile): Steps<void> {
    const first = placesIn(this.#signatureFiles.slice(0, this.#signatureFiles.indexOf(faulty)));
    const end = first + faulty.places;
    for (let file = 0; file < this.#table.count; file++) {
      if (file % updatesPerStep === 0) yield;
      const place = this.#table.signaturePlace(file);
      if (place === undefined || place < first) continue;
      this.#table.setSignaturePlace(file, place < end ? undefined : place - faulty.places);
      if (place >= end) continue;
      this.#table.distrust(file);
      this.#onReplaced(file);
    }
    this.#signatureFiles = this.#signatureFiles.filter((one) => one !== faulty);
    faulty.close();
  }

  /** Closes the files, and those that are being written once they are. Later updates are dropped. */
  close(): void {
    this.#closing.abort();
    this.#dropWaiting();
    for (const signatures of [...this.#signatureFiles, ...this.#retired]) signatures.close();
    this.#onReleased();
  }

  release(): void {
    this.#holds--;
    if (this.#holds > 0) return;
    for (const signatures of this.#retired.splice(0)) signatures.close();
    this.#onReleased();
    if (this.#faulty !== undefined && !this.closed.aborted) this.#beginStoring();
  }

  /** A signature file with a known fault. */
  get #faulty(): SignatureFile | undefined {
    return this.#signatureFiles.find(({ isIntact }) => !isIntact);
  }

  /**
   * Stores facts about these files, once no search uses the ones that they replace. Resolves when the index
   * is ready for more: at once, unless many files wait.
   */
  async take(files: SignedFiles): Promise<void> {
    if (this.closed.aborted) return;
    this.#waiting.push({ files, next: 0, wordsAt: 0 });
    this.#waitingFiles += files.outcomes.length;
    this.#beginStoring();
    if (this.#isStoring && this.#manyWait) await this.#storing;
  }

  /** Resolves when everything taken so far is stored. */
  async stored(): Promise<void> {
    await this.#storing;
  }

  /** Whether updates take precedence over searches that would hold the index. */
  get #manyWait(): boolean {
    return this.#waitingFiles > maxWaitingShare * this.#table.count;
  }

  #beginStoring(): void {
    if (!this.#isStoring) this.#storing = this.#storeAll();
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    const slice = createTimeSlice();
    try {
      for (;;) {
        const [next] = this.#waiting;
        const work = this.#workBefore(next?.files);
        if (work !== undefined) await work;
        else if (next === undefined) break;
        else if (this.#storeSome(next, slice)) this.#waiting.shift();
        else await slice.yieldIfDue();
      }
    } catch {
      // The system has no memory for them. Searches read these files, because their records are the former
      // ones, or have `alwaysRead`.
      this.#dropWaiting();
    } finally {
      this.#isStoring = false;
    }
  }

  #dropWaiting(): void {
    this.#waiting.length = 0;
    this.#waitingFiles = 0;
  }

  /** Starts the work that must end before these files, if any, can be stored. */
  #workBefore(files: SignedFiles | undefined): Promise<void> | undefined {
    const faulty = this.#faulty;
    if (files === undefined && faulty === undefined) return undefined;
    if (this.#holds > 0) return new Promise((resolve) => (this.#onReleased = resolve));
    if (faulty !== undefined)
      return this.#whileHeld(() => runInSlices(this.#drop(faulty), createTimeSlice()));
    if (files === undefined) return undefined;
    const mustGrow = this.#table.isFullWith(files.outcomes.length) && this.#mayGrow;
    if (mustGrow && this.#hasRoomToGrow)
      return this.#whileHeld(() => runInSlices(this.#table.grow(), createTimeSlice()));
    return mustGrow || this.#mustSpill(files) ? this.#whileHeld(() => this.#spill()) : undefined;
  }

  async #whileHeld(work: () => Promise<void>): Promise<void> {
    this.#holds++;
    try {
      await work();
    } finally {
      this.release();
    }
  }

  /** Returns whether the memory lacks room for these signatures, which the disk has. */
  #mustSpill({ bits, words }: SignedFiles): boolean {
    if (!this.#maySpill) return false;
    const added = [...new Set(bits)].reduce((sum, size) => sum + blockBytes(size), words.byteLength);
    const { bytes, fileBytes } = this.#room;
    return this.#blocks.bytes + added > bytes && this.#blocks.fileBytes + added <= fileBytes;
  }

  /** Stores files until the slice is used up, at least one. Returns whether all of them are stored. */
  #storeSome(waiting: WaitingFiles, slice: TimeSlice): boolean {
    const { outcomes, flags, stamps, bits, words } = waiting.files;
    while (waiting.next < outcomes.length) {
      const [index, at] = [waiting.next++, waiting.wordsAt];
      const size = bits[index] === 0 ? 0 : 2 ** bits[index]! / 32;
      waiting.wordsAt += size;
      this.#waitingFiles--;
      if (outcomes[index] !== signed.yes) continue;
      this.#updatedFiles++;
      this.#put(
        { stamps: stamps.subarray(index * stampWords, (index + 1) * stampWords), flags: flags[index]! },
        size === 0 ? undefined : { words: words.subarray(at, at + size), bits: bits[index]! },
      );
      if (slice.isDue) break;
    }
    return waiting.next === outcomes.length;
  }

  #put(record: FileRecord, signature: Signature | undefined): void {
    // If this fails before its signature has a place, each search reads the file.
    const file = this.#table.put({ ...record, flags: record.flags | fileFlags.alwaysRead });
    if (file === undefined) return;
    this.#onReplaced(file);
    const old = this.#table.signaturePlace(file);
    this.#table.setSignaturePlace(file, undefined);
    if (old !== undefined) this.#remove(old);
    const place = signature && this.#blocks.add(signature, file, this.#room);
    const lacksRoom = signature !== undefined && place === undefined;
    if (place !== undefined) this.#table.setSignaturePlace(file, this.#placesOnDisk + place);
    this.#table.setFlags(file, record.flags | (lacksRoom ? fileFlags.alwaysRead | fileFlags.lacksRoom : 0));
  }

  /** Removes the signature at this place. */
  #remove(place: number): void {
    let inPart = place;
    for (const signatures of this.#signatureFiles) {
      if (inPart < signatures.places) {
        signatures.remove(inPart);
        return;
      }
      inPart -= signatures.places;
    }
    this.#blocks.remove(inPart);
  }
}

const placesIn = (signatureFiles: readonly SignatureFile[]): number =>
  signatureFiles.reduce((sum, { places }) => sum + places, 0);

/** Enters the places of signatures on the disk, counted from `first`. */
function* setPlaces(table: FileTable, signatures: SignatureFile, first: number): Steps<void> {
  for (let from = 0; from < signatures.places; from += updatesPerStep) {
    signatures.visitPlaces({ from, to: from + updatesPerStep }, (file, place) =>
      table.setSignaturePlace(file, first + place),
    );
    yield;
  }
}
