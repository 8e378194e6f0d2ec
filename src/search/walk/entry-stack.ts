import type { Name } from "../../jail/folder.ts";
import type { EntryKind } from "../../jail/kind.ts";
import { nameOf } from "../../jail/name.ts";
import { chunk, mergeSort } from "../../scheduling/merge-sort.ts";
import { runAtOnce, type Steps } from "../../scheduling/time-slice.ts";
import { NameBuffer } from "./name-buffer.ts";

/** Initial capacity for names, in bytes. */
const firstBytes = 16 * 1024;

/** Names that one step compares with the first one. */
const comparedPerStep = 16 * 1024;

/** Most entries that insertion sort orders: it is faster for few. */
const few = 24;

/**
 * A stack with the entries of a walk's open folders, those of the deepest on top. Names stay bytes as on disk: as strings,
 * most of which nothing reads, they would cost more than all else that a walk does in JavaScript.
 */
export class EntryStack {
  readonly #names = new NameBuffer(firstBytes);
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #kinds: EntryKind[] = [];
  /** Sorted indices into the arrays above, folder by folder. */
  readonly #order: number[] = [];

  /** Holds the names. */
  get bytes(): Buffer {
    return this.#names.bytes;
  }

  get size(): number {
    return this.#order.length;
  }

  /** Adds an entry of the folder on top, whose name is `bytes[from, to)`. */
  push(bytes: Buffer, from: number, to: number, kind: EntryKind): void {
    const start = this.#names.end;
    this.#order.push(this.#starts.length);
    this.#starts.push(start);
    this.#ends.push(start + to - from);
    this.#kinds.push(kind);
    this.#names.add(bytes, from, to, kind === "dir");
  }

  /** Sorts the entries from index `from` on by the paths below them: those of a folder continue with "/". */
  *sort(from: number): Steps<void> {
    const order = this.#order;
    const shared = yield* this.#commonPrefix(from);
    const sorted = yield* mergeSort(order.slice(from), (one, other) => this.#isBefore(one, other, shared));
    for (let i = 0; i < sorted.length; i++) order[from + i] = sorted[i]!;
  }

  /** Does the same at once, if that takes one step; else returns false. */
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

  /** Removes all but the first `size` entries. */
  drop(size: number): void {
    if (size === this.size) return;
    this.#names.end = this.#starts[size]!;
    this.#order.length = this.#starts.length = this.#ends.length = this.#kinds.length = size;
  }

  kind(index: number): EntryKind {
    return this.#kinds[this.#order[index]!]!;
  }

  /** Where the name of an entry starts in `bytes`. */
  start(index: number): number {
    return this.#starts[this.#order[index]!]!;
  }

  end(index: number): number {
    return this.#ends[this.#order[index]!]!;
  }

  /** The index of the first entry of the folder on top that does not come before `key`, of the sorted ones from `from` on. */
  firstNotBefore(key: Buffer, from: number): number {
    let [low, high] = [from, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.keyOf(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** By what it is sorted: its name, for a folder with "/" after it. */
  keyOf(index: number): Buffer {
    return this.bytes.subarray(this.start(index), this.end(index) + (this.kind(index) === "dir" ? 1 : 0));
  }

  /** The name of a folder, and its key with one character per byte. */
  folderAt(index: number): { readonly name: Name; readonly key: string } {
    const { bytes } = this;
    const [start, end] = [this.start(index), this.end(index)];
    const key = bytes.toString("latin1", start, end + 1);
    for (let at = start; at < end; at++)
      if (bytes[at]! >= 0x80) return { name: nameOf(bytes.subarray(start, end)), key };
    return { name: key.slice(0, -1), key };
  }

  /** Length of the common prefix of all names from `from` on: names that programs generate differ at their ends. */
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

  /** Whether `one` comes before `other`; their first `shared` bytes are known to be equal. */
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
