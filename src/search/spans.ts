/** The search for matches that may span lines. */
import { lineEndBefore, linesAfter, linesBefore } from "./line-text.ts";
import { type LineMatch, type LineSearch, unitsOf } from "./lines.ts";
import { isAfter } from "./place.ts";
import type { TextMatcher } from "./text-matcher.ts";
import { cutEnd } from "./utf8.ts";

/** Largest text that is matched as a whole, in bytes: the engine holds it, and a result of up to three times its size. */
export const longestText = 10 * 1024 * 1024;

/** A match, and its lines. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly lineStart: number;
  readonly endLine: number;
  readonly endLineStart: number;
  /** Offset of the newline at the end of its last line. */
  readonly next: number;
}

const newline = 0x0a;

/**
 * Returns the matches in `text[0, length)`, in order: of those that share a line the first one, or every one. None when
 * the text holds a NUL byte, as a binary does. Overwrites `slackBytes` after the text.
 */
export function searchSpans(
  text: Buffer,
  length: number,
  matcher: TextMatcher,
  search: LineSearch,
): LineMatch[] {
  const matches: LineMatch[] = [];
  for (let limit = search.maxMatches; ; limit *= growth) {
    const offsets = offsetsIn(text, length, { matcher, search, limit });
    matches.length = 0;
    let units = 0;
    for (const span of spansOf(text, length, { offsets, search })) {
      if (!isAfter(placeOf(span), search.after)) continue;
      const match = matchOf({ text, length, search }, span);
      units += unitsOf(match);
      matches.push(match);
      if (units >= search.maxUnits || matches.length === search.maxMatches) return matches;
    }
    if (offsets.length < 2 * limit) return matches;
  }
}

/** How many times as many matches are found where too many of them share lines. */
const growth = 16;

const placeOf = ({ line, start, lineStart }: Span) => ({ line, column: start - lineStart + 1 });

/** Counts them, at most `maxMatches`; 0 when the search had to end before. */
export function countSpans(text: Buffer, length: number, matcher: TextMatcher, search: LineSearch): number {
  const limit = Number.POSITIVE_INFINITY;
  const offsets = offsetsIn(text, length, { matcher, search, limit });
  let count = 0;
  for (const _ of spansOf(text, length, { offsets, search })) {
    if (search.isOver()) return 0;
    if (++count === search.maxMatches) break;
  }
  return search.isOver() ? 0 : count;
}

/** Start and end of the first `limit` matches; none in a binary. */
function offsetsIn(
  text: Buffer,
  length: number,
  { matcher, search, limit }: { matcher: TextMatcher; search: LineSearch; limit: number },
): readonly number[] {
  text[length] = newline;
  if (!matcher.mayMatch(text, length)) return [];
  const whole = text.subarray(0, length);
  if (!whole.includes(0)) return matcher.findEach(whole, limit);
  search.onBinary?.();
  return [];
}

/** The matches that count, each with its lines. */
function* spansOf(
  text: Buffer,
  length: number,
  { offsets, search }: { offsets: readonly number[]; search: LineSearch },
): Generator<Span> {
  const { every = false, lineBounds } = search;
  const known = { from: 0, counted: 0 };
  const bounds = { start: 0, next: -1, newlines: 0 };
  let line = 1;
  let covered = -1;
  for (let i = 0; i < offsets.length; i += 2) {
    const [start, end] = [offsets[i]!, offsets[i + 1]!];
    // After the last newline there is no line.
    if (start === length && (length === 0 || text[length - 1] === newline)) break;
    if (start <= covered && !every) continue;
    // A line of many matches is looked for once.
    if (start > bounds.next) {
      lineBounds(text, start, known, bounds);
      line += bounds.newlines;
      known.from = known.counted = bounds.start;
    }
    const span = { start, end, line, lineStart: bounds.start, ...lastLine(text, { end, line, ...bounds }) };
    covered = span.next;
    yield span;
  }
}

/** The line of the last byte of a match that begins in the line `text[start, next)` and ends before `end`. */
function lastLine(
  text: Buffer,
  { end, line, start, next }: { end: number; line: number; start: number; next: number },
): Pick<Span, "endLine" | "endLineStart" | "next"> {
  let last = { endLine: line, endLineStart: start, next };
  while (end - 1 > last.next) {
    const from = last.next + 1;
    last = { endLine: last.endLine + 1, endLineStart: from, next: text.indexOf(newline, from) };
  }
  return last;
}

function matchOf(
  { text, length, search }: { text: Buffer; length: number; search: LineSearch },
  { start, end, line, lineStart, endLine, endLineStart, next }: Span,
): LineMatch {
  const { maxLineBytes, linesBefore: before = 0, linesAfter: after = 0 } = search;
  const textEnd = lineEndBefore(text, { start: lineStart, next, length });
  const lines = { text, length, maxLineBytes };
  return {
    line,
    column: start - lineStart + 1,
    end_line: endLine,
    end_column: end - endLineStart + 1,
    text: text.toString(
      "utf8",
      lineStart,
      cutEnd(text, { start: lineStart, end: textEnd, limit: maxLineBytes }),
    ),
    ...(before > 0 && { before: linesBefore(lines, lineStart, before) }),
    ...(after > 0 && { after: linesAfter(lines, next + 1, after) }),
  };
}
