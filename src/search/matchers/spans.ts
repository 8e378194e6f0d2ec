/** The search for matches that may span lines. */

import { isAfter } from "../place.ts";
import type { AnchoredSearch } from "./anchored-search.ts";
import { linesOfMatches } from "./candidate-lines.ts";
import { excerptOfLines, lineEndBefore } from "./line-text.ts";
import { countMatchesIn, FoundMatches, type LineMatch, type LineSearch } from "./lines.ts";
import type { TextMatcher } from "./matcher.ts";
import { cutEnd } from "./utf8.ts";

/**
 * Maximum bytes of a text that is matched as a whole, because the engine holds it, and a result of up to
 * three times its size.
 */
export const maxTextBytes = 10 * 1024 * 1024;

/** A match, and its lines. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly lineStart: number;
  endLine: number;
  endLineStart: number;
  /** The offset of the newline at the end of its last line. */
  next: number;
}

const newline = 0x0a;

/**
 * Returns the matches in `text[0, length)`, in order; of matches that share a line only the first, unless
 * every one is requested. A text with a NUL byte is binary and has none. Overwrites `slackBytes` after the
 * text.
 */
export function searchSpans(
  text: Buffer,
  length: number,
  matcher: TextMatcher,
  search: LineSearch,
): LineMatch[] {
  const found = new SpanCollector({ text, length, search });
  visitSpans({ text, length, matcher, search }, found);
  return found.matches;
}

/** Counts the matches, up to `maxMatches`. Returns 0 if the search had to end early. */
export function countSpans(text: Buffer, length: number, matcher: TextMatcher, search: LineSearch): number {
  const found = new SpanCounter(search);
  visitSpans({ text, length, matcher, search }, found);
  return search.isOver() ? 0 : Math.min(found.count, search.maxMatches);
}

/** The input of one search. */
interface SearchedText {
  readonly text: Buffer;
  readonly length: number;
  readonly matcher: TextMatcher;
  readonly search: LineSearch;
}

interface SpanSink {
  /** The number of matches that the sink still takes. */
  readonly remaining: number;
  /** Whether the sink takes the number of matches in place of each. */
  readonly takesCounts: boolean;
  addCount(count: number): void;
  add(span: Span): void;
}

/** Adds the matches that count to the sink until it is full; none in a binary. */
function visitSpans(searched: SearchedText, sink: SpanSink): void {
  const { text, length, matcher, search } = searched;
  text[length] = newline;
  const visit = new SpanVisit(searched, sink);
  const { anchored } = matcher;
  if (anchored !== undefined && visit.visitAnchored(anchored)) return;
  let isText = false;
  matcher.prepare(text, length);
  for (let from = 0; from < length && sink.remaining > 0 && !search.isOver(); ) {
    const candidate = matcher.candidate(text, from, length);
    if (candidate < 0 || candidate > length) return;
    if (!isText && text.subarray(0, length).includes(0)) {
      search.onBinary?.();
      return;
    }
    isText = true;
    from = visit.visitFrom(from, candidate);
  }
}

/** The factor of the limit when too many of the found matches share lines. */
const growth = 16;

class SpanVisit {
  readonly #searched: SearchedText;
  readonly #sink: SpanSink;
  readonly #known = { from: 0, counted: 0 };
  /** The line of the last match, or of the last candidate whose match is in its line. */
  readonly #bounds = { start: 0, next: -1, newlines: 0 };
  #line = 1;
  /** The end of the last line of the last match that counted. */
  #covered = -1;
  /** The number of leading matches that the anchored search has already visited. */
  #visited = 0;

  constructor(searched: SearchedText, sink: SpanSink) {
    this.#searched = searched;
    this.#sink = sink;
  }

  /**
   * Visits the matches without the engine. Returns false if the engine has to take over, from the start of
   * the text, because a match may end within a line.
   */
  visitAnchored(anchored: AnchoredSearch): boolean {
    const { text, length, search } = this.#searched;
    const sink = this.#sink;
    anchored.prepare(text, length);
    for (let from = 0; sink.remaining > 0 && !search.isOver(); from = anchored.end) {
      const start = anchored.next(text, from);
      if (start === undefined) return false;
      if (start < 0) return true;
      this.#visited++;
      if (sink.takesCounts) sink.addCount(1);
      else this.#visit(start, anchored.end, length);
    }
    return true;
  }

  /**
   * Visits the matches of a candidate, the first one in `text[from, length)`. Returns the start of the line
   * where the search continues.
   */
  visitFrom(from: number, candidate: number): number {
    const { text, length, matcher } = this.#searched;
    const { reach } = matcher;
    if (reach !== "line") {
      const nextCandidate = (line: number) => matcher.candidate(text, line, length);
      const { start, end } = linesOfMatches({ text, from, length }, reach, candidate, nextCandidate);
      this.#visitPart(start, end);
      return end;
    }
    this.#moveTo(candidate);
    const { start, next } = this.#bounds;
    const end = Math.min(next + 1, length);
    this.#visitPart(start, end);
    return end;
  }

