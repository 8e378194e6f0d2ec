import { isUtf8 } from "node:buffer";
import type { Encoding } from "../../text/encodings/codec.ts";
import type { EncodingRule } from "../../text/encodings/encoding-rules.ts";
import type { FindLineBounds } from "../../text/prefilter/line-bounds.ts";
import type { MatchVisitor } from "../../text/regex/each-match.ts";
import { isAfter, type Position } from "../place.ts";
import { excerpt, lineEndBefore, linesAfter, linesBefore, type TextLines } from "./line-text.ts";
import type { LineMatcher, TextMatcher } from "./matcher.ts";
import { cutEnd } from "./utf8.ts";

/** A match, as an answer shows it. */
export interface LineMatch {
  /** The line number, from 1. */
  readonly line: number;
  /** The byte offset in the raw line, from 1. */
  readonly column: number;
  /** The line without its ending, cut to the limit. U+FFFD replaces bytes that are not UTF-8. */
  readonly text: string;
  /** The line of its last byte, if matches may span lines. `text` then contains all its lines. */
  readonly end_line?: number;
  /**
   * The byte offset after its end in its last line, from 1. Present if every match is requested, or matches
   * may span lines.
   */
  readonly end_column?: number;
  /** The lines before it, and those after it, if requested. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/**
 * The results that a search collects from each file: its matches, its presence alone, or the number of
 * matching lines.
 */
export type MatchMode = "content" | "files" | "counts";

/** The options of a caller for lines, which pass unchanged from the handler to the search thread. */
export interface LineOptions {
  /** Maximum bytes of a line that are searched and returned. */
  readonly maxLineBytes: number;
  /**
   * Selects the rules of shell §9.7: only a NUL byte at the start of a file counts, lines that are not UTF-8
   * do not match, and a match shows at most this many bytes of its line, with "…" if it continues.
   */
  readonly textBytes?: number | undefined;
  /**
   * Maximum bytes shown of a line, around its match, with "…" at cuts; lines are then searched whole.
   * Default: all searched bytes are shown.
   */
  readonly excerptBytes?: number | undefined;
  /**
   * Whether to find the lines that do not match instead, each whole and at column 1. Not if matches span
   * lines.
   */
  readonly invert?: boolean;
  /** Whether mode files finds the files without a match instead. Default: false. */
  readonly withoutMatch?: boolean;
  /** Whether mode counts also counts the matches. Default: false. */
  readonly countsMatches?: boolean;
  /** Whether files are searched as text after their byte order mark (`searchText`). Default: false. */
  readonly decodes?: boolean;
  /** The encoding of files without a byte order mark. Default: UTF-8, and invalid bytes stay. */
  readonly encoding?: Encoding;
  /** The encodings of other files by their paths. */
  readonly encodings?: readonly EncodingRule[];
  /** Whether a file with a NUL byte is binary even if nothing in it would match. Default: false. */
  readonly findsBinaries?: boolean;
  /**
   * Maximum lines that each match shows before it, and after it. Default: 0, and the match has no such list.
   */
  readonly linesBefore?: number;
  readonly linesAfter?: number;
  /**
   * Whether each of these lines is shown once, and never a line of another match: those after a match end
   * before the next one, and those before a match begin after the lines of the previous one. This does not
   * depend on where the search starts, so that a page ends like the whole answer does. Default: false.
   */
  readonly disjointContext?: boolean;
  /** Whether to find every match of a line instead of the first one. Default: false. */
  readonly every?: boolean;
  /** The form of the answer. Default: content. */
  readonly mode?: MatchMode;
}

/** The options of the search in one text. */
export interface LineSearch extends LineOptions {
  readonly maxMatches: number;
  /** The UTF-16 units of text after which the search ends, with the match that reaches them. */
  readonly maxUnits: number;
  /** A position. Matches up to it are left out. */
  readonly after?: Position | undefined;
  /** Called when the text turns out to be binary. */
  readonly onBinary?: () => void;
  /** Called when a line matches only after the part that is searched. */
  readonly onLongLine?: (() => void) | undefined;
  /** Returns whether the search has to end; polled at each candidate. */
  readonly isOver: () => boolean;
  /** The work that the search may do. Default: any. */
  readonly effort?: Effort;
  readonly lineBounds: FindLineBounds;
}

/**
 * The work of a search in one file. A step takes about 0.4 microseconds: each candidate takes one, as does
 * each line that is shown, and a match takes more.
 */
export class Effort {
  /** The steps that are left; negative once there were more. */
  left: number;

  constructor(steps: number) {
    this.left = steps;
  }

