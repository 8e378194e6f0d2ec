import type { CodePointRange } from "./parse.ts";

/**
 * The code points, sorted into symbols: two code points that no range separates are one symbol. A table with a
 * column for each symbol then stands for one with a column for each of a million code points.
 */
export class CharClasses {
  /** The least code point of each symbol, ascending; it can stand for the whole symbol. */
  readonly representatives: readonly number[];
  /** The symbols of the code points below 128, for loops that cannot afford a call. */
  readonly ascii: Uint16Array;

  constructor(ranges: readonly CodePointRange[]) {
    const bounds = new Set([0]);
    for (const { from, to } of ranges) bounds.add(from).add(to + 1);
    this.representatives = [...bounds].sort((a, b) => a - b);
    this.ascii = Uint16Array.from({ length: 128 }, (_, codePoint) => this.symbolOf(codePoint));
  }

  /** The symbol of a code point: an index into `representatives`. */
  symbolOf(codePoint: number): number {
    let low = 0;
    let high = this.representatives.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.representatives[middle]! <= codePoint) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
