/**
 * What must be in a line for a pattern to match it: short strings that can be looked for many times faster than the
 * pattern, in front of the engine.
 */
import type { Hir, Range } from "../regex/hir.ts";
import { byteBits } from "./byte-frequency.ts";

/** One of these strings, as bytes (one character per byte). */
export type Literals = readonly string[];

/** Elements that follow each other. */
export type LiteralSeq = readonly Literals[];

/** Every match contains one of `sequences`. */
export interface InnerLiterals {
  readonly sequences: readonly LiteralSeq[];
  /** The pattern matches these and nothing else, and where one of them is, there is a match. */
  readonly isWhole: boolean;
}

/** What is known of a part of a pattern. */
interface Extracted {
  /** The part matches exactly this sequence; undefined when it may match other things. */
  readonly exact?: LiteralSeq;
  /** Each match of the part contains one of these; undefined when nothing is known. */
  readonly required?: readonly LiteralSeq[];
  /** The part matches each of `required` and nothing else. */
  readonly isWhole: boolean;
}

/** Strings that one element may have; a class of more characters is taken for any character. */
const mostStrings = 8;
/** Sequences that are looked for together. */
const mostSequences = 16;

/** What every match of `hir` contains, or undefined when nothing is known. */
export function extractInnerLiterals(hir: Hir): InnerLiterals | undefined {
  const { required, isWhole } = extract(hir);
  return required === undefined ? undefined : { sequences: required, isWhole };
}

const unknown: Extracted = { isWhole: false };

function extract(hir: Hir): Extracted {
  switch (hir.kind) {
    case "empty":
      return { exact: [], isWhole: false };
    case "literal":
      return exactly([[Buffer.from(hir.bytes).toString("latin1")]]);
    case "class":
      return extractClass(hir.ranges);
    case "look":
      return unknown;
    case "repetition":
      return hir.min === 0 ? unknown : extractRepetition(extract(hir.of), hir);
    case "concat":
      return extractConcat(hir.of.map(extract));
    case "alternation":
      return extractAlternation(hir.of.map(extract));
  }
}

/** What is in no line, or is not in the file where it is in the line, is left to the engine. */
const exactly = (sequence: LiteralSeq): Extracted => {
  const isMissing = (bytes: string) => bytes.includes("\n") || bytes.includes(replacement);
  return sequence.flat().some(isMissing) ? unknown : { exact: sequence, required: [sequence], isWhole: true };
};

/** U+FFFD, which a line shows in the place of what is not UTF-8. */
const replacement = "\xef\xbf\xbd";

function extractClass(ranges: readonly Range[]): Extracted {
  const count = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (count === 0 || count > mostStrings) return unknown;
  const strings: string[] = [];
  for (const [first, last] of ranges) {
    for (let code = first; code <= last; code++) {
      strings.push(Buffer.from(String.fromCodePoint(code)).toString("latin1"));
    }
  }
  return exactly([strings]);
}

function extractRepetition(part: Extracted, { min, max }: { min: number; max: number }): Extracted {
  if (min === 1 && max === 1) return part;
  return part.required === undefined ? unknown : { required: part.required, isWhole: false };
}

/** Exact parts that follow each other grow together; whatever is required of any part is required of the whole. */
function extractConcat(parts: readonly Extracted[]): Extracted {
  const choices: (readonly LiteralSeq[])[] = [];
  let run: Literals[] = [];
  let isExact = true;
  for (const { exact, required } of parts) {
    if (exact !== undefined) {
      run.push(...exact);
      continue;
    }
    isExact = false;
    if (run.length > 0) choices.push([run]);
    run = [];
    if (required !== undefined) choices.push(required);
  }
  if (isExact) return run.length === 0 ? { exact: [], isWhole: false } : exactly(run);
  if (run.length > 0) choices.push([run]);
  const required = rarest(choices);
  return required === undefined ? unknown : { required, isWhole: false };
}

function extractAlternation(branches: readonly Extracted[]): Extracted {
  const sequences: LiteralSeq[] = [];
  for (const { required } of branches) {
    if (required === undefined) return unknown;
    sequences.push(...required);
  }
  if (sequences.length > mostSequences) return unknown;
  return { required: sequences, isWhole: branches.every(({ isWhole }) => isWhole) };
}

function rarest(choices: readonly (readonly LiteralSeq[])[]): readonly LiteralSeq[] | undefined {
  let best: readonly LiteralSeq[] | undefined;
  for (const choice of choices) {
    if (best === undefined || rarity(choice) > rarity(best)) best = choice;
  }
  return best;
}

/** The rarity of the least rare. */
const rarity = (sequences: readonly LiteralSeq[]): number =>
  Math.min(...sequences.map((sequence) => sequence.reduce((sum, element) => sum + literalBits(element), 0)));

/** How rare the element is: minus the binary logarithm of the share of places where one of its strings stands. */
export function literalBits(element: Literals): number {
  return Math.min(...element.map(stringBits)) - Math.log2(element.length);
}

const stringBits = (bytes: string): number => {
  let bits = 0;
  for (let i = 0; i < bytes.length; i++) bits += byteBits[bytes.charCodeAt(i)] as number;
  return bits;
};
