import type { LineMatch } from "../matchers/lines.ts";
import type { Finding } from "./files.ts";

/** The files of a batch, compared with the index. */
export interface FoundInIndex {
  /** The indices of files that are new to the index, or have changed. */
  readonly unknown: Int32Array | readonly number[];
  /** Pairs of file index and record number for each unchanged file, or empty if not requested. */
  readonly known: Int32Array | readonly number[];
  /**
   * Pairs of file index and record number for each file with matches whose finding has all of them, for its
   * content at the time of the record, or empty if not requested.
   */
  readonly matching: Int32Array | readonly number[];
  /** The record numbers of files that were read, with that content, and do not match. */
  readonly withoutMatch: Int32Array | readonly number[];
}

/**
 * Findings as they are posted between threads: all texts in two strings, everything else as numbers. Objects
 * take four times as long, and JSON twice.
 */
export interface EncodedFindings {
  /** The ASCII texts of findings. */
  readonly ascii: string;
  /**
   * The other texts, kept apart because one character beyond Latin-1 makes its whole string take two bytes
   * per character.
   */
  readonly other: string;
  /**
   * The numbers of each finding: its index, its flags, the count, the number of matches (0 if not counted)
   * and the number of lines. They are followed, per line, by its number, its column and the length of its
   * text; with `hasEnds` by the line (or 0) and column of its end; and with `hasContext` by its two lists,
   * each as one more than its length, or 0 for no list, and the length of each text.
   */
  readonly numbers: Int32Array;
  /** The outcomes of the files of the batch (`outcomes`), if requested. */
  readonly outcomes?: Float64Array;
  /** The comparison with the index, if requested. */
  readonly inIndex?: FoundInIndex;
}

/** The flags of a finding. */
const inPath = 1;
const asciiTexts = 2;
const hasContext = 4;
const hasEnds = 8;

/** The fixed count of numbers per finding, and per line. */
const perFinding = 5;
const perLine = 3;

export function encodeFindings(findings: readonly Finding[], outcomes?: Float64Array): EncodedFindings {
  const numbers = new Int32Array(findings.reduce((sum, { lines }) => sum + perFinding + sizeOf(lines), 0));
  let [at, ascii, other] = [0, "", ""];
  for (const { index, isInPath, lines, count, matches = 0 } of findings) {
    const shape = lines.length === 0 ? 0 : shapeOf(lines[0]!);
    const texts = shape === 0 ? joinTexts(lines) : lines.flatMap(textsOf).join("");
    const isAscii = Buffer.byteLength(texts) === texts.length;
    if (isAscii) ascii += texts;
    else other += texts;
    numbers[at] = index;
    numbers[at + 1] = shape | (isInPath ? inPath : 0) | (isAscii ? asciiTexts : 0);
    numbers[at + 2] = count;
    numbers[at + 3] = matches;
    numbers[at + 4] = lines.length;
    at += perFinding;
    for (const line of lines) at = write(numbers, at, line, shape);
  }
  return { ascii, other, numbers, ...(outcomes && { outcomes }) };
}

const joinTexts = (lines: readonly LineMatch[]): string =>
  lines.length === 1 ? lines[0]!.text : lines.map(({ text }) => text).join("");

/** Returns the flags of the fields of a match, which all matches of a search share. */
const shapeOf = ({ before, after, end_column }: LineMatch): number =>
  (before !== undefined || after !== undefined ? hasContext : 0) | (end_column !== undefined ? hasEnds : 0);

const textsOf = ({ text, before, after }: LineMatch): readonly string[] =>
  before === undefined && after === undefined ? [text] : [text, ...(before ?? []), ...(after ?? [])];

/** Returns the count of numbers that the lines of a finding take. */
function sizeOf(lines: readonly LineMatch[]): number {
  const shape = lines.length === 0 ? 0 : shapeOf(lines[0]!);
  const fixed = (perLine + (shape & hasEnds ? 2 : 0)) * lines.length;
  return shape & hasContext ? lines.reduce((sum, line) => sum + 1 + textsOf(line).length, fixed) : fixed;
}

