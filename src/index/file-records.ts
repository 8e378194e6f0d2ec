/**
 * What is known of files, by their inodes, in memory that threads share: the stamps that a file had when its content was read. One
 * thread writes, while no other reads.
 */
import { sizeAt, stampWords } from "../jail/stamps.ts";

/** What is known of a file besides its stamps. */
export const fileFlags = {
  /** It has to be read whatever is searched for. */
  alwaysRead: 1,
  /** It holds a NUL byte. */
  holdsNul: 2,
  /** A search passes it over as a binary before it has read all of it. */
  isBinary: 4,
  /** It has several names: what is read under one may change under another, of which a watched tree need not know. */
  hasSeveralNames: 8,
} as const;

/** Words of a record: its stamps, flags, and where its signature is. */
const recordWords = 16;
const flagsAt = stampWords;
const placeAt = stampWords + 1;
/** Records for each two places of the hash table, which lies before them. */
const wordsPerTwo = 2 + recordWords;

/** Looks files up. A file has a number from 0 on. */
export class FileRecords {
  readonly words: Uint32Array;
  /** Places of the hash table: a power of two. */
  readonly #places: number;

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Uint32Array(buffer);
    this.#places = (2 * this.words.length) / wordsPerTwo;
  }

  /** The number of the file with this inode and device; -1 when it is not there. */
  find(stamps: Uint32Array): number {
    const { words } = this;
    for (let place = this.placeOf(stamps); words[place] !== 0; place = (place + 1) & (this.#places - 1)) {
      const at = this.#recordAt(words[place]! - 1);
      if (sameWords(words, at, stamps, inodeWords)) return words[place]! - 1;
    }
    return -1;
  }

  /** Where the search for the stamps starts in the hash table. */
  placeOf(stamps: Uint32Array): number {
    const key = stamps[0]! ^ Math.imul(stamps[1]!, 0x85ebca6b) ^ Math.imul(stamps[3]!, 0xc2b2ae35);
    const product = Math.imul(key, 0x9e3779b1);
    return (product ^ (product >>> 15)) & (this.#places - 1);
  }

  /** Whether these are exactly the stamps of the file. */
  hasStamps(file: number, stamps: Uint32Array): boolean {
    return sameWords(this.words, this.#recordAt(file), stamps, stampWords);
  }

  /** Of the file, as a double: of large ones some are the same. */
  inode(file: number): number {
    const at = this.#recordAt(file);
    return this.words[at]! + this.words[at + 1]! * 2 ** 32;
  }

  /** Bytes of the file. */
  size(file: number): number {
    const at = this.#recordAt(file) + sizeAt;
    return this.words[at]! + this.words[at + 1]! * 2 ** 32;
  }

  flags(file: number): number {
    return this.words[this.#recordAt(file) + flagsAt]!;
  }

  #recordAt(file: number): number {
    return this.#places + file * recordWords;
  }
}

/** Stamps that say which file it is: inode and device. */
const inodeWords = 4;

function sameWords(words: Uint32Array, at: number, others: Uint32Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (words[at + i] !== others[i]) return false;
  return true;
}

/** What is known of a file, to be kept. */
export interface FileRecord {
  readonly stamps: Uint32Array;
  readonly flags: number;
}

/** Fewest places of the hash table. */
const fewestPlaces = 1024;

/** Keeps records. */
export class FileTable {
  #buffer: SharedArrayBuffer;
  #records: FileRecords;
  #places: number;
  #count = 0;

  constructor() {
    [this.#buffer, this.#records, this.#places] = withPlaces(fewestPlaces);
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

  /**
   * Keeps a record in place of the one with the same inode, and returns the number of the file; undefined where that would take more
   * memory than `maxBytes`.
   */
  put({ stamps, flags }: FileRecord, maxBytes: number): number | undefined {
    const known = this.#records.find(stamps);
    if (known < 0 && this.#isFull && 2 * this.#buffer.byteLength > maxBytes) return undefined;
    const file = known < 0 ? this.#add(stamps) : known;
    this.#records.words.set(stamps, this.#recordAt(file));
    this.setFlags(file, flags);
    return file;
  }

  setFlags(file: number, flags: number): void {
    this.#records.words[this.#recordAt(file) + flagsAt] = flags;
  }

  /** Whether another record takes more memory. */
  get #isFull(): boolean {
    return 2 * (this.#count + 1) > this.#places;
  }

  #recordAt(file: number): number {
    return this.#places + file * recordWords;
  }

  #add(stamps: Uint32Array): number {
    if (this.#isFull) this.#grow();
    const file = this.#count++;
    this.#enter(stamps, file);
    return file;
  }

  #enter(stamps: Uint32Array, file: number): void {
    const { words } = this.#records;
    let place = this.#records.placeOf(stamps);
    while (words[place] !== 0) place = (place + 1) & (this.#places - 1);
    words[place] = file + 1;
  }

  #grow(): void {
    const old = this.#records.words.subarray(this.#places, this.#recordAt(this.#count));
    [this.#buffer, this.#records, this.#places] = withPlaces(2 * this.#places);
    const { words } = this.#records;
    words.set(old, this.#places);
    for (let file = 0; file < this.#count; file++) {
      const at = this.#recordAt(file);
      this.#enter(words.subarray(at, at + stampWords), file);
    }
  }

  /** Where the signature of a file is; undefined for none. */
  signaturePlace(file: number): number | undefined {
    const place = this.#records.words[this.#recordAt(file) + placeAt]!;
    return place === 0 ? undefined : place - 1;
  }

  setSignaturePlace(file: number, place: number | undefined): void {
    this.#records.words[this.#recordAt(file) + placeAt] = place === undefined ? 0 : place + 1;
  }
}

function withPlaces(places: number): [SharedArrayBuffer, FileRecords, number] {
  const buffer = new SharedArrayBuffer((places / 2) * wordsPerTwo * Uint32Array.BYTES_PER_ELEMENT);
  return [buffer, new FileRecords(buffer), places];
}
