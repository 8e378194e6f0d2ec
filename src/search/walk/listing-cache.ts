/**
 * Earlier listings of folders, which are valid while their stamps show that nothing was added, removed or
 * renamed, as in the untracked cache of Git.
 */
import type { Folder } from "../../filesystem/jail/folder.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import {
  areSettled,
  hasExactStamps,
  readFolderStamps,
  stamps,
  stampWords,
} from "../../filesystem/jail/stamps.ts";
import type { EntryStack } from "./entry-stack.ts";

/** Receives an entry of a folder, named `bytes[from, to)`. The bytes are valid only during the call. */
export type OnEntry = (bytes: Buffer, from: number, to: number, kind: EntryKind) => void;

/** The entries of a folder, from an index on. */
export interface FolderEntries {
  readonly entries: Pick<EntryStack, "bytes" | "size" | "start" | "end" | "kind">;
  readonly first: number;
}

/** Maximum entries of a kept listing. More are listed in several steps. */
const maxEntries = 1024;
/**
 * The words of a record: stamps, the number of entries, and a number of the walk. The names follow, each
 * after its kind.
 */
const recordWords = stampWords + 2;
const recordBytes = recordWords * Uint32Array.BYTES_PER_ELEMENT;
const firstBytes = 64 * 1024;
const kinds: readonly EntryKind[] = ["file", "dir", "symlink", "other"];

/** Keeps listings in one buffer. As objects of their own they would keep the garbage collector busy. */
export class ListingCache {
  readonly #maxBytes: number;
  /**
   * The offset of the record of each folder, by its inode. If folders on two devices share a number, the last
   * one wins.
   */
  #records = new Map<number, number>();
  #bytes = Buffer.alloc(0);
  #words = new Uint32Array(0);
  #end = 0;
  /** The stamps of the folder of the last `find`. */
  readonly #before = new Uint32Array(stampWords);
  #isStamped = false;

  /** Creates a cache with at most `maxBytes` of memory for names and stamps. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes.length;
  }

  /**
   * Reports the entries of the folder in the order in which they were kept, and returns the number that was
   * kept with them. If they are unknown, returns `undefined` and reports nothing; `keep` may follow.
   */
  find(folder: Folder, onEntry: OnEntry): number | undefined {
    const { descriptor } = folder;
    this.#isStamped = descriptor !== undefined && readFolderStamps(descriptor);
    if (!this.#isStamped) return undefined;
    this.#before.set(stamps);
    const at = this.#records.get(inodeOf(stamps));
    if (at === undefined || !this.#hasStamps(at)) return undefined;
    const first = at / Uint32Array.BYTES_PER_ELEMENT + stampWords;
    this.#report(at + recordBytes, this.#words[first]!, onEntry);
    return this.#words[first + 1]!;
  }

  /**
   * Keeps the entries from the index `first` on, which were listed since `find` was called for the folder,
   * and a number of 32 bits. No other call may come between. Keeps nothing that would be unreliable.
   */
  keep(folder: Folder, { entries, first }: FolderEntries, number: number): void {
    const count = entries.size - first;
    if (!this.#isStamped || count > maxEntries || !this.#isUnchanged(folder.descriptor!)) return;
    const length = count === 0 ? 0 : namesLength({ entries, first });
    if (!this.#reserve(recordBytes + length + Uint32Array.BYTES_PER_ELEMENT)) return;
    const at = this.#end;
    const words = at / Uint32Array.BYTES_PER_ELEMENT;
    this.#words.set(this.#before, words);
    this.#words[words + stampWords] = count;
    this.#words[words + stampWords + 1] = number;
    const end = this.#write(at + recordBytes, { entries, first });
    this.#end = (end + 3) & ~3;
    this.#records.set(inodeOf(this.#before), at);
  }

  /** Returns whether the stamps are unchanged, and certain to change with a later modification. */
  #isUnchanged(descriptor: number): boolean {
    if (!readFolderStamps(descriptor) || !areSettled(Date.now()) || !hasExactStamps(descriptor)) return false;
    return this.#before.every((word, index) => word === stamps[index]);
  }

  #hasStamps(at: number): boolean {
    const first = at / Uint32Array.BYTES_PER_ELEMENT;
    for (let i = 0; i < stampWords; i++) if (this.#words[first + i] !== stamps[i]) return false;
    return true;
  }

  #report(start: number, count: number, onEntry: OnEntry): void {
    const bytes = this.#bytes;
    let at = start;
    for (let entry = 0; entry < count; entry++) {
      const kind = kinds[bytes[at]!]!;
      const from = at + 1;
      let to = from;
      while (bytes[to] !== 0) to++;
      onEntry(bytes, from, to, kind);
      at = to + 1;
    }
  }

  #write(start: number, { entries, first }: FolderEntries): number {
    const bytes = this.#bytes;
    let at = start;
    for (let index = first; index < entries.size; index++) {
      bytes[at++] = kinds.indexOf(entries.kind(index));
      const to = entries.end(index);
      for (let from = entries.start(index); from < to; from++) bytes[at++] = entries.bytes[from]!;
      bytes[at++] = 0;
    }
    return at;
  }

  /** Makes room for a record, by forgetting all others if necessary. Returns false if it is too large. */
  #reserve(length: number): boolean {
    if (this.#end + length <= this.#bytes.length) return true;
    let size = Math.max(2 * this.#bytes.length, firstBytes);
    if (size > this.#maxBytes) {
      this.#records.clear();
      this.#end = 0;
      size = this.#bytes.length;
    }
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(size);
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
      this.#words = new Uint32Array(larger.buffer, larger.byteOffset, size / Uint32Array.BYTES_PER_ELEMENT);
    }
    return this.#end + length <= this.#bytes.length;
  }
}

/** Returns the bytes of the names, each with a kind and a NUL. */
function namesLength({ entries, first }: FolderEntries): number {
  let length = 0;
  for (let index = first; index < entries.size; index++)
    length += entries.end(index) - entries.start(index) + 2;
  return length;
}

const inodeOf = (words: Uint32Array): number => words[0]! + words[1]! * 2 ** 32;
