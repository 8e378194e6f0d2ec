/** Finds whole lines in a text that is kept as bytes: their bounds, and their numbers. */
import { bomLength, countLines } from "./lines.ts";
import type { Region } from "./splices.ts";

const lineFeed = 0x0a;

/** Returns the start of the line that contains byte `at`, or the end of the text. */
export function lineStart(body: Buffer, at: number): number {
  if (at <= bomLength(body)) return bomLength(body);
  return Math.max(body.lastIndexOf(lineFeed, at - 1) + 1, bomLength(body));
}

/** Returns the end of the line that contains byte `at`: after its line feed, or the end of the text. */
export function lineEnd(body: Buffer, at: number): number {
  const feed = body.indexOf(lineFeed, at);
  return feed < 0 ? body.length : feed + 1;
}

/**
 * Returns the whole lines that a region touches, plus up to `context` lines on both sides. An empty region
 * touches the line that it lies in, but none if it lies between two lines.
 */
export function linesAround(body: Buffer, { from, to }: Region, context: number): Region {
  let start = lineStart(body, from);
  const isBetween = from === to && start === Math.max(from, bomLength(body));
  let end = isBetween ? start : lineEnd(body, Math.max(from, to - 1));
  for (let line = 0; line < context; line++) {
    if (start > bomLength(body)) start = lineStart(body, start - 1);
    if (end < body.length) end = lineEnd(body, end);
  }
  return { from: start, to: end };
}

/** Numbers the lines of one text. Ascending places are counted in one pass. */
export class LineNumbers {
  readonly #body: Buffer;
  #at = 0;
  #number = 1;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /**
   * Returns the number, from 1, of the line that begins at byte `start`, which must be the start of a line,
   * or the end.
   */
  of(start: number): number {
    if (start < this.#at) [this.#at, this.#number] = [0, 1];
    this.#number += countLines(this.#body.subarray(this.#at, start));
    this.#at = start;
    return this.#number;
  }
}

/** Splits bytes that begin with a line into lines, without their endings. */
export function splitLines(lines: Buffer): Buffer[] {
  const split: Buffer[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = lineEnd(lines, at);
    split.push(withoutEnding(lines.subarray(at, end)));
    at = end;
  }
  return split;
}

function withoutEnding(line: Buffer): Buffer {
  if (line.at(-1) !== lineFeed) return line;
  return line.subarray(0, line.length - (line.at(-2) === 0x0d ? 2 : 1));
}
