import type { CodePointRange } from "./parse.ts";

/**
 * Maps code points to symbols. Two code points that no range separates have the same symbol, so a table needs
 * a column for each symbol instead of one for each of a million code points.
 */
export class CharClasses {
  /** The lowest code point of each symbol, ascending, which represents it. */
  readonly representatives: readonly number[];
  /** The symbols of the code points below 256, for loops where a call costs too much. */
  readonly low: Uint16Array;

  constructor(ranges: readonly CodePointRange[]) {
    const bounds = new Set([0]);
    for (const { from, to } of ranges) bounds.add(from).add(to + 1);
    this.representatives = [...bounds].sort((a, b) => a - b);
    this.low = Uint16Array.from({ length: 256 }, (_, codePoint) => this.symbolOf(codePoint));
  }

  /** Returns the symbol of a code point, an index into `representatives`. */
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
