/**
 * What must stand somewhere in every match of a pattern, byte by byte: for patterns that require no string, such as a
 * date. Forms are looked for in front of the engine, which has the last word.
 */
import type { Hir, Range } from "../regex/hir.ts";
import { type ByteClass, rarityOf } from "./byte-frequency.ts";
import { layout } from "./layout.ts";

/** Of each character in turn the ASCII bytes it may be, and the bytes that it may start with when it is not ASCII. */
export type ByteClassSeq = readonly ByteClass[];

/** What is known of a part of a pattern. Every list is of forms of which one must stand there. */
interface Extracted {
  /** Each match is one of `starts` as a whole. */
  readonly isExact: boolean;
  readonly starts: readonly ByteClassSeq[];
  readonly ends: readonly ByteClassSeq[];
  readonly inner: readonly ByteClassSeq[];
}

/** Forms that are looked for together. */
const maxSeqs = 16;

const anything: readonly ByteClassSeq[] = [[]];
const unknown: Extracted = { isExact: false, starts: anything, ends: anything, inner: anything };

const exactly = (seqs: readonly ByteClassSeq[]): Extracted => ({
  isExact: true,
  starts: seqs,
  ends: seqs,
  inner: seqs,
});

/** Forms of which one stands in every match of `hir`, the rarest that are known, or undefined when none are. */
export function extractByteClasses(hir: Hir): readonly ByteClassSeq[] | undefined {
  const { inner } = extract(hir);
  return inner.length > 0 && inner.every((seq) => seq.length > 0) ? inner : undefined;
}

function extract(hir: Hir): Extracted {
  switch (hir.kind) {
    case "empty":
    case "look":
      return exactly(anything);
    case "literal":
      return extractLiteral(hir.bytes);
    case "class":
      return exactly([[setOf(hir.ranges)]]);
    case "repetition":
      return extractRepetition(extract(hir.of), hir);
    case "concat":
      return hir.of.map(extract).reduce(join, exactly(anything));
    case "alternation":
      return extractAlternation(hir.of.map(extract));
  }
}

function extractLiteral(bytes: Uint8Array): Extracted {
  const codes = Array.from(Buffer.from(bytes).toString(), (character) => character.codePointAt(0)!);
  return codes.map((code) => exactly([[setOf([[code, code]])]])).reduce(join, exactly(anything));
}

const newline = 0x0a;
const lastAscii = 0x7f;
/** It is shown for bytes that are not UTF-8, whatever they are. */
const replacement = 0xfffd;

/** No line holds a newline. */
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

/** The first byte of a character past ASCII in UTF-8. */
function leadOf(code: number): number {
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

function extractRepetition(part: Extracted, { min, max }: { min: number; max: number }): Extracted {
  if (min === 0) {
    const isOptional = max === 1 && part.isExact && part.starts.length < maxSeqs;
    return isOptional ? exactly([...anything, ...part.starts]) : unknown;
  }
  if (!part.isExact) return part;
  const times = Math.min(min, layout.longestShape + 1);
  const least = Array<Extracted>(times).fill(part).reduce(join);
  return { ...least, isExact: least.isExact && max === min };
}

function extractAlternation(branches: readonly Extracted[]): Extracted {
  const all = (pick: (branch: Extracted) => readonly ByteClassSeq[]) => {
    const seqs = branches.flatMap(pick);
    return seqs.length > maxSeqs ? undefined : seqs;
  };
  const starts = all((branch) => branch.starts);
  const ends = all((branch) => branch.ends);
  const inner = all((branch) => branch.inner);
  return {
    isExact: starts !== undefined && branches.every(({ isExact }) => isExact),
    starts: starts ?? anything,
    ends: ends ?? anything,
    inner: inner ?? anything,
  };
}

/** What is known of one part and another behind it. */
function join(one: Extracted, other: Extracted): Extracted {
  const middle = cross(one.ends, other.starts);
  const isExact = one.isExact && other.isExact && middle !== undefined && !middle.some(isTooLong);
  if (isExact) return exactly(middle);
  const starts = one.isExact ? cross(one.starts, other.starts) : undefined;
  const ends = other.isExact ? cross(one.ends, other.ends) : undefined;
  const candidates = [one.inner, other.inner, ...(middle ? [middle.map(rarestPart)] : [])];
  return {
    isExact: false,
    starts: starts?.map((seq) => seq.slice(0, layout.longestShape)) ?? one.starts,
    ends: ends?.map((seq) => seq.slice(-layout.longestShape)) ?? other.ends,
    inner: candidates.reduce((best, seqs) => (byteClassRarity(seqs) > byteClassRarity(best) ? seqs : best)),
  };
}

const isTooLong = (seq: ByteClassSeq): boolean => seq.length > layout.longestShape;

/** Each of the forms followed by each of the others, unless they are too many. */
function cross(seqs: readonly ByteClassSeq[], others: readonly ByteClassSeq[]): ByteClassSeq[] | undefined {
  if (seqs.length * others.length > maxSeqs) return undefined;
  return seqs.flatMap((seq) => others.map((other) => [...seq, ...other]));
}

/** As much of the form as the kernel takes. */
function rarestPart(seq: ByteClassSeq): ByteClassSeq {
  let best = seq.slice(0, layout.longestShape);
  for (let from = 1; from + layout.longestShape <= seq.length; from++) {
    const part = seq.slice(from, from + layout.longestShape);
    if (formRarity(part) > formRarity(best)) best = part;
  }
  return best;
}

/** How rare it is that one of them stands somewhere: minus the binary logarithm of the share of places. */
export const byteClassRarity = (seqs: readonly ByteClassSeq[]): number =>
  -Math.log2(seqs.reduce((share, seq) => share + 2 ** -formRarity(seq), 0));

/** What a position tells when the one before it has the same set: letters stand beside letters. */
const likeness = 0.3;

function formRarity(seq: ByteClassSeq): number {
  let bits = 0;
  let before: ByteClass | undefined;
  for (const set of seq) {
    const isAlike = before !== undefined && Buffer.compare(set, before) === 0;
    bits += rarityOf(set) * (isAlike ? likeness : 1);
    before = set;
  }
  return bits;
}
