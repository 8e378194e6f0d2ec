/**
 * Facts about files, keyed by inode, in memory that threads share: the stamps that a file had when its
 * content was read. One thread writes while no other reads.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { sizeAt, stampWords } from "../../filesystem/jail/stamps.ts";

/** Facts about a file besides its stamps. */
export const fileFlags = {
  /** The file has to be read for every query. */
  alwaysRead: 1,
  /** The file holds a NUL byte. */
  holdsNul: 2,
  /** A search skips the file as a binary before it has read all of it. */
  isBinary: 4,
  /**
   * The file has several names: content read under one may change under another, unknown to a watched tree.
   */
  hasSeveralNames: 8,
  /** The index had no room for the signature of the file, so that it has `alwaysRead`. */
  lacksRoom: 16,
} as const;

/** The words of a record: stamps, flags, and the place of the signature. */
const recordWords = stampWords + 2;
const flagsAt = stampWords;
const placeAt = stampWords + 1;
/** Records per two slots of the hash table, which precedes them. */
const wordsPerTwo = 2 + recordWords;

/** Finds files by their stamps. Files are numbered from 0. */
export class FileRecords {
  readonly words: Uint32Array;
  /** The size of the hash table, a power of two. */
  readonly #slots: number;

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Uint32Array(buffer);
    this.#slots = (2 * this.words.length) / wordsPerTwo;
  }

  /** Returns the number of the file with this inode and device, or -1 if it is unknown. */
  find(stamps: Uint32Array): number {
    const { words } = this;
    for (let slot = this.slotOf(stamps); words[slot] !== 0; slot = (slot + 1) & (this.#slots - 1)) {
      const at = this.#recordAt(words[slot]! - 1);
      if (sameWords(words, at, stamps, inodeWords)) return words[slot]! - 1;
    }
    return -1;
  }

  /** Returns the slot of the hash table where probing for the stamps starts. */
  slotOf(stamps: Uint32Array): number {
    const key = stamps[0]! ^ Math.imul(stamps[1]!, 0x85ebca6b) ^ Math.imul(stamps[3]!, 0xc2b2ae35);
    const product = Math.imul(key, 0x9e3779b1);
    return (product ^ (product >>> 15)) & (this.#slots - 1);
  }

  /** Returns whether these are exactly the stamps of the file. */
  hasStamps(file: number, stamps: Uint32Array): boolean {
    return sameWords(this.words, this.#recordAt(file), stamps, stampWords);
  }

  /** Returns the inode of the file as a double. Large inodes may share one. */
  inode(file: number): number {
    const at = this.#recordAt(file);
    return this.words[at]! + this.words[at + 1]! * 2 ** 32;
  }

  /** Returns the size of the file in bytes. */
  size(file: number): number {
    const at = this.#recordAt(file) + sizeAt;
    return this.words[at]! + this.words[at + 1]! * 2 ** 32;
  }

  flags(file: number): number {
    return this.words[this.#recordAt(file) + flagsAt]!;
  }

  #recordAt(file: number): number {
    return this.#slots + file * recordWords;
  }
}

/** The leading stamps, which identify a file: inode and device. */
const inodeWords = 4;

function sameWords(words: Uint32Array, at: number, others: Uint32Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (words[at + i] !== others[i]) return false;
  return true;
}

/** Facts about a file, to be stored. */
export interface FileRecord {
  readonly stamps: Uint32Array;
  readonly flags: number;
}

/** The initial number of slots in the hash table. */
const minSlots = 1024;
/** The number of records that one step moves or checks. */
const recordsPerStep = 4096;

/** Returns the size of the buffer for a hash table with that many slots. */
const bytesFor = (slots: number): number => (slots / 2) * wordsPerTwo * Uint32Array.BYTES_PER_ELEMENT;

/** Stores records in a growing buffer. */
export class FileTable {
  #buffer: SharedArrayBuffer;
  #records: FileRecords;
  #slots: number;
  #count = 0;

  constructor(slots = minSlots) {
    this.#buffer = new SharedArrayBuffer(bytesFor(slots));
    this.#records = new FileRecords(this.#buffer);
    this.#slots = slots;
  }

  get buffer(): SharedArrayBuffer {
    return this.#buffer;
  }

  get records(): FileRecords {
    return this.#records;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the words in use: the hash table, and the records. They change with the next `put`. */
  get usedWords(): Uint32Array {
    return this.#records.words.subarray(0, this.#recordAt(this.#count));
  }

  /**
   * Returns the size of the buffer of a table with that many records and words in use, or `undefined` if no
   * table has.
   */
  static bytesOf(words: number, count: number): number | undefined {
    const slots = words - count * recordWords;
    return slots < minSlots || !isPowerOfTwo(slots) || 2 * count > slots ? undefined : bytesFor(slots);
  }

  /** Creates a table for the words in use of another, which are to be written to `usedWords`. */
  static withUsed(words: number, count: number): FileTable {
    const table = new FileTable(words - count * recordWords);
    table.#count = count;
    return table;
  }

  /**
   * Returns, in steps, whether the hash table has as many entries as records, and none for others: otherwise
   * a search for one might not end. Forgets the places of signatures, which are those of another index.
   */
  *check(): Steps<boolean> {
    const { words } = this.#records;
    let entries = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      if (slot % recordsPerStep === 0) yield;
      if (words[slot]! > this.#count) return false;
      if (words[slot] !== 0) entries++;
    }
    for (let file = 0; file < this.#count; file++) {
      if (file % recordsPerStep === 0) yield;
      this.setSignaturePlace(file, undefined);
    }
    return entries === this.#count;
  }

  /** Returns whether that many further records need a larger buffer. */
  isFullWith(records: number): boolean {
    return 2 * (this.#count + records) > this.#slots;
  }

  /** The bytes of the buffer after it has grown once. */
  get grownBytes(): number {
    return 2 * this.#buffer.byteLength;
  }

  /** Doubles the buffer, in steps. The table must not change until that is done. */
  *grow(): Steps<void> {
    const grown = new FileTable(2 * this.#slots);
    for (; grown.#count < this.#count; grown.#count++) {
      if (grown.#count % recordsPerStep === 0) yield;
      const from = this.#recordAt(grown.#count);
      const record = this.#records.words.subarray(from, from + recordWords);
      grown.#records.words.set(record, grown.#recordAt(grown.#count));
      grown.#enter(record, grown.#count);
    }
    [this.#buffer, this.#records, this.#slots] = [grown.#buffer, grown.#records, grown.#slots];
  }

  /**
   * Stores a record, replacing the one with the same inode, and returns the number of the file. Returns
   * `undefined` for an unknown inode if the buffer is full.
   */
  put({ stamps, flags }: FileRecord): number | undefined {
    const known = this.#records.find(stamps);
    if (known < 0 && this.isFullWith(1)) return undefined;
    const file = known < 0 ? this.#count++ : known;
    if (known < 0) this.#enter(stamps, file);
    this.#records.words.set(stamps, this.#recordAt(file));
    this.setFlags(file, flags);
    return file;
  }

  /** Makes the record of a file one that proves nothing about it, and that no file matches. */
  distrust(file: number): void {
    this.setFlags(file, fileFlags.alwaysRead);
    const lastStamp = this.#recordAt(file) + stampWords - 1;
    this.#records.words[lastStamp] = ~this.#records.words[lastStamp]!;
  }

  /** Distrusts all files with this flag, in steps. */
  *distrustAll(flag: number): Steps<void> {
    for (let file = 0; file < this.#count; file++) {
      if (file % recordsPerStep === 0) yield;
      if ((this.#records.flags(file) & flag) !== 0) this.distrust(file);
    }
  }

  setFlags(file: number, flags: number): void {
    this.#records.words[this.#recordAt(file) + flagsAt] = flags;
  }

  #recordAt(file: number): number {
    return this.#slots + file * recordWords;
  }

  #enter(stamps: Uint32Array, file: number): void {
    const { words } = this.#records;
    let slot = this.#records.slotOf(stamps);
    while (words[slot] !== 0) slot = (slot + 1) & (this.#slots - 1);
    words[slot] = file + 1;
  }

  /** Returns the place of the file's signature, or `undefined` if it has none. */
  signaturePlace(file: number): number | undefined {
    const place = this.#records.words[this.#recordAt(file) + placeAt]!;
    return place === 0 ? undefined : place - 1;
  }

  setSignaturePlace(file: number, place: number | undefined): void {
    this.#records.words[this.#recordAt(file) + placeAt] = place === undefined ? 0 : place + 1;
  }
}

const isPowerOfTwo = (number: number): boolean => 2 ** Math.round(Math.log2(number)) === number;
