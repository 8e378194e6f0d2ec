import type { ByteClassSeq } from "./byte-classes.ts";
import { type ByteClass, rarityOf } from "./byte-frequency.ts";

/**
 * How sixteen bytes are tested: each against one byte; against a range, of which the first byte and the length are told;
 * or by its halves, of each of which the forms are told that may have it. The former are faster.
 */
export type Fingerprint = "byte" | "range" | "halves";

/** Forms that are looked for together, made ready for the kernel. */
export interface TeddyMasks {
  /** Characters of the shortest form, and of the longest. */
  readonly length: number;
  readonly depth: number;
  /** Positions in the shortest form that are compared first: the rarest. */
  readonly rare: readonly [number, number];
  /** A byte past ASCII may stand somewhere in it. */
  readonly isOpen: boolean;
  /** For each position, of each byte, which forms (a bit each) may have it there. */
  readonly table: Uint8Array;
  /** What the kernel compares with: 32 bytes for each rare position, and 48 for the first one. */
  readonly tests: Uint8Array;
  /** How it compares them. */
  readonly test: Fingerprint;
}

const lastAscii = 0x7f;
const formBits = 8;

/** The shape of these forms, none of them empty or longer than the kernel takes; more than eight share their bits. */
export function teddyMasksOf(seqs: readonly ByteClassSeq[]): TeddyMasks {
  const length = Math.min(...seqs.map((seq) => seq.length));
  const depth = Math.max(...seqs.map((seq) => seq.length));
  const table = new Uint8Array(depth << 8);
  for (const [index, seq] of seqs.entries()) {
    const bit = 1 << (index % formBits);
    for (let position = 0; position < depth; position++) {
      const set = seq[position];
      for (let byte = 0; byte < 256; byte++) {
        // Past its end a form does not say what follows.
        if (set === undefined || set[byte] === 1) table[(position << 8) + byte]! |= bit;
      }
    }
  }
  const rare = rarest(seqs, length);
  const bits = rare.map((position) => table.subarray(position << 8, (position << 8) + lastAscii + 1));
  const ranges = bits.map(rangeOf);
  const areRanges = ranges.reduce((sum, range) => sum + rarityOf(setOf(range)), 0) > enoughBits;
  return {
    length,
    depth,
    rare,
    isOpen: seqs.some((seq) => seq.some((set) => set.includes(1, lastAscii + 1))),
    table,
    tests: Uint8Array.from([
      ...(areRanges ? ranges.flatMap(spread) : bits.flatMap(nibblesOf)),
      ...startsOf(table.subarray(0, 256)),
    ]),
    test: !areRanges ? "halves" : ranges.every(([first, last]) => first === last) ? "byte" : "range",
  };
}

/** Ranges this rare together let so few places through that looking at those costs less than the other comparison. */
const enoughBits = 7;

type ByteRange = readonly [first: number, last: number];

/** From the first to the last of the bytes that any form may have. */
function rangeOf(bits: Uint8Array): ByteRange {
  const first = bits.findIndex((seqs) => seqs !== 0);
  return first < 0 ? [0, 0] : [first, bits.findLastIndex((seqs) => seqs !== 0)];
}

const setOf = ([first, last]: ByteRange): ByteClass => new Uint8Array(256).fill(1, first, last + 1);

const spread = ([first, last]: ByteRange): number[] => [
  ...new Array<number>(16).fill(first),
  ...new Array<number>(16).fill(last - first),
];

/** Of each lower, then of each upper half of a byte, the forms that may have it. */
function nibblesOf(bits: Uint8Array): number[] {
  const nibbles = new Array<number>(32).fill(0);
  for (const [byte, seqs] of bits.entries()) {
    nibbles[byte & 0x0f]! |= seqs;
    nibbles[16 + (byte >> 4)]! |= seqs;
  }
  return nibbles;
}

/**
 * Of each lower half of a byte, the upper halves that a form's first byte may have beside it, a bit each: from 0 to 7,
 * then from 8 to 15. At last the bit of each upper half.
 */
function startsOf(bits: Uint8Array): number[] {
  const [ascii, past, powers] = [0, 0, 0].map(() => new Array<number>(16).fill(0)) as [
    number[],
    number[],
    number[],
  ];
  for (let upper = 0; upper < 16; upper++) {
    const power = 1 << (upper & 7);
    powers[upper] = power;
    for (let lower = 0; lower < 16; lower++) {
      if (bits[(upper << 4) + lower] !== 0) (upper < 8 ? ascii : past)[lower]! |= power;
    }
  }
  return [...ascii, ...past, ...powers];
}

/** Two positions, or the only one twice; of equally rare ones the last, as neighbours are alike. */
function rarest(seqs: readonly ByteClassSeq[], length: number): [number, number] {
  const bits = (position: number) => Math.min(...seqs.map((seq) => rarityOf(seq[position]!)));
  const positions = Array.from({ length }, (_, position) => position);
  const [first = 0, ...others] = positions.sort((one, other) => bits(other) - bits(one));
  const most = bits(others[0] ?? first);
  const second = others.filter((position) => bits(position) === most).pop();
  return [first, second ?? first];
}
