/** The lines around a candidate that contain all its possible matches. */
import { anyText, type Extent, extentOf } from "../../text/regex/text-shape.ts";

/** The extent of a match before the line of its candidate, and after it. */
interface TextReach {
  readonly before: Extent;
  readonly after: Extent;
}

/** The extent of the matches of a candidate: its line, or a part of the text around it. */
export type CandidateReach = "line" | TextReach;

export const wholeText: TextReach = { before: anyText, after: anyText };

/** The reach of a match that starts in the line of its candidate. */
export const fromLineOn: TextReach = { before: extentOf([]), after: anyText };

/** The part of a text that is searched. A newline follows `text[0, length)`. */
interface SearchedPart {
  readonly text: Buffer;
  /** The start of a line. No unknown match starts before it. */
  readonly from: number;
  readonly length: number;
}

/** A range of whole lines, `text[start, end)`. */
interface LineRange {
  readonly start: number;
  readonly end: number;
}

const newline = 0x0a;

/** Maximum bytes between two candidates that the engine reads faster than it starts another call. */
const closeBytes = 1024;

/** Returns the first candidate at or after the start of a line, or -1. */
type NextCandidate = (from: number) => number;

/**
 * Returns the lines of the matches of a candidate, and of the next candidates while their lines overlap.
 * These lines match on their own exactly as they do in the text.
 */
export function linesOfMatches(
  { text, from, length }: SearchedPart,
  { before, after }: TextReach,
  candidate: number,
  nextCandidate: NextCandidate,
): LineRange {
  if (before.isAny) return { start: from, end: length };
  const start = lineStart(text, earliestStart(text, lineStart(text, candidate), before, from));
  if (after.isAny) return { start, end: length };
  let [end, reached] = [0, 0];
  for (let hit = candidate; ; ) {
    const next = text.indexOf(newline, hit);
    // A walk over any number of newlines ends where the previous one did.
    if (next >= reached || Number.isFinite(after.newlines)) {
      reached = latestEnd(text, next, after, length);
      end = Math.max(end, Math.min(length, text.indexOf(newline, reached) + 1));
    }
    hit = next + 1 < length ? nextCandidate(next + 1) : -1;
    if (hit < 0 || hit >= length) return { start, end };
    const line = lineStart(text, hit);
    if (line >= end + closeBytes && earliestStart(text, line, before, end - 1) >= end) return { start, end };
  }
}

const lineStart = (text: Buffer, at: number): number =>
  at === 0 ? 0 : text.lastIndexOf(newline, at - 1) + 1;

/** Returns the lowest offset from `lowest` on such that the extent contains all bytes up to `line`. */
function earliestStart(text: Buffer, line: number, { bytes, newlines }: Extent, lowest: number): number {
  let at = line;
  for (let left = newlines; at > lowest; at--) {
    const byte = text[at - 1]!;
    if (bytes[byte] === 0 || (byte === newline && left-- === 0)) return at;
  }
  return at;
}

/**
 * Returns the highest offset up to `length` such that the extent contains all bytes from `next`, the end of a
 * line.
 */
function latestEnd(text: Buffer, next: number, { bytes, newlines }: Extent, length: number): number {
  let at = next;
  for (let left = newlines; at < length; at++) {
    const byte = text[at]!;
    if (bytes[byte] === 0 || (byte === newline && left-- === 0)) return at;
  }
  return at;
}
