import { isAscii } from "node:buffer";
import { type ByteClassSeq, byteClassRarity } from "./byte-classes.ts";
import { byteBits, packedPair } from "./byte-frequency.ts";
import { type InnerLiterals, type LiteralSeq, type Literals, literalBits } from "./inner-literals.ts";
import { type FoldedString, longestFolded, type SearchKernel } from "./kernel.ts";
import { CaseFoldSearcher, MemmemSearcher, type PrefilterSearcher, TeddySearcher } from "./searchers.ts";
import { teddyMasksOf } from "./teddy.ts";

/** Finds places where what a pattern requires stands in a text. */
export class Prefilter {
  /** A found place is a match of the pattern, and every match is found. */
  readonly isWhole: boolean;
  /** Bytes that `prepare` writes behind a text. */
  readonly slack: number;
  /** Of the place that `next` found last. */
  start = -1;
  end = -1;
  readonly #searchers: readonly PrefilterSearcher[];
  /** Where what each seeker looks for stands next: before all places when it has not looked, behind all when nowhere. */
  readonly #starts: number[];
  readonly #ends: number[];
  /** So many passes over a text are spared when it is ASCII. */
  readonly #nonAscii: number;

  constructor(searchers: readonly PrefilterSearcher[], isWhole: boolean) {
    this.#searchers = searchers;
    this.#starts = searchers.map(() => unknown);
    this.#ends = searchers.map(() => unknown);
    this.#nonAscii = searchers.filter(({ isNonAscii: isForeign }) => isForeign).length;
    this.isWhole = isWhole;
    this.slack = searchers.reduce((sum, { sentinel }) => sum + sentinel.length, 0);
  }

  /** Forgets the last text. Writes behind the newline that follows `text[0, length)` what ends the searches of it. */
  prepare(text: Buffer, length: number): void {
    const isAsciiOnly = this.#nonAscii > 1 && isAscii(text.subarray(0, length));
    let at = length + 1;
    for (let i = 0; i < this.#searchers.length; i++) {
      const searcher = this.#searchers[i]!;
      at += searcher.sentinel.copy(text, at);
      searcher.begin?.(text, length);
      this.#starts[i] = isAsciiOnly && searcher.isNonAscii ? nowhere : unknown;
    }
  }

