/**
 * Extracts inner literals: short strings such that every match contains one of them, like ripgrep does for
 * its prefilter.
 */
import { foldHir, type Hir, type HirFold, type Range } from "../regex/hir.ts";
import { byteBits } from "./byte-frequency.ts";

/** Alternative strings at one position, one character per byte. */
export type Literals = readonly string[];

/** Literals that follow each other. */
export type LiteralSeq = readonly Literals[];

/** Literals such that every match contains one of `seqs`. */
export interface InnerLiterals {
  readonly seqs: readonly LiteralSeq[];
  /** Further sequences, each of which every match contains. */
  readonly also: readonly LiteralSeq[];
  /** Whether the pattern matches exactly `seqs`, so that each occurrence of one of them is a match. */
  readonly isWhole: boolean;
}

/** The facts that the extraction knows about a part of a pattern. */
interface Extracted {
  /** The sequence that the part matches exactly; `undefined` if it may match something else. */
  readonly exact?: LiteralSeq;
  /** Sequences such that each match of the part contains one; `undefined` if the extraction knows none. */
  readonly inner?: readonly LiteralSeq[];
  /** Further sequences, each of which every match of the part contains. */
  readonly also?: readonly LiteralSeq[];
  /** Whether the part matches exactly `inner`. */
  readonly isWhole: boolean;
}

/** Maximum strings at one position. A class of more characters counts as any character. */
const maxLiterals = 8;
/** Maximum sequences of one prefilter. */
const maxSeqs = 16;

/**
 * Returns the rarest literals such that every match of `hir` contains one, or `undefined` if none are known.
 */
export function extractInnerLiterals(hir: Hir): InnerLiterals | undefined {
  const { inner, also = [], isWhole } = foldHir(hir, literalFold);
  return inner === undefined ? undefined : { seqs: inner, also, isWhole };
}

const unknown: Extracted = { isWhole: false };

const literalFold: HirFold<Extracted> = {
  empty: { exact: [], isWhole: false },
  look: unknown,
  literal: extractLiteral,
  class: extractClass,
  repetition: extractRepetition,
  concat: extractConcat,
  alternation: extractAlternation,
};

/** U+FFFD, which replaces invalid UTF-8 in a decoded line. */
const replacement = "\xef\xbf\xbd";

/** Returns whether the bytes that match the string may be invalid UTF-8. */
export const holdsReplacement = (string: string): boolean => string.includes(replacement);

/**
 * Returns the extraction of an exact sequence. The engine searches for newlines, which no line holds, and for
 * U+FFFD, which may stand for other bytes of the file.
 */
const exactly = (seq: LiteralSeq): Extracted => {
  const isUnsearchable = (bytes: string) => bytes.includes("\n") || holdsReplacement(bytes);
  return seq.flat().some(isUnsearchable) ? unknown : { exact: seq, inner: [seq], isWhole: true };
};

/** Extracts the bytes between newlines, which separate lines. */
function extractLiteral(bytes: Uint8Array): Extracted {
  const parts = Buffer.from(bytes)
    .toString("latin1")
    .split(/(\n)/)
    .filter((part) => part !== "");
  return parts.length === 1 ? exactly([parts]) : extractConcat(parts.map((part) => exactly([[part]])));
}

function extractClass(ranges: readonly Range[]): Extracted {
  const strings = classStrings(ranges);
  return strings === undefined ? unknown : exactly([strings]);
}

/** Returns the characters of a class in UTF-8, or `undefined` if it has none or too many. */
export function classStrings(ranges: readonly Range[]): Literals | undefined {
  const count = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (count === 0 || count > maxLiterals) return undefined;
  const strings: string[] = [];
  for (const [first, last] of ranges) {
    for (let code = first; code <= last; code++) {
      strings.push(Buffer.from(String.fromCodePoint(code)).toString("latin1"));
    }
  }
  return strings;
}

function extractRepetition(part: Extracted, { min, max }: { min: number; max: number }): Extracted {
  if (min === 0) return unknown;
  if (min === 1 && max === 1) return part;
  const { inner, also = [] } = part;
  return inner === undefined ? unknown : { inner, also, isWhole: false };
}

/** Joins adjacent exact parts. Every match of the whole contains what a match of any part contains. */
function extractConcat(parts: readonly Extracted[]): Extracted {
  const choices: (readonly LiteralSeq[])[] = [];
  const also: LiteralSeq[] = [];
  let run: Literals[] = [];
  let isExact = true;
  for (const { exact, inner, also: alsoInPart = [] } of parts) {
    if (exact !== undefined) {
      run.push(...exact);
      continue;
    }
    isExact = false;
    if (run.length > 0) choices.push([run]);
    run = [];
    if (inner !== undefined) choices.push(inner);
    also.push(...alsoInPart);
  }
  if (isExact) return run.length === 0 ? { exact: [], isWhole: false } : exactly(run);
  if (run.length > 0) choices.push([run]);
  const inner = rarest(choices);
  if (inner === undefined) return unknown;
  const others = choices.filter((choice) => choice !== inner && choice.length === 1).flat();
  return { inner, also: [...also, ...others].slice(0, maxSeqs), isWhole: false };
}

function extractAlternation(branches: readonly Extracted[]): Extracted {
  const seqs: LiteralSeq[] = [];
  for (const { inner } of branches) {
    if (inner === undefined) return unknown;
    seqs.push(...inner);
  }
  if (seqs.length > maxSeqs) return unknown;
  return { inner: seqs, isWhole: branches.every(({ isWhole }) => isWhole) };
}

function rarest(choices: readonly (readonly LiteralSeq[])[]): readonly LiteralSeq[] | undefined {
  let best: readonly LiteralSeq[] | undefined;
  for (const choice of choices) {
    if (best === undefined || rarity(choice) > rarity(best)) best = choice;
  }
  return best;
}

/** Returns the rarity of the most frequent sequence. */
const rarity = (seqs: readonly LiteralSeq[]): number =>
  Math.min(...seqs.map((seq) => seq.reduce((sum, literals) => sum + literalBits(literals), 0)));

/**
 * Returns the rarity of the literals: minus the binary logarithm of the share of offsets where one of them
 * occurs.
 */
export function literalBits(literals: Literals): number {
  return Math.min(...literals.map(stringBits)) - Math.log2(literals.length);
}

const stringBits = (bytes: string): number => {
  let bits = 0;
  for (let i = 0; i < bytes.length; i++) bits += byteBits[bytes.charCodeAt(i)] as number;
  return bits;
};
