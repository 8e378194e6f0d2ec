import type { Steps } from "./time-slice.ts";

/** Maximum items that are sorted at once, and merged in one step. */
export const chunk = 2048;

/** Maximum items that insertion sort sorts faster than the runtime does. */
const few = 24;

/**
 * Returns the items in order, sorting in steps: chunks one by one, then merging pairs. A few items are sorted
 * at once, in place. `isBefore` must never be true both ways.
 */
export function* mergeSort<T>(items: T[], isBefore: (one: T, other: T) => boolean): Steps<T[]> {
  const sorted = sortChunk(items, isBefore);
  if (sorted !== undefined) return sorted;
  const compare = (one: T, other: T) => (isBefore(one, other) ? -1 : 1);
  let from: T[] = [];
  for (let start = 0; start < items.length; start += chunk) {
    for (const item of items.slice(start, start + chunk).sort(compare)) from.push(item);
    yield;
  }
  let to = items;
  for (let width = chunk; width < items.length; width *= 2) {
    yield* mergeRuns({ from, to, width, isBefore });
    [from, to] = [to, from];
  }
  return from;
}

/** Sorts the items in place if they fit into one step, else returns `undefined`. */
export function sortChunk<T>(items: T[], isBefore: (one: T, other: T) => boolean): T[] | undefined {
  if (items.length > chunk) return undefined;
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
}

/** Merges each pair of adjacent runs in `from` into one run in `to`. */
function* mergeRuns<T>({ from, to, width, isBefore }: Merge<T>): Steps<void> {
  for (let start = 0; start < from.length; start += 2 * width) {
    const middle = Math.min(start + width, from.length);
    const end = Math.min(start + 2 * width, from.length);
    for (let at = start, one = start, other = middle; at < end; at++) {
      const isFirst = other === end || (one < middle && !isBefore(from[other]!, from[one]!));
      to[at] = from[isFirst ? one++ : other++]!;
      if (at % chunk === chunk - 1) yield;
    }
  }
}