  get isExceeded(): boolean {
    return this.left < 0;
  }
}

/** The steps of a match: its text, its object, and its size in the answer. */
const stepsOfMatch = 3;

/** Counts the steps of a match that is shown. */
function countMatch({ effort, linesBefore = 0, linesAfter = 0 }: LineSearch): void {
  if (effort !== undefined) effort.left -= stepsOfMatch + linesBefore + linesAfter;
}

/** Returns the UTF-16 units of all texts of these matches. */
export const textUnits = (matches: readonly LineMatch[]): number =>
  matches.reduce((sum, match) => sum + unitsOf(match), 0);

export function unitsOf({ text, before, after }: LineMatch): number {
  if (before === undefined && after === undefined) return text.length;
  return [text, ...(before ?? []), ...(after ?? [])].reduce((sum, { length }) => sum + length, 0);
}

interface MatchedLine {
  /** The line number, from 1. */
  readonly number: number;
  readonly start: number;
  /** The end of the part that is searched. */
  readonly cut: number;
  /** The offset of the newline at its end. */
  readonly next: number;
  /** The offset of the first match. */
  readonly at: number;
}

/** Takes matching lines in order. */
interface MatchSink {
  /** Whether the sink takes no further lines. */
  readonly isFull: boolean;
  add(line: MatchedLine): void;
}

const newline = 0x0a;

/** Returns the number of bytes after a text that a search overwrites. */
export const slackBytes = (matcher: Pick<LineMatcher, "slack">): number => matcher.slack + 1;

/**
 * Returns the matches in `text[0, length)`, in order. A text with a NUL byte is binary and has none.
 * Overwrites `slackBytes` after the text.
 */
export function searchLines(
  text: Buffer,
  length: number,
  matcher: LineMatcher,
  search: LineSearch,
): LineMatch[] {
  const found = new MatchCollector({ text, length, matcher, search });
  return visitLines({ text, length, matcher, search }, found) ? found.matches : [];
}

/**
 * Counts the matching lines, or every match, up to `maxMatches`. Returns 0 if the search had to end early.
 */
export function countMatchingLines(
  text: Buffer,
  length: number,
  matcher: LineMatcher,
  search: LineSearch,
): number {
  const found = new MatchCounter({ text, length, matcher, search });
  return visitLines({ text, length, matcher, search }, found) && !search.isOver() ? found.count : 0;
}

/** The numbers of lines that match, and of matches in them. */
export interface MatchCounts {
  readonly lines: number;
  readonly matches: number;
}

/** Counts the matching lines and every match in one pass. Returns zeros if the search had to end early. */
export function countLinesAndMatches(
  text: Buffer,
  length: number,
  matcher: LineMatcher,
  search: LineSearch,
): MatchCounts {
  const found = new LineAndMatchCounter({ text, length, matcher, search });
  return visitLines({ text, length, matcher, search }, found) && !search.isOver() ? found : none;
}

const none: MatchCounts = { lines: 0, matches: 0 };

/** The input of one search. */
interface SearchedText {
  readonly text: Buffer;
  readonly length: number;
  readonly matcher: LineMatcher;
  readonly search: LineSearch;
}

/**
 * Adds the requested lines to the sink until it is full. Returns false for a binary, whose lines do not
 * count.
 */
const visitLines = (searched: SearchedText, sink: MatchSink): boolean =>
  searched.search.invert ? visitOtherLines(searched, sink) : visitMatchingLines(searched, sink);

/** Adds the lines that do not match. Returns false for a binary. */
function visitOtherLines({ text, length, matcher, search }: SearchedText, sink: MatchSink): boolean {
  if (text.subarray(0, length).includes(0)) {
    search.onBinary?.();
    return false;
  }
  text[length] = newline;
  matcher.prepare(text, length, search.maxLineBytes);
  let [candidate, number] = [-1, 0];
  for (let start = 0, next = 0; start < length && !sink.isFull && !search.isOver(); start = next + 1) {
    number++;
    next = text.indexOf(newline, start);
    if (candidate < start) {
      const hit = matcher.candidate(text, start, length);
      candidate = hit < 0 ? length + 1 : hit;
    }
    const end = lineEndBefore(text, { start, next, length });
    const cut = cutEnd(text, { start, end, limit: search.maxLineBytes });
    if (candidate > next || matcher.locate(text, start, cut) < 0)
      sink.add({ number, start, cut, next, at: start });
  }
  return true;
}

/**
 * Adds the matching lines to the sink until it is full. Returns false for a binary, whose lines do not count.
 */
function visitMatchingLines({ text, length, matcher, search }: SearchedText, sink: MatchSink): boolean {
  const { textBytes } = search;
  if (textBytes !== undefined && text.subarray(0, Math.min(length, headBytes)).includes(0)) return false;
  text[length] = newline;
  matcher.prepare(text, length, search.maxLineBytes);
  const known = { from: 0, counted: 0 };
  const line = { start: 0, next: 0, newlines: 0 };
  let number = 1;
  let isText = textBytes !== undefined;
  let { onLongLine } = search;
  while (known.from < length && !sink.isFull && !search.isOver()) {
    const hit = matcher.candidate(text, known.from, length);
    if (hit < 0 || hit > length) break;
    search.lineBounds(text, hit, known, line);
    number += line.newlines;
    const { start, next } = line;
    known.counted = start;
    known.from = next + 1;
    const end = lineEndBefore(text, { start, next, length });
    const cut = cutEnd(text, { start, end, limit: search.maxLineBytes });
    const at = matcher.locate(text, start, cut);
    if (at < 0 && (cut === end || onLongLine === undefined || matcher.locate(text, start, end) < 0)) continue;
    if (textBytes !== undefined && !isUtf8(text.subarray(start, end))) continue;
    if (!isText && text.subarray(0, length).includes(0)) {
      search.onBinary?.();
      return false;
    }
    isText = true;
    if (at < 0) {
      onLongLine?.();
      onLongLine = undefined;
    } else sink.add({ number, start, cut, next, at });
  }
  return true;
}

/** The bytes at the start of a file in which a NUL byte means a binary. */
const headBytes = 8192;

/** The offsets of the lines of a match: the start of the first, and the newline at the end of the last. */
interface MatchedLines {
  readonly start: number;
  readonly next: number;
}

/** Collects matches in order, with the lines around them. */
export class FoundMatches {
  readonly matches: LineMatch[] = [];
  readonly #lines: TextLines;
  readonly #search: LineSearch;
  /** Whether the lines after a match depend on the next match. */
  readonly #endsAtNext: boolean;
  /** The last line of the last match, or of one that earlier pages hold. */
  #lastLine = Number.NEGATIVE_INFINITY;
  #units = 0;
  #hasSeenNext = false;