  #moveTo(offset: number): void {
    const bounds = this.#bounds;
    this.#searched.search.lineBounds(this.#searched.text, offset, this.#known, bounds);
    this.#line += bounds.newlines;
    this.#known.from = this.#known.counted = bounds.start;
  }

  /** Visits the matches in the lines `text[start, end)`. */
  #visitPart(start: number, end: number): void {
    const { text, matcher, search } = this.#searched;
    const sink = this.#sink;
    if (sink.takesCounts && !matcher.matchesEmpty) {
      const count = countMatchesIn(text, { start, end, matcher, search });
      const visited = Math.min(this.#visited, count);
      this.#visited -= visited;
      sink.addCount(count - visited);
      return;
    }
    const isOne = matcher.reach === "line" && search.every !== true;
    let visited = 0;
    for (let limit = isOne ? 1 : sink.remaining; ; limit *= growth) {
      let index = 0;
      const visit = (from: number, to: number) =>
        index++ < visited || this.#isVisited() || this.#visit(start + from, start + to, end);
      matcher.visitEach(text, { start, end, limit }, visit);
      if (isOne || index < limit || sink.remaining <= 0 || search.isOver()) return;
      visited = index;
    }
  }

  /** Returns whether the anchored search has already visited the next match. */
  #isVisited(): boolean {
    if (this.#visited === 0) return false;
    this.#visited--;
    return true;
  }

  /** Visits a match in a part of the text up to `partEnd`. Returns false to stop visiting. */
  #visit(start: number, end: number, partEnd: number): boolean {
    const { text, search } = this.#searched;
    // No line follows the last newline of the text, and the next part follows that of a part.
    if (start === partEnd && (start === 0 || text[start - 1] === newline)) return false;
    if (start <= this.#covered && !search.every) return true;
    // A line with many matches is located once.
    if (start > this.#bounds.next) this.#moveTo(start);
    const line = this.#line;
    const { start: lineStart, next } = this.#bounds;
    // Nearly all matches come here, and spreads would take longer than the rest.
    const span: Span = { start, end, line, lineStart, endLine: line, endLineStart: lineStart, next };
    moveToLastLine(text, span);
    if (search.effort !== undefined) search.effort.left -= span.endLine - line;
    this.#covered = span.next;
    this.#sink.add(span);
    return this.#sink.remaining > 0 && !search.isOver();
  }
}

class SpanCollector implements SpanSink {
  readonly takesCounts = false;
  readonly #shown: ShownText;
  readonly #found: FoundMatches;

  constructor(shown: ShownText) {
    this.#shown = shown;
    this.#found = new FoundMatches(shown);
  }

  get matches(): LineMatch[] {
    return this.#found.matches;
  }

  get remaining(): number {
    return this.#found.remaining;
  }

  addCount(): void {}

  add(span: Span): void {
    if (isAfter(placeOf(span), this.#shown.search.after))
      this.#found.add(matchOf(this.#shown, span), { start: span.lineStart, next: span.next });
    else this.#found.passOver(span.endLine);
  }
}

const placeOf = ({ line, start, lineStart }: Span) => ({ line, column: start - lineStart + 1 });

class SpanCounter implements SpanSink {
  count = 0;
  readonly takesCounts: boolean;
  readonly #maxMatches: number;

  constructor({ every = false, maxMatches }: LineSearch) {
    this.takesCounts = every && maxMatches > 1;
    this.#maxMatches = maxMatches;
  }

  get remaining(): number {
    return this.#maxMatches - this.count;
  }

  addCount(count: number): void {
    this.count += count;
  }

  add(): void {
    this.count++;
  }
}

/** Moves the end of a match from its first line to that of its last byte. */
function moveToLastLine(text: Buffer, span: Span): void {
  while (span.end - 1 > span.next) {
    span.endLine++;
    span.endLineStart = span.next + 1;
    span.next = text.indexOf(newline, span.endLineStart);
  }
}

function matchOf({ text, length, search }: ShownText, span: Span): LineMatch {
  const { start, end, line, lineStart, endLine, endLineStart, next } = span;
  const { maxLineBytes, excerptBytes } = search;
  const textEnd = lineEndBefore(text, { start: lineStart, next, length });
  return {
    line,
    column: start - lineStart + 1,
    end_line: endLine,
    end_column: end - endLineStart + 1,
    text:
      excerptBytes === undefined
        ? text.toString(
            "utf8",
            lineStart,
            cutEnd(text, { start: lineStart, end: textEnd, limit: maxLineBytes }),
          )
        : excerptOfLines(text, { start: lineStart, end: textEnd, at: start, limit: excerptBytes }),
  };
}

type ShownText = Pick<SearchedText, "text" | "length" | "search">;