function write(numbers: Int32Array, start: number, match: LineMatch, shape: number): number {
  let at = start + perLine;
  numbers[start] = match.line;
  numbers[start + 1] = match.column;
  numbers[start + 2] = match.text.length;
  if (shape & hasEnds) {
    numbers[at++] = match.end_line ?? 0;
    numbers[at++] = match.end_column!;
  }
  return shape & hasContext ? writeList(numbers, writeList(numbers, at, match.before), match.after) : at;
}

function writeList(numbers: Int32Array, at: number, texts: readonly string[] | undefined): number {
  if (texts === undefined) return at + 1;
  numbers[at] = texts.length + 1;
  for (let i = 0; i < texts.length; i++) numbers[at + 1 + i] = texts[i]!.length;
  return at + 1 + texts.length;
}

/** A finding, or a part of one that has very many lines. Only the first part has what is not a line. */
export interface FindingPart {
  readonly part: Finding;
  readonly isLast: boolean;
}

/** Maximum lines of a part. Decoding one and adding it to an answer takes less than a millisecond. */
export const partLength = 500;

/** Returns the findings in parts. */
export function* decodeFindings(encoded: EncodedFindings): Generator<FindingPart> {
  const decoder = new Decoder(encoded);
  while (!decoder.isAtEnd) yield* decoder.readFinding();
}

class Decoder {
  readonly #ascii: string;
  readonly #other: string;
  readonly #numbers: Int32Array;
  #at = 0;
  #asciiStart = 0;
  #otherStart = 0;

  constructor({ ascii, other, numbers }: EncodedFindings) {
    this.#ascii = ascii;
    this.#other = other;
    this.#numbers = numbers;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#numbers.length;
  }

  *readFinding(): Generator<FindingPart> {
    const [index, flags, count] = [this.#number(), this.#number(), this.#number()];
    const [matches, length] = [this.#number(), this.#number()];
    const isInPath = (flags & inPath) !== 0;
    const first = matches === 0 ? { index, isInPath, count } : { index, isInPath, count, matches };
    const later = { index, isInPath: false, count: 0 };
    for (let from = 0; from === 0 || from < length; from += partLength) {
      const lines = this.#readLines(Math.min(partLength, length - from), flags);
      yield { part: { ...(from === 0 ? first : later), lines }, isLast: from + partLength >= length };
    }
  }

  #readLines(length: number, flags: number): LineMatch[] {
    const isAscii = (flags & asciiTexts) !== 0;
    const lines: LineMatch[] = [];
    const isPlain = (flags & (hasContext | hasEnds)) === 0;
    for (let left = length; left > 0; left--) {
      const [line, column, units] = [this.#number(), this.#number(), this.#number()];
      lines.push(
        isPlain
          ? { line, column, text: this.#text(units, isAscii) }
          : this.#fullMatch({ line, column }, { units, isAscii, flags }),
      );
    }
    return lines;
  }

  #fullMatch(
    place: Pick<LineMatch, "line" | "column">,
    { units, isAscii, flags }: { units: number; isAscii: boolean; flags: number },
  ): LineMatch {
    const [end_line, end_column] = flags & hasEnds ? [this.#number(), this.#number()] : [];
    const text = this.#text(units, isAscii);
    if ((flags & hasContext) === 0 && end_line && end_column !== undefined)
      return { line: place.line, column: place.column, end_line, end_column, text };
    return {
      ...place,
      ...(end_line && { end_line }),
      ...(end_column !== undefined && { end_column }),
      text,
      ...(flags & hasContext && this.#context(isAscii)),
    };
  }

  #number(): number {
    return this.#numbers[this.#at++]!;
  }

  #text(units: number, isAscii: boolean): string {
    const start = isAscii ? this.#asciiStart : this.#otherStart;
    const end = start + units;
    if (isAscii) this.#asciiStart = end;
    else this.#otherStart = end;
    return (isAscii ? this.#ascii : this.#other).slice(start, end);
  }

  #context(isAscii: boolean): Pick<LineMatch, "before" | "after"> {
    const [before, after] = [this.#list(isAscii), this.#list(isAscii)];
    return { ...(before && { before }), ...(after && { after }) };
  }

  #list(isAscii: boolean): string[] | undefined {
    const length = this.#number();
    return length === 0
      ? undefined
      : Array.from({ length: length - 1 }, () => this.#text(this.#number(), isAscii));
  }
}
