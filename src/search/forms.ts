/**
 * What must stand somewhere in every match of a pattern, byte by byte: for patterns that require no string, such as a
 * date. Forms are looked for in front of the engine, which has the last word.
 */
import type { Hir, Range } from "../regex/hir.ts";
import { type ByteSet, rarityOf } from "./rarity.ts";
import { longestForm } from "./shape.ts";

/** Of each character in turn the ASCII bytes it may be, and the bytes that it may start with when it is not ASCII. */
export type Form = readonly ByteSet[];

/** What is known of a part of a pattern. Every list is of forms of which one must stand there. */
interface Knowledge {
  /** Each match is one of `starts` as a whole. */
  readonly isExact: boolean;
  readonly starts: readonly Form[];
  readonly ends: readonly Form[];
  readonly inner: readonly Form[];
}

/** Forms that are looked for together. */
const mostForms = 16;

const anything: readonly Form[] = [[]];
const unknown: Knowledge = { isExact: false, starts: anything, ends: anything, inner: anything };

const exactly = (forms: readonly Form[]): Knowledge => ({
  isExact: true,
  starts: forms,
  ends: forms,
  inner: forms,
});

/** Forms of which one stands in every match of `hir`, the rarest that are known, or undefined when none are. */
export function formsOf(hir: Hir): readonly Form[] | undefined {
  const { inner } = learn(hir);
  return inner.length > 0 && inner.every((form) => form.length > 0) ? inner : undefined;
}

function learn(hir: Hir): Knowledge {
  switch (hir.kind) {
    case "empty":
    case "look":
      return exactly(anything);
    case "literal":
      return learnLiteral(hir.bytes);
    case "class":
      return exactly([[setOf(hir.ranges)]]);
    case "repetition":
      return learnRepetition(learn(hir.of), hir);
    case "concat":
      return hir.of.map(learn).reduce(join, exactly(anything));
    case "alternation":
      return learnAlternation(hir.of.map(learn));
  }
}

function learnLiteral(bytes: Uint8Array): Knowledge {
  const codes = Array.from(Buffer.from(bytes).toString(), (character) => character.codePointAt(0)!);
  return codes.map((code) => exactly([[setOf([[code, code]])]])).reduce(join, exactly(anything));
}

const newline = 0x0a;
const lastAscii = 0x7f;
/** It is shown for bytes that are not UTF-8, whatever they are. */
const replacement = 0xfffd;

/** No line holds a newline. */
function setOf(ranges: readonly Range[]): ByteSet {
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

function learnRepetition(part: Knowledge, { min, max }: { min: number; max: number }): Knowledge {
  if (min === 0) {
    const isOptional = max === 1 && part.isExact && part.starts.length < mostForms;
    return isOptional ? exactly([...anything, ...part.starts]) : unknown;
  }
  if (!part.isExact) return part;
  const times = Math.min(min, longestForm + 1);
  const least = Array<Knowledge>(times).fill(part).reduce(join);
  return { ...least, isExact: least.isExact && max === min };
}

function learnAlternation(branches: readonly Knowledge[]): Knowledge {
  const all = (pick: (branch: Knowledge) => readonly Form[]) => {
    const forms = branches.flatMap(pick);
    return forms.length > mostForms ? undefined : forms;
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
function join(one: Knowledge, other: Knowledge): Knowledge {
  const middle = cross(one.ends, other.starts);
  const isExact = one.isExact && other.isExact && middle !== undefined && !middle.some(isTooLong);
  if (isExact) return exactly(middle);
  const starts = one.isExact ? cross(one.starts, other.starts) : undefined;
  const ends = other.isExact ? cross(one.ends, other.ends) : undefined;
  const candidates = [one.inner, other.inner, ...(middle ? [middle.map(rarestPart)] : [])];
  return {
    isExact: false,
    starts: starts?.map((form) => form.slice(0, longestForm)) ?? one.starts,
    ends: ends?.map((form) => form.slice(-longestForm)) ?? other.ends,
    inner: candidates.reduce((best, forms) => (formsRarity(forms) > formsRarity(best) ? forms : best)),
  };
}

const isTooLong = (form: Form): boolean => form.length > longestForm;

/** Each of the forms followed by each of the others, unless they are too many. */
function cross(forms: readonly Form[], others: readonly Form[]): Form[] | undefined {
  if (forms.length * others.length > mostForms) return undefined;
  return forms.flatMap((form) => others.map((other) => [...form, ...other]));
}

/** As much of the form as the kernel takes. */
function rarestPart(form: Form): Form {
  let best = form.slice(0, longestForm);
  for (let from = 1; from + longestForm <= form.length; from++) {
    const part = form.slice(from, from + longestForm);
    if (formRarity(part) > formRarity(best)) best = part;
  }
  return best;
}

/** How rare it is that one of them stands somewhere: minus the binary logarithm of the share of places. */
export const formsRarity = (forms: readonly Form[]): number =>
  -Math.log2(forms.reduce((share, form) => share + 2 ** -formRarity(form), 0));

/** What a position tells when the one before it has the same set: letters stand beside letters. */
const likeness = 0.3;

function formRarity(form: Form): number {
  let bits = 0;
  let before: ByteSet | undefined;
  for (const set of form) {
    const isAlike = before !== undefined && Buffer.compare(set, before) === 0;
    bits += rarityOf(set) * (isAlike ? likeness : 1);
    before = set;
  }
  return bits;
}
