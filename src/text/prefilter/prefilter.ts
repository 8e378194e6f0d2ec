import { isAscii } from "node:buffer";
import type { Hir } from "../regex/hir.ts";
import { type ByteClassSeq, byteClassRarity, extractByteClasses } from "./byte-classes.ts";
import { byteBits, packedPair } from "./byte-frequency.ts";
import {
  extractInnerLiterals,
  type InnerLiterals,
  type LiteralSeq,
  type Literals,
  literalBits,
} from "./inner-literals.ts";
import { type FoldedString, maxFoldedLength, type SearchKernel } from "./kernel.ts";
import { extractPrefixLiterals } from "./prefix-literals.ts";
import { CaseFoldSearcher, MemmemSearcher, type PrefilterSearcher, TeddySearcher } from "./searchers.ts";
import { teddyMasksOf } from "./teddy.ts";

/** Finds candidates: offsets in a text where a match may start. It misses no match. */
export class Prefilter {
  /** Whether each candidate is a match. */
  readonly isWhole: boolean;
  /** The approximate nanoseconds per byte of text, including the cost of its candidates. */
  readonly cost: number;
  /** The number of bytes that `prepare` writes after a text. */
  readonly slack: number;
  /** The start of the last candidate. */
  start = -1;
  end = -1;
  readonly #searchers: readonly PrefilterSearcher[];
  /**
   * The start of each searcher's next candidate: `pending` before its first search, `none` after its last
   * candidate.
   */
  readonly #starts: number[];
  readonly #ends: number[];
  /** The number of searchers that need not run on an ASCII text. */
  readonly #nonAsciiSearchers: number;

  constructor({ searchers, cost }: Strategy, isWhole: boolean) {
    this.cost = cost;
    this.#searchers = searchers;
    this.#starts = searchers.map(() => pending);
    this.#ends = searchers.map(() => pending);
    this.#nonAsciiSearchers = searchers.filter(({ isNonAscii }) => isNonAscii).length;
    this.isWhole = isWhole;
    this.slack = searchers.reduce((sum, { sentinel }) => sum + sentinel.length, 0);
  }

  /**
   * Begins a new text. Writes the sentinels of the searchers after the newline that follows `text[0,
   * length)`.
   */
  prepare(text: Buffer, length: number): void {
    const isAsciiOnly = this.#nonAsciiSearchers > 1 && isAscii(text.subarray(0, length));
    let at = length + 1;
    for (let i = 0; i < this.#searchers.length; i++) {
      const searcher = this.#searchers[i]!;
      at += searcher.sentinel.copy(text, at);
      searcher.prepare?.(text, length);
      this.#starts[i] = isAsciiOnly && searcher.isNonAscii ? none : pending;
    }
  }

