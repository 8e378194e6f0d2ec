import { byteBits } from "../prefilter/byte-frequency.ts";
import type { LiteralSeq, Literals } from "../prefilter/inner-literals.ts";
import { foldByte, gramBytes, hashTrigram } from "./trigrams.ts";

/** Hashes of trigrams, of which a text has to hold one. */
export type AnyTrigram = Int32Array;

/**
 * What a text has to hold to be of interest: for one of these, a trigram of each of its sets. Structured-cloneable, so that
 * threads can send it.
 */
export type NeededTrigrams = readonly (readonly AnyTrigram[])[];

/** Trigrams of which one is needed: a set of more says little. */
const mostAlternatives = 16;
/** Sets of one sequence: the rarest ones. */
const mostSets = 24;

/** The trigrams of texts that hold one of the sequences; undefined where those of one of them are not known. */
export function neededTrigrams(seqs: readonly LiteralSeq[]): NeededTrigrams | undefined {
  const needed = seqs.map(setsOf);
  return needed.length > 0 && needed.every((sets) => sets.length > 0) ? needed : undefined;
}

/** For each offset of the sequence at which all strings go on, the trigrams that may begin there, the rarest set first. */
function setsOf(seq: LiteralSeq): AnyTrigram[] {
  const sets = seq.flatMap((literals, index) => {
    const shortest = Math.min(...literals.map(({ length }) => length));
    return Array.from({ length: shortest }, (_, from) => trigramsFrom(seq, index, from));
  });
  return sets
    .filter((set) => set !== undefined)
    .sort((one, other) => other.rarity - one.rarity)
    .slice(0, mostSets)
    .map(({ hashes }) => hashes);
}

interface RankedSet {
  readonly hashes: AnyTrigram;
  readonly rarity: number;
}

/** The trigrams that begin with byte `from` of the literals at `index`; undefined for too many, and past the end. */
function trigramsFrom(seq: LiteralSeq, index: number, from: number): RankedSet | undefined {
  let starts: Literals = seq[index]!.map((string) => string.slice(from, from + gramBytes));
  for (let next = index + 1; starts.some(({ length }) => length < gramBytes); next++) {
    const literals = seq[next];
    if (literals === undefined || starts.length * literals.length > mostAlternatives ** 2) return undefined;
    starts = distinct(
      starts.flatMap((start) => literals.map((string) => (start + string).slice(0, gramBytes))),
    );
  }
  const trigrams = distinct(starts.map(fold));
  if (trigrams.length > mostAlternatives) return undefined;
  return {
    hashes: Int32Array.from(new Set(trigrams.map((trigram) => hashTrigram(trigram, 0)))),
    rarity: Math.min(...trigrams.map(rarityOf)) - Math.log2(trigrams.length),
  };
}

const distinct = (strings: readonly string[]): string[] => [...new Set(strings)];

const fold = (string: string): string =>
  String.fromCharCode(...Array.from(string, (byte) => foldByte(byte.charCodeAt(0))));

const rarityOf = (trigram: string): number =>
  Array.from(trigram).reduce((bits, byte) => bits + byteBits[byte.charCodeAt(0)]!, 0);
