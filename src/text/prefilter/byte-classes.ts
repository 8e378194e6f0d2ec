/**
 * Extracts sequences of byte classes such that every match contains one of them, for patterns without
 * literals, such as that of a date. The engine verifies each candidate.
 */
import { foldHir, type Hir, type HirFold, type Range } from "../regex/hir.ts";
import { type ByteClass, rarityOf } from "./byte-frequency.ts";
import { layout } from "./layout.ts";

/** The ASCII bytes that each character in turn may be, and its possible lead bytes if it is not ASCII. */
export type ByteClassSeq = readonly ByteClass[];

/**
 * The facts that the extraction knows about a part of a pattern. Every match starts with one of `prefixes`,
 * ends with one of `suffixes` and contains one of `inner`.
 */
interface Extracted {
  /** Whether each match is, as a whole, one of `prefixes`. */
  readonly isExact: boolean;
  readonly prefixes: readonly ByteClassSeq[];
  readonly suffixes: readonly ByteClassSeq[];
  readonly inner: readonly ByteClassSeq[];
}

const { maxTeddyLength } = layout;
/** Maximum sequences of one prefilter. */
const maxSeqs = 16;

const emptySeq: readonly ByteClassSeq[] = [[]];
const unknown: Extracted = { isExact: false, prefixes: emptySeq, suffixes: emptySeq, inner: emptySeq };

const exactly = (seqs: readonly ByteClassSeq[]): Extracted => ({
  isExact: true,
  prefixes: seqs,
  suffixes: seqs,
  inner: seqs,
});

/**
 * Returns the rarest byte classes such that every match of `hir` contains one, or `undefined` if none are
 * known.
 */
export function extractByteClasses(hir: Hir): readonly ByteClassSeq[] | undefined {
  const { inner } = foldHir(hir, classFold);
  return inner.length > 0 && inner.every((seq) => seq.length > 0) ? inner : undefined;
}

const classFold: HirFold<Extracted> = {
  empty: exactly(emptySeq),
  look: exactly(emptySeq),
  literal: extractLiteral,
  class: (ranges) => exactly([[setOf(ranges)]]),
  repetition: extractRepetition,
  concat: (parts) => parts.reduce(concatenate, exactly(emptySeq)),
  alternation: extractAlternation,
};

function extractLiteral(bytes: Uint8Array): Extracted {
  const codes = Array.from(Buffer.from(bytes).toString(), (character) => character.codePointAt(0)!);
  return codes.map((code) => exactly([[setOf([[code, code]])]])).reduce(concatenate, exactly(emptySeq));
}

const newline = 0x0a;
const lastAscii = 0x7f;
/** The character that replaces invalid UTF-8 in a decoded line, whatever its bytes. */
const replacement = 0xfffd;

/** Returns the byte class of the ranges. No line holds a newline. */
function setOf(ranges: readonly Range[]): ByteClass {
  const set = new Uint8Array(256);
  for (const [first, last] of ranges) {
    if (first <= lastAscii) set.fill(1, first, Math.min(last, lastAscii) + 1);
    if (last > lastAscii) set.fill(1, leadOf(Math.max(first, lastAscii + 1)), leadOf(last) + 1);
    if (first <= replacement && last >= replacement) set.fill(1, lastAscii + 1);
  }
  set[newline] = 0;
  return set;
}

/** Returns the first byte of a non-ASCII character in UTF-8. */
function leadOf(code: number): number {
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

function extractRepetition(part: Extracted, { min, max }: { min: number; max: number }): Extracted {
  if (min === 0) {
    const isOptional = max === 1 && part.isExact && part.prefixes.length < maxSeqs;
    return isOptional ? exactly([...emptySeq, ...part.prefixes]) : unknown;
  }
  if (!part.isExact) return part;
  const times = Math.min(min, maxTeddyLength + 1);
  const least = Array<Extracted>(times).fill(part).reduce(concatenate);
  return { ...least, isExact: least.isExact && max === min };
}

function extractAlternation(branches: readonly Extracted[]): Extracted {
  const all = (pick: (branch: Extracted) => readonly ByteClassSeq[]) => {
    const seqs = branches.flatMap(pick);
    return seqs.length > maxSeqs ? undefined : seqs;
  };
  const prefixes = all((branch) => branch.prefixes);
  const suffixes = all((branch) => branch.suffixes);
  const inner = all((branch) => branch.inner);
  return {
    isExact: prefixes !== undefined && branches.every(({ isExact }) => isExact),
    prefixes: prefixes ?? emptySeq,
    suffixes: suffixes ?? emptySeq,
    inner: inner ?? emptySeq,
  };
}

function concatenate(one: Extracted, other: Extracted): Extracted {
  const middle = cross(one.suffixes, other.prefixes);
  const isExact = one.isExact && other.isExact && middle !== undefined && !middle.some(isTooLong);
  if (isExact) return exactly(middle);
  const prefixes = one.isExact ? cross(one.prefixes, other.prefixes) : undefined;
  const suffixes = other.isExact ? cross(one.suffixes, other.suffixes) : undefined;
  const candidates = [one.inner, other.inner, ...(middle ? [middle.map(rarestPart)] : [])];
  return {
    isExact: false,
    prefixes: prefixes?.map((seq) => seq.slice(0, maxTeddyLength)) ?? one.prefixes,
    suffixes: suffixes?.map((seq) => seq.slice(-maxTeddyLength)) ?? other.suffixes,
    inner: candidates.reduce((best, seqs) => (byteClassRarity(seqs) > byteClassRarity(best) ? seqs : best)),
  };
}

const isTooLong = (seq: ByteClassSeq): boolean => seq.length > maxTeddyLength;

/**
 * Returns the cross product: each sequence followed by each of the others, or `undefined` if that gives too
 * many.
 */
function cross(seqs: readonly ByteClassSeq[], others: readonly ByteClassSeq[]): ByteClassSeq[] | undefined {
  if (seqs.length * others.length > maxSeqs) return undefined;
  return seqs.flatMap((seq) => others.map((other) => [...seq, ...other]));
}

/** Returns the rarest part of the sequence that is short enough for the kernel. */
function rarestPart(seq: ByteClassSeq): ByteClassSeq {
  let best = seq.slice(0, maxTeddyLength);
  for (let from = 1; from + maxTeddyLength <= seq.length; from++) {
    const part = seq.slice(from, from + maxTeddyLength);
    if (seqRarity(part) > seqRarity(best)) best = part;
  }
  return best;
}

/**
 * Returns the rarity of the sequences together: minus the binary logarithm of the share of offsets where one
 * of them occurs.
 */
export const byteClassRarity = (seqs: readonly ByteClassSeq[]): number =>
  -Math.log2(seqs.reduce((share, seq) => share + 2 ** -seqRarity(seq), 0));

/** The weight of a class that repeats the one before it, since letters tend to be next to letters. */
const repeatWeight = 0.3;

function seqRarity(seq: ByteClassSeq): number {
  let bits = 0;
  let before: ByteClass | undefined;
  for (const set of seq) {
    const isAlike = before !== undefined && Buffer.compare(set, before) === 0;
    bits += rarityOf(set) * (isAlike ? repeatWeight : 1);
    before = set;
  }
  return bits;
}