  /** Returns the start of the first candidate in `text[from, length)`, or -1. */
  next(text: Buffer, from: number, length: number): number {
    let [start, end] = [none, -1];
    for (let i = 0; i < this.#searchers.length; i++) {
      if (this.#starts[i]! < from) {
        const searcher = this.#searchers[i]!;
        const found = searcher.find(text, from, length);
        this.#starts[i] = found < 0 ? none : found;
        this.#ends[i] = searcher.end;
      }
      if (this.#starts[i]! < start) [start, end] = [this.#starts[i]!, this.#ends[i]!];
    }
    this.start = start === none ? -1 : start;
    this.end = end;
    return this.start;
  }
}

const pending = -1;
const none = Number.MAX_SAFE_INTEGER;

/**
 * Approximate costs in nanoseconds; only their ratios matter. Per byte of text: a pass of `indexOf`, of the
 * kernel for a folded string, of Teddy, and of the engine. Per occurrence: of the first byte for `indexOf`,
 * of a candidate that a searcher verifies, of a start that the forward DFA verifies, of a line that the
 * engine verifies.
 */
const passCost = 0.02;
const firstByteCost = 4;
const caseFoldCost = 0.07;
const verifyCost = 30;
const teddyCost = 0.1;
const startCost = 60;
const lineCost = 300;
const engineCost = 1.2;

/** Maximum strings that enumerate one seq, and maximum literals that they are made of. */
const maxLiterals = 12;
const maxLiteralLength = 8;

/**
 * Returns the cheapest prefilter for a pattern, or `undefined` if running the engine on all of the text would
 * be faster.
 */
export const choosePrefilter = (hir: Hir, kernel: SearchKernel | undefined): Prefilter | undefined =>
  cheapest(extractInnerLiterals(hir), extractByteClasses(hir), kernel);

/** Like `choosePrefilter`, but for a part of a pattern: the rest has to be verified in any case. */
export const choosePartPrefilter = (hir: Hir, kernel: SearchKernel | undefined): Prefilter | undefined => {
  const literals = extractInnerLiterals(hir);
  return cheapest(literals && { ...literals, isWhole: false }, extractByteClasses(hir), kernel);
};

/** Like `choosePrefilter`, but for matches that may span lines, where byte classes rule out less. */
export const chooseTextPrefilter = (hir: Hir, kernel: SearchKernel | undefined): Prefilter | undefined =>
  cheapest(extractInnerLiterals(hir), undefined, kernel);

/** A string that each match starts with, and the cheapest prefilter for texts that contain a match. */
export interface PrefixPrefilter {
  /** The string as it occurs in ASCII text. */
  readonly string: FoldedString;
  readonly prefilter: Prefilter;
  /**
   * Whether the prefilter's candidates are the starts of the string, rather than places of another part of a
   * match.
   */
  readonly findsStarts: boolean;
  /** The approximate nanoseconds per byte of text for finding the string and verifying the rest. */
  readonly cost: number;
}

/**
 * Returns the prefilter for the literals that each match of `hir` starts with, if the kernel can find some.
 */
export function choosePrefixPrefilter(hir: Hir, kernel: SearchKernel): PrefixPrefilter | undefined {
  const string = prefixStringOf(hir);
  if (string === undefined) return undefined;
  const seq = prefixSeqOf(hir);
  const strategy = strategyForSeq(seq, kernel);
  const cost = strategy.cost + share(seq) * startCost;
  if (cost > engineCost) return undefined;
  const inner = chooseTextPrefilter(hir, kernel);
  if (inner !== undefined && inner.cost < cost) return { string, prefilter: inner, findsStarts: false, cost };
  return { string, prefilter: new Prefilter(strategy, false), findsStarts: true, cost };
}

/** Returns the string, or a part of it, that matches in ASCII text start with. */
export function prefixStringOf(hir: Hir): FoldedString | undefined {
  const seq = prefixSeqOf(hir);
  return seq.length === 0 ? undefined : foldedString(seq);
}

function prefixSeqOf(hir: Hir): LiteralSeq {
  const all = extractPrefixLiterals(hir).slice(0, maxPrefixLength);
  const other = all.findIndex((literals) => foldedString([literals]) === undefined);
  return prefixOf(other < 0 ? all : all.slice(0, other));
}

function cheapest(
  literals: InnerLiterals | undefined,
  classes: readonly ByteClassSeq[] | undefined,
  kernel: SearchKernel | undefined,
): Prefilter | undefined {
  const shortened = literals && shorten(literals);
  const byLiterals = shortened && strategyForLiterals(shortened, kernel);
  const byClasses = classes && kernel && strategyForClasses(classes, kernel);
  const strategy = cheaper(byLiterals ?? noStrategy, byClasses ?? noStrategy);
  if (strategy.cost > engineCost) return undefined;
  return new Prefilter(strategy, strategy === byLiterals && shortened?.isWhole === true);
}

/**
 * Maximum bytes of a string, and maximum literals of a seq, that searchers use. More would hardly be rarer.
 */
const maxStringLength = 256;
const maxSeqLength = 64;
/** Maximum literals of a prefix. The DFA reads the rest. */
const maxPrefixLength = 32;

/** Returns a prefilter that finds exactly this text. */
export function literalPrefilter(text: string, kernel: SearchKernel | undefined): Prefilter {
  const string = Buffer.from(text).toString("latin1");
  const [prefix, suffix] = [string.slice(0, maxStringLength), string.slice(maxStringLength)];
  if (suffix === "") return new Prefilter(strategyForSeq([[prefix]], kernel), true);
  const searchers = [new MemmemSearcher(prefix, [], [[suffix]])];
  return new Prefilter({ searchers, cost: indexCost(prefix) }, true);
}

function strategyForLiterals({ seqs, isWhole }: Searched, kernel: SearchKernel | undefined): Strategy {
  const strategies = seqs.map((seq) => strategyForSeq(seq, kernel));
  const lines = isWhole ? 0 : seqs.reduce((sum, seq) => sum + share(seq), 0) * lineCost;
  return {
    cost: strategies.reduce((sum, strategy) => sum + strategy.cost, lines),
    searchers: strategies.flatMap(({ searchers }) => searchers),
  };
}

type Searched = Pick<InnerLiterals, "seqs" | "isWhole">;

const shorten = ({ seqs, isWhole }: Searched): Searched => ({
  seqs: seqs.map(prefixOf),
  isWhole: isWhole && seqs.every(isShort),
});

/** Returns the longest prefix of the seq that searchers can use. */
function prefixOf(seq: LiteralSeq): LiteralSeq {
  const long = seq.findIndex((literals) => !isShort([literals]));
  const end = Math.min(maxSeqLength, long < 0 ? seq.length : long + 1);
  return seq.slice(0, end).map((literals) => literals.map((string) => string.slice(0, maxStringLength)));
}

const isShort = (seq: LiteralSeq): boolean =>
  seq.length <= maxSeqLength &&
  seq.every((literals) => literals.every(({ length }) => length <= maxStringLength));

const strategyForSeq = (seq: LiteralSeq, kernel: SearchKernel | undefined): Strategy =>
  cheaper(byEnumeration(seq), byCaseFolding(seq, kernel));

function strategyForClasses(classes: readonly ByteClassSeq[], kernel: SearchKernel): Strategy {
  const lines = 2 ** -byteClassRarity(classes) * lineCost;
  return { cost: teddyCost + lines, searchers: [new TeddySearcher(kernel, teddyMasksOf(classes))] };
}

/** Returns the share of the offsets in source text where a seq occurs. */
const share = (seq: LiteralSeq): number =>
  2 ** -seq.reduce((bits, literals) => bits + literalBits(literals), 0);

/** Searchers that together find all occurrences of a seq, and their cost per byte. */
interface Strategy {
  readonly cost: number;
  readonly searchers: readonly PrefilterSearcher[];
}

const cheaper = (one: Strategy, other: Strategy): Strategy => (other.cost < one.cost ? other : one);
const noStrategy: Strategy = { cost: Number.POSITIVE_INFINITY, searchers: [] };

/** Searches for each string of the cheapest window of the seq. */
function byEnumeration(seq: LiteralSeq): Strategy {
  let best = noStrategy;
  for (let from = 0; from < seq.length; from++) {
    for (let to = from + 1; to <= Math.min(seq.length, from + maxLiteralLength); to++) {
      const window = seq.slice(from, to);
      if (window.reduce((product, { length }) => product * length, 1) > maxLiterals) break;
      const strings = stringsOf(window);
      const passes = strings.reduce((sum, string) => sum + indexCost(string), 0);
      const cost = passes + share(window) * verifyCost;
      if (cost < best.cost) best = { cost, searchers: memmemSearchers(seq, { from, to, strings }) };
    }
  }
  return best;
}

const indexCost = (string: string): number =>
  passCost + firstByteCost * 2 ** -byteBits[string.charCodeAt(packedPair(Buffer.from(string, "latin1"))[0])]!;

/** Returns the cross product of a seq. */
function stringsOf(seq: LiteralSeq): string[] {
  return seq.reduce<string[]>(
    (starts, literals) => starts.flatMap((start) => literals.map((string) => start + string)),
    [""],
  );
}

function memmemSearchers(
  seq: LiteralSeq,
  { from, to, strings }: { from: number; to: number; strings: Literals },
): PrefilterSearcher[] {
  return strings.map((string) => new MemmemSearcher(string, seq.slice(0, from), seq.slice(to)));
}

/**
 * Searches for the seq in ASCII with folded case, and for each non-ASCII character that it may contain:
 * U+212A folds to k, and U+017F to s.
 */
function byCaseFolding(seq: LiteralSeq, kernel: SearchKernel | undefined): Strategy {
  const string = foldedString(seq);
  if (kernel === undefined || string === undefined) return noStrategy;
  const nonAscii = seq.flatMap((literals, from) =>
    memmemSearchers(seq, {
      from,
      to: from + 1,
      strings: literals.filter((string) => !isAsciiOnly(string)),
    }),
  );
  const cost = caseFoldCost + nonAscii.length * passCost;
  return { cost, searchers: [new CaseFoldSearcher(kernel, string), ...nonAscii] };
}

const isAsciiOnly = (string: string): boolean => /^[\0-\x7f]*$/.test(string);

/** Returns the ASCII strings of a seq as one folded string, if they differ only in case. */
function foldedString(seq: LiteralSeq): FoldedString | undefined {
  const bytes: number[] = [];
  const folds: number[] = [];
  for (const literals of seq) {
    const [lower, upper, ...more] = literals.filter(isAsciiOnly).sort().reverse();
    if (lower === undefined || more.length > 0) return undefined;
    const isFolded = upper !== undefined;
    if (isFolded && (lower.length > 1 || upper !== lower.toUpperCase() || upper === lower)) return undefined;
    bytes.push(...Buffer.from(lower));
    folds.push(...new Array<number>(lower.length).fill(isFolded ? 0x20 : 0));
  }
  if (bytes.length > maxFoldedLength) return undefined;
  return {
    bytes: Uint8Array.from(bytes),
    folds: Uint8Array.from(folds),
    isExact: !folds.includes(0x20),
    pair: packedPair(bytes),
  };
}
