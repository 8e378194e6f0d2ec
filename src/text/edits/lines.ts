/**
 * The lines of a file that is kept as bytes. A line ends in "\n" or "\r\n"; a lone "\r" is a byte of its
 * line. The last line may lack its ending, and an empty file has no lines. A UTF-8 byte order mark at the
 * start precedes line 1 and belongs to no line. The bytes need not be UTF-8.
 */

import type { LineEnding } from "../encodings/line-ends.ts";
import { chunkBytes, kernelFor } from "../sizes/kernel.ts";

/** The findings of one pass over a file. */
export interface LineSurvey {
  readonly lines: number;
  /** The prevailing ending; "\n" if both are equally frequent or missing. */
  readonly ending: LineEnding;
  /**
   * The ending of every line, except perhaps the last, which may have none; `undefined` if endings differ or
   * are missing.
   */
  readonly onlyEnding: LineEnding | undefined;
  /**
   * The starts of the requested lines, in bytes. The line after the last one starts at the end of the file.
   */
  readonly starts: ReadonlyMap<number, number>;
}

export const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Returns the length in bytes of the file's UTF-8 byte order mark: 3 or 0. */
export function bomLength(body: Buffer): 0 | 3 {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
}

/** Returns the number of lines. */
export function countLines(body: Buffer): number {
  return surveyLines(body, []).lines;
}

/** Returns the number of line feeds, and of those after a "\r". */
export function countLineEnds(text: Buffer): { feeds: number; crlf: number } {
  const kernel = kernelFor(text.length);
  let [feeds, crlf] = [0, 0];
  for (let from = 0; from < text.length; from += chunkBytes) {
    const counts = kernel.countEndings(
      text.copy(kernel.chunk, 0, from, from + chunkBytes),
      text[from - 1] ?? 0,
    );
    feeds += counts & 0xffff;
    crlf += counts >>> 16;
  }
  return { feeds, crlf };
}

/**
 * Returns the end of the `lines`-th line to end at or after the offset `from`, and the number of lines up to
 * there: fewer than `lines` if the bytes end first.
 */
export function skipLines(bytes: Buffer, from: number, lines: number): { end: number; lines: number } {
  if (lines === 0) return { end: from, lines };
  const kernel = kernelFor(bytes.length - from);
  let ended = 0;
  for (let at = from; at < bytes.length; at += chunkBytes) {
    const length = bytes.copy(kernel.chunk, 0, at, at + chunkBytes);
    const endedAfter = ended + (kernel.countEndings(length, 0) & 0xffff);
    if (endedAfter >= lines) return { end: endOfLines(bytes, [at, at + length], lines - ended), lines };
    ended = endedAfter;
  }
  return { end: bytes.length, lines: ended };
}

/** Maximum lines whose ends are found one by one. */
const fewLines = 32;

/**
 * Returns the end of the `lines`-th line to end in a range of at most one chunk, which has as many. Halving
 * the range, and counting the ends in one half, takes a fraction of the time of finding them all.
 */
function endOfLines(bytes: Buffer, [from, to]: readonly [number, number], lines: number): number {
  const kernel = kernelFor(0);
  let [at, end, left] = [from, to, lines];
  while (left > fewLines) {
    const middle = (at + end) >>> 1;
    const ended = kernel.countEndings(bytes.copy(kernel.chunk, 0, at, middle), 0) & 0xffff;
    if (ended >= left) end = middle;
    else [at, left] = [middle, left - ended];
  }
  for (; left > 0; left--) at = bytes.indexOf(lineFeed, at) + 1;
  return at;
}

/**
 * Surveys the file in one pass. `wanted` are line numbers from 1, ascending; those past the end get no start.
 */
export function surveyLines(body: Buffer, wanted: readonly number[]): LineSurvey {
  const starts = new Map<number, number>();
  const kernel = kernelFor(body.length);
  let requested = wanted.findIndex((line) => line > 1);
  if (requested !== 0) starts.set(1, bomLength(body));
  if (requested === -1) requested = wanted.length;
  let feeds = 0;
  let crlf = 0;
  for (let from = 0; from < body.length; from += chunkBytes) {
    const length = body.copy(kernel.chunk, 0, from, from + chunkBytes);
    const counts = kernel.countEndings(length, body[from - 1] ?? 0);
    const feedsAfter = feeds + (counts & 0xffff);
    crlf += counts >>> 16;
    // Line 2 starts after the first line feed, and so on.
    for (let at = from; requested < wanted.length && wanted[requested]! <= feedsAfter + 1; requested++) {
      at = endOfLines(body, [at, from + length], wanted[requested]! - 1 - feeds);
      feeds = wanted[requested]! - 1;
      starts.set(wanted[requested]!, at);
    }
    feeds = feedsAfter;
  }
  const isOpen = body.length > bomLength(body) && body[body.length - 1] !== lineFeed;
  const lines = isOpen ? feeds + 1 : feeds;
  if (isOpen && wanted.includes(lines + 1)) starts.set(lines + 1, body.length);
  const ending = crlf * 2 > feeds ? "\r\n" : "\n";
  const isUniform = feeds > 0 && (crlf === 0 || crlf === feeds);
  return { lines, ending, onlyEnding: isUniform ? ending : undefined, starts };
}

/** Returns the ending of the line that ends at byte `end`, or "" for a last line without one. */
export function endingBefore(body: Buffer, end: number): LineEnding | "" {
  if (body[end - 1] !== lineFeed) return "";
  return body[end - 2] === carriageReturn ? "\r\n" : "\n";
}