  constructor({ text, length, search }: Pick<SearchedText, "text" | "length" | "search">) {
    this.#search = search;
    this.#lines = { text, length, ...shownBytes(search) };
    const { disjointContext = false, linesAfter: after = 0 } = search;
    this.#endsAtNext = disjointContext && after > 0;
  }

  get isFull(): boolean {
    return this.#holdsAll && (this.#hasSeenNext || !this.#endsAtNext);
  }

  /** Returns the number of matches to visit, at least one unless the collection is full. */
  get remaining(): number {
    if (this.isFull) return 0;
    return this.#search.maxMatches - this.matches.length + (this.#endsAtNext ? 1 : 0);
  }

  get #holdsAll(): boolean {
    return this.matches.length >= this.#search.maxMatches || this.#units >= this.#search.maxUnits;
  }

  /** Notes a match that is left out, because an earlier page holds it. */
  passOver(endLine: number): void {
    this.#lastLine = endLine;
  }

  add(match: LineMatch, { start, next }: MatchedLines): void {
    const { line, end_line: endLine = line } = match;
    if (this.#endsAtNext) this.#endBefore(line);
    if (!this.#holdsAll) this.#push(withContext(match, this.#context(line, { start, next })));
    else this.#hasSeenNext = true;
    this.#lastLine = endLine;
  }

  #push(match: LineMatch): void {
    countMatch(this.#search);
    this.#units += unitsOf(match);
    this.matches.push(match);
  }

  /** Removes the lines from `line` on from those after the last match. */
  #endBefore(line: number): void {
    const last = this.matches.at(-1);
    const after = last?.after?.slice(0, Math.max(0, line - 1 - this.#lastLine));
    if (after === undefined || after.length === last!.after!.length) return;
    const ended = { ...last!, after };
    this.#units += unitsOf(ended) - unitsOf(last!);
    this.matches[this.matches.length - 1] = ended;
  }

  #context(line: number, { start, next }: MatchedLines): Context | undefined {
    const { linesBefore: before = 0, linesAfter: after = 0, disjointContext } = this.#search;
    if (before === 0 && after === 0) return undefined;
    const free = disjointContext ? Math.max(0, line - 1 - after - this.#lastLine) : before;
    return {
      ...(before > 0 && { before: linesBefore(this.#lines, start, Math.min(before, free)) }),
      ...(after > 0 && { after: linesAfter(this.#lines, next + 1, after) }),
    };
  }
}

type Context = Pick<LineMatch, "before" | "after">;

/** Returns the limits of lines around a match. */
const shownBytes = ({ excerptBytes, maxLineBytes }: LineOptions) => ({
  maxLineBytes: excerptBytes ?? maxLineBytes,
  marksCuts: excerptBytes !== undefined,
});

/** Adds the context, if any, without a spread otherwise, which takes longer than the rest of an object. */
const withContext = (match: LineMatch, context: Context | undefined): LineMatch =>
  context === undefined ? match : { ...match, ...context };

class MatchCollector implements MatchSink {
  readonly #text: Buffer;
  readonly #matcher: LineMatcher;
  readonly #search: LineSearch;
  readonly #found: FoundMatches;

  constructor(searched: SearchedText) {
    this.#text = searched.text;
    this.#matcher = searched.matcher;
    this.#search = searched.search;
    this.#found = new FoundMatches(searched);
  }

  get matches(): LineMatch[] {
    return this.#found.matches;
  }

  get isFull(): boolean {
    return this.#found.isFull;
  }

  add(line: MatchedLine): void {
    const { number, start, at } = line;
    const { every = false, after } = this.#search;
    // Only a later match than `after` counts; this excludes earlier lines, and this one if it is shown once.
    if (!isAfter({ line: number, column: every ? wholeLine : at - start + 1 }, after))
      this.#found.passOver(number);
    else if (every) this.#addEach(line, this.#excerpt(line));
    else this.#found.add({ line: number, column: at - start + 1, text: this.#excerpt(line) }, line);
  }

  #addEach(line: MatchedLine, whole: string): void {
    const { number, start, cut } = line;
    const isCut = cut - start > (this.#search.excerptBytes ?? Number.POSITIVE_INFINITY);
    this.#visitEach(line, (from, to) => {
      const place = { line: number, column: from + 1 };
      const text = isCut ? this.#excerpt({ ...line, at: start + from }) : whole;
      if (isAfter(place, this.#search.after)) this.#found.add({ ...place, end_column: to + 1, text }, line);
      else this.#found.passOver(number);
      return !this.isFull && !this.#search.isOver();
    });
  }

  /** Visits every match of the line until `visit` takes no further ones. */
  #visitEach({ number, start, cut }: MatchedLine, visit: MatchVisitor): void {
    const limit = number === this.#search.after?.line ? Number.POSITIVE_INFINITY : this.#found.remaining;
    this.#matcher.visitEach(this.#text, { start, end: cut, limit }, visit);
  }

  #excerpt({ start, cut, at }: MatchedLine): string {
    const { textBytes, excerptBytes } = this.#search;
    const text = this.#text;
    if (excerptBytes !== undefined) return excerpt(text, { start, end: cut, at, limit: excerptBytes });
    if (textBytes === undefined || cut - start <= textBytes) return text.toString("utf8", start, cut);
    return `${text.toString("utf8", start, cutEnd(text, { start, end: cut, limit: textBytes }))}…`;
  }
}

/** A column after every match of a line. */
const wholeLine = Number.POSITIVE_INFINITY;

class MatchCounter implements MatchSink {
  count = 0;
  readonly #searched: SearchedText;

  constructor(searched: SearchedText) {
    this.#searched = searched;
  }

  get isFull(): boolean {
    return this.count >= this.#searched.search.maxMatches;
  }

  add({ start, cut }: MatchedLine): void {
    const { text, matcher, search } = this.#searched;
    const left = search.maxMatches - this.count;
    if (!search.every || left <= 1) this.count++;
    else this.count += Math.min(left, countMatchesIn(text, { start, end: cut, matcher, search }));
  }
}

class LineAndMatchCounter implements MatchSink, MatchCounts {
  readonly isFull = false;
  lines = 0;
  matches = 0;
  readonly #searched: SearchedText;

  constructor(searched: SearchedText) {
    this.#searched = searched;
  }

  add({ start, cut }: MatchedLine): void {
    const { text, matcher, search } = this.#searched;
    this.lines++;
    this.matches += countMatchesIn(text, { start, end: cut, matcher, search });
  }
}

interface CountedPart {
  readonly start: number;
  readonly end: number;
  readonly matcher: LineMatcher | TextMatcher;
  readonly search: LineSearch;
}

/** Counts the matches in a part of a text, unless that takes more steps than are left. */
export function countMatchesIn(text: Buffer, { start, end, matcher, search }: CountedPart): number {
  const { effort } = search;
  if (effort === undefined) return matcher.countEach(text, { start, end, limit: Number.POSITIVE_INFINITY });
  const count = matcher.countEach(text, { start, end, limit: Math.max(0, effort.left) + 1 });
  effort.left -= count;
  return count;
}
