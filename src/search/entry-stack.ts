import type { EntryKind } from "../jail/kind.ts";
import { mergeSort } from "../scheduling/merge-sort.ts";
import type { Steps } from "../scheduling/time-slice.ts";
import { NameBuffer } from "./name-buffer.ts";

/** Bytes of names that there is room for at first. */
const firstBytes = 16 * 1024;

/** Names that are compared with the first one in a step. */
const comparedPerStep = 16 * 1024;

/** So many are sorted by insertion, which is faster for few. */
const few = 24;

/**
 * The entries of the folders on the way of a walk, those of the deepest on top. Names stay the bytes they are on disk: as
 * strings, most of which nobody ever looks at, they would cost more than all else that a walk does in JavaScript.
 */
export class EntryStack {
  readonly #names = new NameBuffer(firstBytes);
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #kinds: EntryKind[] = [];
  /** The numbers of the entries above, folder by folder in the order they are asked for. */
  readonly #order: number[] = [];

  /** Where the names are. */
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

  /** Puts the entries from the place `from` on in the order of the paths below them: a folder's go on with "/". */
  *sort(from: number): Steps<void> {
    const order = this.#order;
    if (order.length - from <= few) {
      this.#sortFew(from);
      return;
    }
    const shared = yield* this.#shared(from);
    const sorted = yield* mergeSort(order.slice(from), (one, other) => this.#isBefore(one, other, shared));
    for (let i = 0; i < sorted.length; i++) order[from + i] = sorted[i]!;
  }

  #sortFew(from: number): void {
    const order = this.#order;
    for (let i = from + 1; i < order.length; i++) {
      const entry = order[i]!;
      let at = i;
      for (; at > from && this.#isBefore(entry, order[at - 1]!); at--) order[at] = order[at - 1]!;
      order[at] = entry;
    }
  }

  /** Takes away what was added after there were `size` entries. */
  drop(size: number): void {
    if (size === this.size) return;
    this.#names.end = this.#starts[size]!;
    this.#order.length = this.#starts.length = this.#ends.length = this.#kinds.length = size;
  }

  kind(place: number): EntryKind {
    return this.#kinds[this.#order[place]!]!;
  }

  /** Where the name of an entry starts in `bytes`. */
  start(place: number): number {
    return this.#starts[this.#order[place]!]!;
  }

  end(place: number): number {
    return this.#ends[this.#order[place]!]!;
  }

  /** Bytes with which all names from the place on begin: names of many files, made by programs, differ at their ends. */
  *#shared(from: number): Steps<number> {
    const { bytes } = this;
    const first = this.start(from);
    let shared = this.end(from) - first;
    for (let place = from + 1; place < this.size; place++) {
      const start = this.start(place);
      let length = 0;
      while (length < shared && bytes[start + length] === bytes[first + length]) length++;
      shared = length;
      if (place % comparedPerStep === 0) yield;
    }
    return shared;
  }

  /** Of names of which so many bytes are known to be the same. */
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
