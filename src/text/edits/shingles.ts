/**
 * Measures how alike two texts are, in time linear in both: by their common runs of a few bytes, called
 * shingles or n-grams, counted as often as they occur (Sørensen–Dice coefficient).
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** The size of the table of shingles, keyed by a hash of 16 bits. Collisions are rare, and do little harm. */
const tableSize = 1 << 16;

/** Maximum bytes of a shingle. */
const longest = 3;

const shinglesPerStep = 64 * 1024;

const widthFor = (bytes: number): number => Math.min(longest, bytes);

function hashAt(text: Uint8Array, at: number, width: number): number {
  let hash = 0;
  for (let i = at; i < at + width; i++) hash = (hash * 61 + text[i]!) & (tableSize - 1);
  return hash;
}

/** The likeness of two texts. */
export interface Likeness {
  /** The common share of both, from 0 to 1, which is for texts with the same shingles. */
  readonly similarity: number;
  /**
   * Like `similarity`, but extra shingles of the first text count three times as much as those of the second.
   */
  readonly coverage: number;
}

/** Compares two texts. The coverage is a Tversky index, and the similarity is its symmetric case. */
export function compareTexts(one: Uint8Array, other: Uint8Array): Likeness {
  const width = widthFor(Math.min(one.length, other.length));
  if (width === 0)
    return one.length === other.length ? { similarity: 1, coverage: 1 } : { similarity: 0, coverage: 0 };
  scratch ??= new Int32Array(tableSize);
  const counts = countShingles(one, width, scratch);
  let common = 0;
  for (let at = 0; at <= other.length - width; at++) if (counts[hashAt(other, at, width)]!-- > 0) common++;
  for (const text of [one, other])
    for (let at = 0; at <= text.length - width; at++) counts[hashAt(text, at, width)] = 0;
  const [ofOne, ofOther] = [one.length - width + 1, other.length - width + 1];
  return {
    similarity: (2 * common) / (ofOne + ofOther),
    coverage: common / (common + 0.75 * (ofOne - common) + 0.25 * (ofOther - common)),
  };
}

/**
 * A table that is all zero between two calls. Allocating one per call would take longer than the comparison.
 */
let scratch: Int32Array | undefined;

function countShingles(text: Uint8Array, width: number, counts: Int32Array): Int32Array {
  for (let at = 0; at <= text.length - width; at++) counts[hashAt(text, at, width)]!++;
  return counts;
}

/** A place in a text that resembles another text as a whole. */
export interface ShingleMatch {
  /** The first byte. The place is as long as the other text. */
  readonly start: number;
  /** The share of the shingles that it has, from 0 to 1. */
  readonly share: number;
}

/** Minimum share of shingles for a place that is worth considering. */
const minShare = 0.3;

/**
 * Returns the `most` places of `text` that share the highest number of shingles with `pattern` and do not
 * overlap, best first.
 */
export function* findLikePlaces(text: Uint8Array, pattern: Uint8Array, most: number): Steps<ShingleMatch[]> {
  const width = widthFor(pattern.length);
  if (width === 0 || text.length < width) return [];
  const wanted = pattern.length - width + 1;
  // A text that is much shorter has too few shingles.
  if (text.length - width + 1 < minShare * wanted) return [];
  const places = new BestPlaces(most, pattern.length);
  const missing = new Int32Array(tableSize);
  for (let from = 0; from < wanted; from += shinglesPerStep) {
    countShingles(pattern.subarray(from, from + shinglesPerStep + width - 1), width, missing);
    yield;
  }
  const hashes = new Uint16Array(text.length - width + 1);
  let common = 0;
  for (let at = 0; at < hashes.length; at++) {
    const hash = hashAt(text, at, width);
    hashes[at] = hash;
    if (missing[hash]!-- > 0) common++;
    const gone = at - wanted;
    if (gone >= 0 && ++missing[hashes[gone]!]! > 0) common--;
    places.add(Math.max(0, gone + 1), common / wanted);
    if (at % shinglesPerStep === shinglesPerStep - 1) yield;
  }
  return places.list();
}

/** Maximum peaks kept until the end, since some overlap better ones. */
const maxPeaks = 256;

/** Collects the best places, none of which overlap. Among adjacent places, only the peaks count. */
class BestPlaces {
  readonly #most: number;
  readonly #length: number;
  readonly #peaks: ShingleMatch[] = [];
  #last: ShingleMatch = { start: 0, share: 0 };
  #isRising = false;

  constructor(most: number, length: number) {
    this.#most = most;
    this.#length = length;
  }

  /** Adds a place. Starts must ascend. */
  add(start: number, share: number): void {
    if (share > this.#last.share) this.#isRising = true;
    else if (share < this.#last.share) this.#keepLast();
    // Among equal adjacent places, the first counts.
    if (share !== this.#last.share) this.#last = { start, share };
  }

  list(): ShingleMatch[] {
    this.#keepLast();
    const apart: ShingleMatch[] = [];
    for (const place of this.#peaks) {
      if (apart.every(({ start }) => Math.abs(start - place.start) >= this.#length)) apart.push(place);
    }
    return apart.slice(0, this.#most);
  }

  #keepLast(): void {
    const { share } = this.#last;
    const worst = this.#peaks.at(-1)?.share ?? 0;
    if (this.#isRising && share >= minShare && (share > worst || this.#peaks.length < maxPeaks)) {
      const at = this.#peaks.findIndex((peak) => peak.share < share);
      this.#peaks.splice(at < 0 ? this.#peaks.length : at, 0, this.#last);
      if (this.#peaks.length > maxPeaks) this.#peaks.pop();
    }
    this.#isRising = false;
  }
}
