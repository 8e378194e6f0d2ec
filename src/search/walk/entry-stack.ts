import { chunk, mergeSort } from "../../base/scheduling/merge-sort.ts";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import type { Name } from "../../filesystem/jail/folder.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import { nameOf } from "../../filesystem/jail/name.ts";
import { NameBuffer } from "./name-buffer.ts";

/** The initial capacity for names, in bytes. */
const firstBytes = 16 * 1024;

/** The number of names that one step compares with the first one. */
const comparedPerStep = 16 * 1024;

/** Maximum entries for insertion sort, which is faster for few. */
const few = 24;

/**
 * A stack of the entries of a walk's open folders, with those of the deepest folder on top. Names stay raw
 * bytes: nothing reads most of them, and as strings they would cost more than all other JavaScript of a walk.
 */
export class EntryStack {
  readonly #names = new NameBuffer(firstBytes);
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #kinds: EntryKind[] = [];
  /** The sorted indices into the arrays above, folder by folder. */
  readonly #order: number[] = [];

  /** Returns the buffer of the names. */
  get bytes(): Buffer {
    return this.#names.bytes;
  }

  get size(): number {
    return this.#order.length;
  }

  /** Adds an entry named `bytes[from, to)` to the folder on top. */
  push(bytes: Buffer, from: number, to: number, kind: EntryKind): void {
    const start = this.#names.end;
    this.#order.push(this.#starts.length);
    this.#starts.push(start);
    this.#ends.push(start + to - from);
    this.#kinds.push(kind);
    this.#names.add(bytes, from, to, kind === "dir");
  }

  /** Sorts the entries from index `from` on by the paths below them, which continue with "/" for a folder. */
  *sort(from: number): Steps<void> {
    const order = this.#order;
    const shared = yield* this.#commonPrefix(from);
    const sorted = yield* mergeSort(order.slice(from), (one, other) => this.#isBefore(one, other, shared));
    for (let i = 0; i < sorted.length; i++) order[from + i] = sorted[i]!;
  }

  /** Sorts the entries without yielding if that takes one step; else returns false. */
  sortChunk(from: number): boolean {
    const count = this.size - from;
    if (count > few) {
      if (count <= chunk) runAtOnce(this.sort(from));
      return count <= chunk;
    }
    const order = this.#order;
    for (let i = from + 1; i < order.length; i++) {
      const entry = order[i]!;
      let at = i;
      for (; at > from && this.#isBefore(entry, order[at - 1]!); at--) order[at] = order[at - 1]!;
      order[at] = entry;
    }
    return true;
  }

  /** Removes all entries except the first `size` ones. */
  drop(size: number): void {
    if (size === this.size) return;
    this.#names.end = this.#starts[size]!;
    this.#order.length = this.#starts.length = this.#ends.length = this.#kinds.length = size;
  }

  kind(index: number): EntryKind {
    return this.#kinds[this.#order[index]!]!;
  }

  /** Returns the offset of an entry's name in `bytes`. */
  start(index: number): number {
    return this.#starts[this.#order[index]!]!;
  }

  end(index: number): number {
    return this.#ends[this.#order[index]!]!;
  }

  /**
   * Returns the index of the first entry of the folder on top that does not come before `key`. The entries
   * from `from` on are sorted.
   */
  firstNotBefore(key: Buffer, from: number): number {
    let [low, high] = [from, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.keyOf(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the sort key of an entry: its name, followed by "/" for a folder. */
  keyOf(index: number): Buffer {
    return this.bytes.subarray(this.start(index), this.end(index) + (this.kind(index) === "dir" ? 1 : 0));
  }

  /** Returns the name of a folder, and its key with one character per byte. */
  folderAt(index: number): { readonly name: Name; readonly key: string } {
    const { bytes } = this;
    const [start, end] = [this.start(index), this.end(index)];
    const key = bytes.toString("latin1", start, end + 1);
    for (let at = start; at < end; at++)
      if (bytes[at]! >= 0x80) return { name: nameOf(bytes.subarray(start, end)), key };
    return { name: key.slice(0, -1), key };
  }

  /**
   * Returns the length of the common prefix of all names from `from` on. Generated names often differ only at
   * their ends.
   */
  *#commonPrefix(from: number): Steps<number> {
    const { bytes } = this;
    const first = this.start(from);
    let shared = this.end(from) - first;
    for (let index = from + 1; index < this.size; index++) {
      const start = this.start(index);
      let length = 0;
      while (length < shared && bytes[start + length] === bytes[first + length]) length++;
      shared = length;
      if (index % comparedPerStep === 0) yield;
    }
    return shared;
  }

  /** Returns whether `one` comes before `other`, given that their first `shared` bytes are equal. */
  #isBefore(one: number, other: number, shared = 0): boolean {
    const { bytes } = this;
    let at = this.#starts[one]! + shared;
    let beside = this.#starts[other]! + shared;
    while (bytes[at] === bytes[beside] && bytes[at] !== 0) {
      at++;
      beside++;
    }
    return bytes[at]! < bytes[beside]!;
  }
}
