import type { Steps } from "./time-slice.ts";

/** Maximum items that are sorted at once, and merged in one step. */
export const chunk = 2048;

/** Maximum items that insertion sort sorts faster than the runtime does. */
const few = 24;

/** Characters of keys that items are compared by as fast as by numbers. */
const shortKey = 256;

/** Returns how many items to sort in one step if their keys have up to this many characters. */
export const itemsPerStep = (longestKey: number): number =>
  Math.ceil((chunk * shortKey) / Math.max(shortKey, longestKey));

/**
 * Returns the items in order, sorting in steps: chunks one by one, then merging pairs. A few items are sorted
 * at once, in place. `isBefore` must never be true both ways.
 */
export function* mergeSort<T>(
  items: T[],
  isBefore: (one: T, other: T) => boolean,
  perStep = chunk,
): Steps<T[]> {
  const sorted = sortChunk(items, isBefore, perStep);
  if (sorted !== undefined) return sorted;
  const compare = (one: T, other: T) => (isBefore(one, other) ? -1 : 1);
  let from: T[] = [];
  for (let start = 0; start < items.length; start += perStep) {
    for (const item of items.slice(start, start + perStep).sort(compare)) from.push(item);
    yield;
  }
  let to = items;
  for (let width = perStep; width < items.length; width *= 2) {
    yield* mergeRuns({ from, to, width, isBefore, perStep });
    [from, to] = [to, from];
  }
  return from;
}

/** Sorts the items in place if they fit into one step, else returns `undefined`. */
export function sortChunk<T>(
  items: T[],
  isBefore: (one: T, other: T) => boolean,
  perStep = chunk,
): T[] | undefined {
  if (items.length > perStep) return undefined;
  return sortFew(items, isBefore) ?? items.sort((one, other) => (isBefore(one, other) ? -1 : 1));
}

/** Sorts the items in place if they are few, else returns `undefined`. */
function sortFew<T>(items: T[], isBefore: (one: T, other: T) => boolean): T[] | undefined {
  if (items.length > few) return undefined;
  for (let i = 1; i < items.length; i++) {
    const item = items[i]!;
    let at = i;
    for (; at > 0 && isBefore(item, items[at - 1]!); at--) items[at] = items[at - 1]!;
    items[at] = item;
  }
  return items;
}

interface Merge<T> {
  readonly from: readonly T[];
  readonly to: T[];
  /** The length of a sorted run. */
  readonly width: number;
  readonly isBefore: (one: T, other: T) => boolean;
  readonly perStep: number;
}

/** Merges each pair of adjacent runs in `from` into one run in `to`. */
function* mergeRuns<T>({ from, to, width, isBefore, perStep }: Merge<T>): Steps<void> {
  for (let start = 0; start < from.length; start += 2 * width) {
    const middle = Math.min(start + width, from.length);
    const end = Math.min(start + 2 * width, from.length);
    for (let at = start, one = start, other = middle; at < end; at++) {
      const isFirst = other === end || (one < middle && !isBefore(from[other]!, from[one]!));
      to[at] = from[isFirst ? one++ : other++]!;
      if (at % perStep === perStep - 1) yield;
    }
  }
}
