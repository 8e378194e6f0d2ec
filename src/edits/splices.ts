/**
 * What an edit did, in bytes: which of the text before gave way, and to how many of the text after. That is enough to
 * say where each edit stands in the end, and which lines differ, without comparing the texts.
 */

/** The bytes from `from` up to, not including, `to` of the text before, which became `length` bytes of the text after. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** Some bytes of a text, up to, not including, `to`. */
export interface Region {
  readonly from: number;
  readonly to: number;
}

/**
 * Both edits as one: `before` made the text that `after` was applied to. Lists are in the order of the text, and no two
 * splices of one share a byte; in the outcome none touch.
 * Past ten thousand the last one covers all the others.
 */
export function composeSplices(before: readonly Splice[], after: readonly Splice[]): Splice[] {
  const composed: Splice[] = [];
  /** Bytes that `before` added so far. */
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

/** Splices that a list keeps apart. */
const mostSplices = 10_000;

function joinTail(splices: Splice[]): Splice[] {
  const tail = splices.slice(mostSplices);
  return tail.length === 0 ? splices : [...splices.slice(0, mostSplices), tail.reduce(joinSplices)];
}

/** Two splices of one list as one, with what lies between them. */
export const joinSplices = (first: Splice, next: Splice): Splice => ({
  from: first.from,
  to: next.to,
  length: first.length + next.from - first.to + next.length,
});

const startOf = (splice: Splice | undefined, added: number): number =>
  splice === undefined ? Number.POSITIVE_INFINITY : splice.from + added;

const growthOf = ({ from, to, length }: Splice): number => length - (to - from);

/** Where a region of the text before is after the edit. What was put in at its ends is not part of it. */
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
