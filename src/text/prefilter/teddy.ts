import type { ByteClassSeq } from "./byte-classes.ts";
import { type ByteClass, rarityOf } from "./byte-frequency.ts";

/**
 * The comparisons that the kernel makes with sixteen bytes at once, the fastest first: with one byte; with a
 * range, by its first byte and its length; or by nibbles, with the buckets that may have each.
 */
export type Fingerprint = "byte" | "range" | "nibbles";

/**
 * Sequences of byte classes in the form that the kernel searches for all at once, after aho-corasick's Teddy.
 */
export interface TeddyMasks {
  /** The lengths of the shortest and the longest sequence, in characters. */
  readonly minLength: number;
  readonly maxLength: number;
  /** The packed pair: positions of the two rarest classes in the shortest sequence. */
  readonly pair: readonly [number, number];
  /** Whether a sequence may contain a non-ASCII byte. */
  readonly hasNonAscii: boolean;
  /** For each position and each byte, the bits of the buckets that may have it there. */
  readonly buckets: Uint8Array;
  /**
   * The vectors that the kernel compares with: 32 bytes for each position of the pair, and 48 for the first
   * byte.
   */
  readonly vectors: Uint8Array;
  readonly fingerprint: Fingerprint;
}

const lastAscii = 0x7f;
const bucketCount = 8;

/**
 * Returns the masks of these sequences, which are not empty or longer than `maxTeddyLength`. More than eight
 * share buckets.
 */
export function teddyMasksOf(seqs: readonly ByteClassSeq[]): TeddyMasks {
  const minLength = Math.min(...seqs.map((seq) => seq.length));
  const maxLength = Math.max(...seqs.map((seq) => seq.length));
  const buckets = new Uint8Array(maxLength << 8);
  for (const [index, seq] of seqs.entries()) {
    const bit = 1 << (index % bucketCount);
    for (let position = 0; position < maxLength; position++) {
      const set = seq[position];
      for (let byte = 0; byte < 256; byte++) {
        // Any byte may follow a sequence.
        if (set === undefined || set[byte] === 1) buckets[(position << 8) + byte]! |= bit;
      }
    }
  }
  const pair = rarestPair(seqs, minLength);
  const bits = pair.map((position) => buckets.subarray(position << 8, (position << 8) + lastAscii + 1));
  const ranges = bits.map(rangeOf);
  const areRanges = ranges.reduce((sum, range) => sum + rarityOf(setOf(range)), 0) > selectiveBits;
  return {
    minLength,
    maxLength,
    pair,
    hasNonAscii: seqs.some((seq) => seq.some((set) => set.includes(1, lastAscii + 1))),
    buckets,
    vectors: Uint8Array.from([
      ...(areRanges ? ranges.flatMap(rangeMasks) : bits.flatMap(nibbleMasks)),
      ...firstByteMasks(buckets.subarray(0, 256)),
    ]),
    fingerprint: !areRanges ? "nibbles" : ranges.every(([first, last]) => first === last) ? "byte" : "range",
  };
}

/**
 * Minimum rarity of a pair of ranges, in bits, that passes few enough candidates for verifying them to cost
 * less than comparing nibbles.
 */
const selectiveBits = 7;

type ByteRange = readonly [first: number, last: number];

/** Returns the range from the first to the last byte that any bucket may have. */
function rangeOf(bits: Uint8Array): ByteRange {
  const first = bits.findIndex((seqs) => seqs !== 0);
  return first < 0 ? [0, 0] : [first, bits.findLastIndex((seqs) => seqs !== 0)];
}

const setOf = ([first, last]: ByteRange): ByteClass => new Uint8Array(256).fill(1, first, last + 1);

const rangeMasks = ([first, last]: ByteRange): number[] => [
  ...new Array<number>(16).fill(first),
  ...new Array<number>(16).fill(last - first),
];

/** Returns the buckets that may have each low, then each high nibble. */
function nibbleMasks(bits: Uint8Array): number[] {
  const nibbles = new Array<number>(32).fill(0);
  for (const [byte, seqs] of bits.entries()) {
    nibbles[byte & 0x0f]! |= seqs;
    nibbles[16 + (byte >> 4)]! |= seqs;
  }
  return nibbles;
}

/**
 * Returns, for each low nibble, a bit for each high nibble that a first byte may have with it: from 0 to 7,
 * then from 8 to 15. The bits of the high nibbles follow.
 */
function firstByteMasks(bits: Uint8Array): number[] {
  const [ascii, nonAscii, powers] = [0, 0, 0].map(() => new Array<number>(16).fill(0)) as [
    number[],
    number[],
    number[],
  ];
  for (let upper = 0; upper < 16; upper++) {
    const power = 1 << (upper & 7);
    powers[upper] = power;
    for (let lower = 0; lower < 16; lower++) {
      if (bits[(upper << 4) + lower] !== 0) (upper < 8 ? ascii : nonAscii)[lower]! |= power;
    }
  }
  return [...ascii, ...nonAscii, ...powers];
}

/**
 * Returns the two rarest positions, or the only one twice. Among equally rare ones it takes the last, since
 * neighbours correlate.
 */
function rarestPair(seqs: readonly ByteClassSeq[], length: number): [number, number] {
  const bits = (position: number) => Math.min(...seqs.map((seq) => rarityOf(seq[position]!)));
  const positions = Array.from({ length }, (_, position) => position);
  const [first = 0, ...others] = positions.sort((one, other) => bits(other) - bits(one));
  const most = bits(others[0] ?? first);
  const second = others.filter((position) => bits(position) === most).pop();
  return [first, second ?? first];
}
