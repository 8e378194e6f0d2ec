import { isAscii } from "node:buffer";
import { type Form, formsRarity } from "./forms.ts";
import { type FoldedString, type Kernel, longestFolded } from "./kernel.ts";
import { type Element, elementBits, type Required, type Sequence } from "./needles.ts";
import { byteBits, rarestPair } from "./rarity.ts";
import { AnchorSeeker, FoldedSeeker, type Seeker, ShapeSeeker } from "./seekers.ts";
import { shapeOf } from "./shape.ts";

/** Finds places where what a pattern requires stands in a text. */
export class Finder {
  /** A found place is a match of the pattern, and every match is found. */
  readonly isWhole: boolean;
  /** Bytes that `prepare` writes behind a text. */
  readonly slack: number;
  /** Of the place that `next` found last. */
  start = -1;
  end = -1;
  readonly #seekers: readonly Seeker[];
  /** Where what each seeker looks for stands next: before all places when it has not looked, behind all when nowhere. */
  readonly #starts: number[];
  readonly #ends: number[];
  /** So many passes over a text are spared when it is ASCII. */
  readonly #foreign: number;

  constructor(seekers: readonly Seeker[], isWhole: boolean) {
    this.#seekers = seekers;
    this.#starts = seekers.map(() => unknown);
    this.#ends = seekers.map(() => unknown);
    this.#foreign = seekers.filter(({ isForeign }) => isForeign).length;
    this.isWhole = isWhole;
    this.slack = seekers.reduce((sum, { sentinel }) => sum + sentinel.length, 0);
  }

  /** Forgets the last text. Writes behind the newline that follows `text[0, length)` what ends the searches of it. */
  prepare(text: Buffer, length: number): void {
    const isPlain = this.#foreign > 1 && isAscii(text.subarray(0, length));
    let at = length + 1;
    for (let i = 0; i < this.#seekers.length; i++) {
      const seeker = this.#seekers[i]!;
      at += seeker.sentinel.copy(text, at);
      seeker.begin?.(text, length);
      this.#starts[i] = isPlain && seeker.isForeign ? nowhere : unknown;
    }
  }

