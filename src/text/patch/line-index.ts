/** Finds some lines among those of a file, in time linear in both, whatever they are. */
import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { LineTable } from "./line-table.ts";
import { comparedFrom, comparedTo, type Matching } from "./matching.ts";

/** Numbers of lines between two steps, and compared ones. */
const [idsPerStep, comparisonsPerStep] = [262_144, 32_768];

/** An index of the lines of a file, in which equal lines share a number. */
export class LineIndex {
  readonly matching: Matching;
  readonly #bytes: Buffer;
  readonly #ids: Int32Array;
  /** For each number, the extent of the first such line. */
  readonly #samples: Uint32Array;
  /** A hash table with open addressing, which holds numbers plus one. */
  readonly #slots: Int32Array;
  /** The lines sorted by number, and the start of each number's group. */
  #lines = new Int32Array(0);
  #bounds = new Int32Array(1);
  #count = 0;

  private constructor({ bytes, count }: LineTable, matching: Matching) {
    this.matching = matching;
    this.#bytes = bytes;
    this.#ids = new Int32Array(count);
    this.#samples = new Uint32Array(2 * count);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
  }

  static *build(table: LineTable, matching: Matching): Steps<LineIndex> {
    const index = new LineIndex(table, matching);
    const steps = new LineSteps();
    for (let line = 0; line < table.count; line++) {
      const extent = [table.startOf(line), table.endOf(line)] as const;
      if (steps.isDueAfter(extent[1] - extent[0])) yield;
      const from = comparedFrom(matching, table.bytes, extent);
      const to = comparedTo(matching, table.bytes, [from, extent[1]]);
      index.#ids[line] = index.#add(from, to);
    }
    yield;
    yield* index.#sort();
    return index;
  }

  /**
   * Returns the first lines of all places where these lines occur, ascending. The pattern must not be empty.
   */
  *findAll(pattern: Int32Array): Steps<number[]> {
    const rarest = this.#rarestOf(pattern);
    if (rarest < 0) return [];
    const id = pattern[rarest]!;
    const [from, to] = [this.#bounds[id]!, this.#bounds[id + 1]!];
    if ((to - from) * pattern.length > this.#mostFor(pattern)) return yield* this.#findByBorders(pattern);
    const starts: number[] = [];
    for (let at = from, compared = 0; at < to; at++) {
      const start = this.#lines[at]! - rarest;
      if (this.#isAt(pattern, start)) starts.push(start);
      compared += pattern.length;
      if (compared < comparisonsPerStep) continue;
      yield;
      compared = 0;
    }
    return starts;
  }

  /** Returns the number of comparisons that `findAll` makes. */
  costOf(pattern: Int32Array): number {
    const rarest = this.#rarestOf(pattern);
    if (rarest < 0) return 0;
    const id = pattern[rarest]!;
    return Math.min((this.#bounds[id + 1]! - this.#bounds[id]!) * pattern.length, this.#mostFor(pattern));
  }

  #mostFor(pattern: Int32Array): number {
    return 2 * (this.#ids.length + pattern.length);
  }

  /** Returns the number of a line, or -1 if the file has none like it. */
  idOf(bytes: Buffer, extent: readonly [number, number]): number {
    const from = comparedFrom(this.matching, bytes, extent);
    const to = comparedTo(this.matching, bytes, [from, extent[1]]);
    return this.#slots[this.#slotOf(bytes, from, to)]! - 1;
  }

  #add(from: number, to: number): number {
    const slot = this.#slotOf(this.#bytes, from, to);
    const known = this.#slots[slot]! - 1;
    if (known >= 0) return known;
    this.#samples[2 * this.#count] = from;
    this.#samples[2 * this.#count + 1] = to;
    this.#slots[slot] = this.#count + 1;
    return this.#count++;
  }

  /** Returns the slot that holds, or should hold, the number of such a line. */
  #slotOf(bytes: Buffer, from: number, to: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(bytes, from, to) & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]! - 1;
      if (id < 0 || this.#isSample(id, bytes, [from, to])) return slot;
    }
  }

  #isSample(id: number, bytes: Buffer, [from, to]: readonly [number, number]): boolean {
    const start = this.#samples[2 * id]!;
    if (this.#samples[2 * id + 1]! - start !== to - from) return false;
    for (let at = 0; at < to - from; at++) if (this.#bytes[start + at] !== bytes[from + at]) return false;
    return true;
  }

  /** Sorts the lines by number, with a counting sort. */
  *#sort(): Steps<void> {
    this.#bounds = new Int32Array(this.#count + 2);
    for (let line = 0; line < this.#ids.length; line++) {
      if (line % idsPerStep === idsPerStep - 1) yield;
      this.#bounds[this.#ids[line]! + 2]!++;
    }
    for (let id = 2; id <= this.#count; id++) this.#bounds[id]! += this.#bounds[id - 1]!;
    this.#lines = new Int32Array(this.#ids.length);
    for (let line = 0; line < this.#ids.length; line++) {
      if (line % idsPerStep === idsPerStep - 1) yield;
      this.#lines[this.#bounds[this.#ids[line]! + 1]!++] = line;
    }
  }

  /** Returns the index of the pattern's line that the file has least often, or -1 if it lacks one. */
  #rarestOf(pattern: Int32Array): number {
    let [rarest, fewest] = [-1, Number.POSITIVE_INFINITY];
    for (let at = 0; at < pattern.length; at++) {
      const id = pattern[at]!;
      if (id < 0) return -1;
      const times = this.#bounds[id + 1]! - this.#bounds[id]!;
      if (times < fewest) [rarest, fewest] = [at, times];
    }
    return rarest;
  }

  #isAt(pattern: Int32Array, start: number): boolean {
    if (start < 0 || start + pattern.length > this.#ids.length) return false;
    for (let at = 0; at < pattern.length; at++) if (this.#ids[start + at] !== pattern[at]) return false;
    return true;
  }

  /** Searches after Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977. */
  *#findByBorders(pattern: Int32Array): Steps<number[]> {
    const borders = yield* bordersOf(pattern);
    const starts: number[] = [];
    for (let line = 0, matched = 0; line < this.#ids.length; line++) {
      if (line % idsPerStep === idsPerStep - 1) yield;
      while (matched > 0 && pattern[matched] !== this.#ids[line]) matched = borders[matched]!;
      if (pattern[matched] === this.#ids[line]) matched++;
      if (matched === pattern.length) starts.push(line - matched + 1);
    }
    return starts;
  }
}

/** Returns, for each length of a partial match, the longest shorter match that ends in the same place. */
function* bordersOf(pattern: Int32Array): Steps<Int32Array> {
  const borders = new Int32Array(pattern.length + 1);
  for (let length = 1, border = 0; length < pattern.length; length++) {
    if (length % idsPerStep === idsPerStep - 1) yield;
    while (border > 0 && pattern[border] !== pattern[length]) border = borders[border]!;
    if (pattern[border] === pattern[length]) border++;
    borders[length + 1] = border;
  }
  return borders;
}

/** A random seed, so that no caller can construct lines that share a hash. */
const seed = Math.floor(Math.random() * 2 ** 32);

/** Hashes with FNV-1a and a seed, finished like MurmurHash3, since low bits choose the slot. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = seed;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
