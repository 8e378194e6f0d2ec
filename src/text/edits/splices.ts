/**
 * The changes of an edit, in bytes: the replaced ranges of the text before it, and the lengths of their
 * replacements. They suffice to locate each edit in the end, and the lines that differ, without comparing the
 * texts.
 */

/**
 * A range of the text before, from `from` up to but not including `to`, that became `length` bytes of the
 * text after.
 */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** A range of bytes in a text, up to but not including `to`. */
export interface Region {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns both edits as one: `before` made the text that `after` was applied to. Lists are in the order of
 * the text, and no two splices of a list share a byte; in the result none touch. Past ten thousand, the last
 * one covers the rest.
 */
export function composeSplices(before: readonly Splice[], after: readonly Splice[]): Splice[] {
  const composed: Splice[] = [];
  /** Bytes that `before` has added so far. */
  let added = 0;
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const start = Math.min(startOf(before[i], added), startOf(after[j], 0));
    const from = start - added;
    let [end, growth] = [start, 0];
    for (;;) {
      const [one, other] = [before[i], after[j]];
      if (startOf(one, added) <= end) {
        end = Math.max(end, one!.from + added + one!.length);
        added += growthOf(one!);
        i++;
      } else if (startOf(other, 0) <= end) {
        end = Math.max(end, other!.to);
        growth += growthOf(other!);
        j++;
      } else break;
    }
    composed.push({ from, to: end - added, length: end - start + growth });
  }
  return joinTail(composed);
}

/** Maximum splices that a list keeps apart. */
const maxSplices = 10_000;

function joinTail(splices: Splice[]): Splice[] {
  const tail = splices.slice(maxSplices);
  return tail.length === 0 ? splices : [...splices.slice(0, maxSplices), tail.reduce(joinSplices)];
}

/** Returns two splices of one list as one, including the bytes between them. */
export const joinSplices = (first: Splice, next: Splice): Splice => ({
  from: first.from,
  to: next.to,
  length: first.length + next.from - first.to + next.length,
});

const startOf = (splice: Splice | undefined, added: number): number =>
  splice === undefined ? Number.POSITIVE_INFINITY : splice.from + added;

const growthOf = ({ from, to, length }: Splice): number => length - (to - from);

/**
 * Returns a region of the text before the edit as a region of the text after it. Text inserted at its ends is
 * not part of it.
 */
export function regionAfter(region: Region, splices: readonly Splice[]): Region {
  let [from, to] = [region.from, region.to];
  let added = 0;
  for (const splice of splices) {
    if (splice.from > region.to) break;
    const start = splice.from + added;
    if (region.from >= splice.to) from += growthOf(splice);
    else if (region.from > splice.from) from = start;
    if (region.to > splice.from) to = region.to >= splice.to ? to + growthOf(splice) : start + splice.length;
    added += growthOf(splice);
  }
  return { from, to: Math.max(from, to) };
}