  /** Start of the first place in `text[from, length)`, or -1. */
  next(text: Buffer, from: number, length: number): number {
    let [start, end] = [nowhere, -1];
    for (let i = 0; i < this.#seekers.length; i++) {
      if (this.#starts[i]! < from) {
        const seeker = this.#seekers[i]!;
        const found = seeker.seek(text, from, length);
        this.#starts[i] = found < 0 ? nowhere : found;
        this.#ends[i] = seeker.end;
      }
      if (this.#starts[i]! < start) [start, end] = [this.#starts[i]!, this.#ends[i]!];
    }
    this.start = start === nowhere ? -1 : start;
    this.end = end;
    return this.start;
  }
}

const unknown = -1;
const nowhere = Number.MAX_SAFE_INTEGER;

/**
 * Nanoseconds per byte of text, roughly: one pass of `indexOf` and what it takes where the first byte stands, the kernel
 * for a string, a look at what stands around an anchor, the kernel for forms, a line that is matched, and the engine on
 * all of the text. Only their ratios matter.
 */
const passCost = 0.02;
const firstByteCost = 4;
const foldCost = 0.07;
const lookCost = 30;
const formsCost = 0.1;
const lineCost = 300;
const scanCost = 1.2;

/** Strings that are spelled out for one sequence, and elements that they are made of. */
const mostAnchors = 12;
const mostElements = 8;

/** What is known of every match of a pattern. */
export interface Clues {
  readonly required: Required | undefined;
  readonly forms: readonly Form[] | undefined;
}

/** A finder of what every match contains, or undefined when it would be slower than the engine on all of the text. */
export function openFinder({ required, forms }: Clues, kernel: Kernel | undefined): Finder | undefined {
  const heads = required && headsOf(required);
  const bySequences = heads && waysTo(heads, kernel);
  const byForms = forms && kernel && wayToForms(forms, kernel);
  const way = cheaper(bySequences ?? noWay, byForms ?? noWay);
  if (way.cost > scanCost) return undefined;
  return new Finder(way.seekers, way === bySequences && heads?.isWhole === true);
}

/** Strings and sequences are looked for by no more than so many bytes and elements: longer ones are no rarer. */
const longestString = 256;
const longestSequence = 64;

/** A finder of exactly this text. */
export function finderOf(text: string, kernel: Kernel | undefined): Finder {
  const string = Buffer.from(text).toString("latin1");
  const [head, tail] = [string.slice(0, longestString), string.slice(longestString)];
  const seekers = tail === "" ? wayTo([[head]], kernel).seekers : [new AnchorSeeker(head, [], [[tail]])];
  return new Finder(seekers, true);
}

function waysTo({ sequences, isWhole }: Required, kernel: Kernel | undefined): Way {
  const ways = sequences.map((sequence) => wayTo(sequence, kernel));
  const lines = isWhole ? 0 : sequences.reduce((sum, sequence) => sum + share(sequence), 0) * lineCost;
  return {
    cost: ways.reduce((sum, way) => sum + way.cost, lines),
    seekers: ways.flatMap(({ seekers }) => seekers),
  };
}

const headsOf = ({ sequences, isWhole }: Required): Required => ({
  sequences: sequences.map(headOf),
  isWhole: isWhole && sequences.every(isShort),
});

/** What every place of the sequence starts with. */
function headOf(sequence: Sequence): Sequence {
  const long = sequence.findIndex((element) => !isShort([element]));
  const end = Math.min(longestSequence, long < 0 ? sequence.length : long + 1);
  return sequence.slice(0, end).map((element) => element.map((string) => string.slice(0, longestString)));
}

const isShort = (sequence: Sequence): boolean =>
  sequence.length <= longestSequence &&
  sequence.every((element) => element.every(({ length }) => length <= longestString));

const wayTo = (sequence: Sequence, kernel: Kernel | undefined): Way =>
  cheaper(spellOut(sequence), fold(sequence, kernel));

function wayToForms(forms: readonly Form[], kernel: Kernel): Way {
  const lines = 2 ** -formsRarity(forms) * lineCost;
  return { cost: formsCost + lines, seekers: [new ShapeSeeker(kernel, shapeOf(forms))] };
}

/** The share of places where a sequence stands. */
const share = (sequence: Sequence): number =>
  2 ** -sequence.reduce((bits, element) => bits + elementBits(element), 0);

/** Seekers that together find all places of a sequence. */
interface Way {
  readonly cost: number;
  readonly seekers: readonly Seeker[];
}

const cheaper = (one: Way, other: Way): Way => (other.cost < one.cost ? other : one);
const noWay: Way = { cost: Number.POSITIVE_INFINITY, seekers: [] };

/** By every string of that part of the sequence which is cheapest to look for. */
function spellOut(sequence: Sequence): Way {
  let best = noWay;
  for (let from = 0; from < sequence.length; from++) {
    for (let to = from + 1; to <= Math.min(sequence.length, from + mostElements); to++) {
      const window = sequence.slice(from, to);
      if (window.reduce((product, { length }) => product * length, 1) > mostAnchors) break;
      const strings = stringsOf(window);
      const passes = strings.reduce((sum, string) => sum + indexCost(string), 0);
      const cost = passes + share(window) * lookCost;
      if (cost < best.cost) best = { cost, seekers: anchors(sequence, { from, to, strings }) };
    }
  }
  return best;
}

const indexCost = (string: string): number =>
  passCost + firstByteCost * 2 ** -byteBits[string.charCodeAt(rarestPair(Buffer.from(string, "latin1"))[0])]!;

/** Every string that a sequence stands for. */
function stringsOf(sequence: Sequence): string[] {
  return sequence.reduce<string[]>(
    (starts, element) => starts.flatMap((start) => element.map((string) => start + string)),
    [""],
  );
}

function anchors(
  sequence: Sequence,
  { from, to, strings }: { from: number; to: number; strings: Element },
): Seeker[] {
  return strings.map((string) => new AnchorSeeker(string, sequence.slice(0, from), sequence.slice(to)));
}

/**
 * By its form in ASCII, whatever the case, and by each character past ASCII that may stand in it: U+212A folds to k, and
 * U+017F to s.
 */
function fold(sequence: Sequence, kernel: Kernel | undefined): Way {
  const string = foldedString(sequence);
  if (kernel === undefined || string === undefined) return noWay;
  const foreign = sequence.flatMap((element, from) =>
    anchors(sequence, { from, to: from + 1, strings: element.filter((string) => !isPlain(string)) }),
  );
  const cost = foldCost + foreign.length * passCost;
  return { cost, seekers: [new FoldedSeeker(kernel, string), ...foreign] };
}

const isPlain = (string: string): boolean => /^[\0-\x7f]*$/.test(string);

/** The ASCII strings of a sequence as one, if they differ in nothing but case. */
function foldedString(sequence: Sequence): FoldedString | undefined {
  const bytes: number[] = [];
  const folds: number[] = [];
  for (const element of sequence) {
    const [lower, upper, ...more] = element.filter(isPlain).sort().reverse();
    if (lower === undefined || more.length > 0) return undefined;
    const isFolded = upper !== undefined;
    if (isFolded && (lower.length > 1 || upper !== lower.toUpperCase() || upper === lower)) return undefined;
    bytes.push(...Buffer.from(lower));
    folds.push(...new Array<number>(lower.length).fill(isFolded ? 0x20 : 0));
  }
  if (bytes.length > longestFolded) return undefined;
  return {
    bytes: Uint8Array.from(bytes),
    folds: Uint8Array.from(folds),
    isExact: !folds.includes(0x20),
    rare: rarestPair(bytes),
  };
}
