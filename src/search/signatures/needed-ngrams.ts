import { byteBits } from "../../text/prefilter/byte-frequency.ts";
import type { LiteralSeq, Literals } from "../../text/prefilter/inner-literals.ts";
import { foldByte, hashNgram, ngramLengths } from "./ngrams.ts";

/** Hashes of n-grams. A text must contain at least one of them. */
export type AnyNgram = Int32Array;

/**
 * The n-grams that a matching text must contain: for at least one of the alternatives, an n-gram from each of
 * its sets. Structured-cloneable, so that it can be sent to threads.
 */
export type NeededNgrams = readonly (readonly AnyNgram[])[];

/** Maximum n-grams in a set. A larger set rules out little. */
const maxAlternatives = 16;
/** Maximum sets per sequence; the rarest ones are kept. */
const maxSets = 32;

/**
 * Returns the n-grams of texts that contain one of `seqs` and each of `also`, or `undefined` if one of `seqs`
 * has none.
 */
export function neededNgrams(
  seqs: readonly LiteralSeq[],
  also: readonly LiteralSeq[] = [],
): NeededNgrams | undefined {
  const needed = seqs.map((seq) => [seq, ...also].flatMap(setsOf));
  return needed.length > 0 && needed.every((sets) => sets.length > 0) ? needed.map(rarest) : undefined;
}

const rarest = (sets: readonly RankedSet[]): AnyNgram[] =>
  sets
    .toSorted((one, other) => other.rarity - one.rarity)
    .slice(0, maxSets)
    .map(({ hashes }) => hashes);

/** Returns, for each offset of the sequence at which all strings go on, the n-grams that may begin there. */
const setsOf = (seq: LiteralSeq): RankedSet[] =>
  seq
    .flatMap((literals, index) => {
      const shortest = Math.min(...literals.map(({ length }) => length));
      return Array.from({ length: shortest }, (_, from) =>
        ngramLengths.map((length) => ngramsFrom(seq, { index, from, length })),
      ).flat();
    })
    .filter((set) => set !== undefined);

interface RankedSet {
  readonly hashes: AnyNgram;
  readonly rarity: number;
}

interface NgramOffset {
  /** The index of the literals that they begin in, and the byte within each of these. */
  readonly index: number;
  readonly from: number;
  readonly length: number;
}

/**
 * Returns the n-grams that begin at the place, or `undefined` if they are too many, or if it is past the end.
 */
function ngramsFrom(seq: LiteralSeq, { index, from, length }: NgramOffset): RankedSet | undefined {
  let starts: Literals = seq[index]!.map((string) => string.slice(from, from + length));
  for (let next = index + 1; starts.some((start) => start.length < length); next++) {
    const literals = seq[next];
    if (literals === undefined || starts.length * literals.length > maxAlternatives ** 2) return undefined;
    starts = distinct(starts.flatMap((start) => literals.map((string) => (start + string).slice(0, length))));
  }
  const ngrams = distinct(starts.map(fold));
  // Line ends may differ between a file and the text of it that is searched.
  if (ngrams.some((ngram) => /[\r\n]/.test(ngram))) return undefined;
  if (ngrams.length > maxAlternatives) return undefined;
  return {
    hashes: Int32Array.from(new Set(ngrams.map(hashNgram))),
    rarity: Math.min(...ngrams.map(rarityOf)) - Math.log2(ngrams.length),
  };
}

const distinct = (strings: readonly string[]): string[] => [...new Set(strings)];

function fold(string: string): string {
  let folded = "";
  for (let at = 0; at < string.length; at++) folded += String.fromCharCode(foldByte(string.charCodeAt(at)));
  return folded;
}

function rarityOf(ngram: string): number {
  let bits = 0;
  for (let at = 0; at < ngram.length; at++) bits += byteBits[ngram.charCodeAt(at)]!;
  return bits;
}
