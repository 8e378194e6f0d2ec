import type { Form } from "./forms.ts";
import { type ByteSet, rarityOf } from "./rarity.ts";
import { layout } from "./routines.ts";

/** Forms that are looked for together, made ready for the kernel. */
export interface Shape {
  /** Characters of the shortest form, and of the longest. */
  readonly length: number;
  readonly depth: number;
  /** Positions in the shortest form that are compared first: the rarest. */
  readonly rare: readonly [number, number];
  /** A byte past ASCII may stand somewhere in it. */
  readonly isOpen: boolean;
  /** For each position, of each byte, which forms (a bit each) may have it there. */
  readonly table: Uint8Array;
  /** What the kernel compares the rare positions with: 32 bytes for each. */
  readonly tests: Uint8Array;
  /** It compares with ranges, which is faster, and not by the halves of bytes. */
  readonly areRanges: boolean;
}

const lastAscii = 0x7f;
const formBits = 8;

/** The shape of these forms, none of them empty or longer than the kernel takes; more than eight share their bits. */
export function shapeOf(forms: readonly Form[]): Shape {
  const length = Math.min(...forms.map((form) => form.length));
  const depth = Math.max(...forms.map((form) => form.length));
  const table = new Uint8Array(depth << 8);
  for (const [index, form] of forms.entries()) {
    const bit = 1 << (index % formBits);
    for (let position = 0; position < depth; position++) {
      const set = form[position];
      for (let byte = 0; byte < 256; byte++) {
        // Past its end a form does not say what follows.
        if (set === undefined || set[byte] === 1) table[(position << 8) + byte]! |= bit;
      }
    }
  }
  const rare = rarest(forms, length);
  const bits = rare.map((position) => table.subarray(position << 8, (position << 8) + lastAscii + 1));
  const ranges = bits.map(rangeOf);
  const areRanges = ranges.reduce((sum, range) => sum + rarityOf(setOf(range)), 0) > enoughBits;
  return {
    length,
    depth,
    rare,
    isOpen: forms.some((form) => form.some((set) => set.includes(1, lastAscii + 1))),
    table,
    tests: Uint8Array.from(areRanges ? ranges.flatMap(spread) : bits.flatMap(halvesOf)),
    areRanges,
  };
}

/** Ranges this rare together let so few places through that looking at those costs less than the other comparison. */
const enoughBits = 7;

type ByteRange = readonly [first: number, last: number];

/** From the first to the last of the bytes that any form may have. */
function rangeOf(bits: Uint8Array): ByteRange {
  const first = bits.findIndex((forms) => forms !== 0);
  return first < 0 ? [0, 0] : [first, bits.findLastIndex((forms) => forms !== 0)];
}

const setOf = ([first, last]: ByteRange): ByteSet => new Uint8Array(256).fill(1, first, last + 1);

const spread = ([first, last]: ByteRange): number[] => [
  ...new Array<number>(16).fill(first),
  ...new Array<number>(16).fill(last - first),
];

/** Of each lower, then of each upper half of a byte, the forms that may have it. */
function halvesOf(bits: Uint8Array): number[] {
  const halves = new Array<number>(32).fill(0);
  for (const [byte, forms] of bits.entries()) {
    halves[byte & 0x0f]! |= forms;
    halves[16 + (byte >> 4)]! |= forms;
  }
  return halves;
}

/** Two positions, or the only one twice; of equally rare ones the last, as neighbours are alike. */
function rarest(forms: readonly Form[], length: number): [number, number] {
  const bits = (position: number) => Math.min(...forms.map((form) => rarityOf(form[position]!)));
  const positions = Array.from({ length }, (_, position) => position);
  const [first = 0, ...others] = positions.sort((one, other) => bits(other) - bits(one));
  const most = bits(others[0] ?? first);
  const second = others.filter((position) => bits(position) === most).pop();
  return [first, second ?? first];
}

export const longestForm = layout.longestShape;