  /** Start of the first place in `text[from, length)`, or -1. */
  next(text: Buffer, from: number, length: number): number {
    let [start, end] = [nowhere, -1];
    for (let i = 0; i < this.#searchers.length; i++) {
      if (this.#starts[i]! < from) {
        const searcher = this.#searchers[i]!;
        const found = searcher.find(text, from, length);
        this.#starts[i] = found < 0 ? nowhere : found;
        this.#ends[i] = searcher.end;
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
const maxLiterals = 12;
const maxLiteralLength = 8;

/** What is known of every match of a pattern. */
export interface PrefilterSource {
  readonly required: InnerLiterals | undefined;
  readonly forms: readonly ByteClassSeq[] | undefined;
}

/** A finder of what every match contains, or undefined when it would be slower than the engine on all of the text. */
export function choosePrefilter(
  { required, forms }: PrefilterSource,
  kernel: SearchKernel | undefined,
): Prefilter | undefined {
  const prefixes = required && prefixesOf(required);
  const bySequences = prefixes && strategyForAll(prefixes, kernel);
  const byForms = forms && kernel && strategyForClasses(forms, kernel);
  const strategy = cheaper(bySequences ?? noStrategy, byForms ?? noStrategy);
  if (strategy.cost > scanCost) return undefined;
  return new Prefilter(strategy.searchers, strategy === bySequences && prefixes?.isWhole === true);
}

/** Strings and sequences are looked for by no more than so many bytes and elements: longer ones are no rarer. */
const longestString = 256;
const longestSequence = 64;

/** A finder of exactly this text. */
export function literalPrefilter(text: string, kernel: SearchKernel | undefined): Prefilter {
  const string = Buffer.from(text).toString("latin1");
  const [head, tail] = [string.slice(0, longestString), string.slice(longestString)];
  const searchers =
    tail === "" ? strategyFor([[head]], kernel).searchers : [new MemmemSearcher(head, [], [[tail]])];
  return new Prefilter(searchers, true);
}

function strategyForAll({ sequences, isWhole }: InnerLiterals, kernel: SearchKernel | undefined): Strategy {
  const strategies = sequences.map((sequence) => strategyFor(sequence, kernel));
  const lines = isWhole ? 0 : sequences.reduce((sum, sequence) => sum + share(sequence), 0) * lineCost;
  return {
    cost: strategies.reduce((sum, strategy) => sum + strategy.cost, lines),
    searchers: strategies.flatMap(({ searchers }) => searchers),
  };
}

const prefixesOf = ({ sequences, isWhole }: InnerLiterals): InnerLiterals => ({
  sequences: sequences.map(prefixOf),
  isWhole: isWhole && sequences.every(isShort),
});

/** What every place of the sequence starts with. */
function prefixOf(sequence: LiteralSeq): LiteralSeq {
  const long = sequence.findIndex((element) => !isShort([element]));
  const end = Math.min(longestSequence, long < 0 ? sequence.length : long + 1);
  return sequence.slice(0, end).map((element) => element.map((string) => string.slice(0, longestString)));
}

const isShort = (sequence: LiteralSeq): boolean =>
  sequence.length <= longestSequence &&
  sequence.every((element) => element.every(({ length }) => length <= longestString));

const strategyFor = (sequence: LiteralSeq, kernel: SearchKernel | undefined): Strategy =>
  cheaper(byEnumeration(sequence), byCaseFolding(sequence, kernel));

function strategyForClasses(forms: readonly ByteClassSeq[], kernel: SearchKernel): Strategy {
  const lines = 2 ** -byteClassRarity(forms) * lineCost;
  return { cost: formsCost + lines, searchers: [new TeddySearcher(kernel, teddyMasksOf(forms))] };
}

/** The share of places where a sequence stands. */
const share = (sequence: LiteralSeq): number =>
  2 ** -sequence.reduce((bits, element) => bits + literalBits(element), 0);

/** Seekers that together find all places of a sequence. */
interface Strategy {
  readonly cost: number;
  readonly searchers: readonly PrefilterSearcher[];
}

const cheaper = (one: Strategy, other: Strategy): Strategy => (other.cost < one.cost ? other : one);
const noStrategy: Strategy = { cost: Number.POSITIVE_INFINITY, searchers: [] };

/** By every string of that part of the sequence which is cheapest to look for. */
function byEnumeration(sequence: LiteralSeq): Strategy {
  let best = noStrategy;
  for (let from = 0; from < sequence.length; from++) {
    for (let to = from + 1; to <= Math.min(sequence.length, from + maxLiteralLength); to++) {
      const window = sequence.slice(from, to);
      if (window.reduce((product, { length }) => product * length, 1) > maxLiterals) break;
      const strings = stringsOf(window);
      const passes = strings.reduce((sum, string) => sum + indexCost(string), 0);
      const cost = passes + share(window) * lookCost;
      if (cost < best.cost) best = { cost, searchers: memmemSearchers(sequence, { from, to, strings }) };
    }
  }
  return best;
}

const indexCost = (string: string): number =>
  passCost + firstByteCost * 2 ** -byteBits[string.charCodeAt(packedPair(Buffer.from(string, "latin1"))[0])]!;

/** Every string that a sequence stands for. */
function stringsOf(sequence: LiteralSeq): string[] {
  return sequence.reduce<string[]>(
    (starts, element) => starts.flatMap((start) => element.map((string) => start + string)),
    [""],
  );
}

function memmemSearchers(
  sequence: LiteralSeq,
  { from, to, strings }: { from: number; to: number; strings: Literals },
): PrefilterSearcher[] {
  return strings.map((string) => new MemmemSearcher(string, sequence.slice(0, from), sequence.slice(to)));
}

/**
 * By its form in ASCII, whatever the case, and by each character past ASCII that may stand in it: U+212A folds to k, and
 * U+017F to s.
 */
function byCaseFolding(sequence: LiteralSeq, kernel: SearchKernel | undefined): Strategy {
  const string = foldedString(sequence);
  if (kernel === undefined || string === undefined) return noStrategy;
  const nonAscii = sequence.flatMap((element, from) =>
    memmemSearchers(sequence, {
      from,
      to: from + 1,
      strings: element.filter((string) => !isAsciiOnly(string)),
    }),
  );
  const cost = foldCost + nonAscii.length * passCost;
  return { cost, searchers: [new CaseFoldSearcher(kernel, string), ...nonAscii] };
}

const isAsciiOnly = (string: string): boolean => /^[\0-\x7f]*$/.test(string);

/** The ASCII strings of a sequence as one, if they differ in nothing but case. */
function foldedString(sequence: LiteralSeq): FoldedString | undefined {
  const bytes: number[] = [];
  const folds: number[] = [];
  for (const element of sequence) {
    const [lower, upper, ...more] = element.filter(isAsciiOnly).sort().reverse();
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
    rare: packedPair(bytes),
  };
}
