import { beginsAsText, type FileBuffer } from "../../filesystem/files/file-buffer.ts";
import { ignoreVanished } from "../../filesystem/files/ignore-vanished.ts";
import { isUtf16 } from "../../text/encodings/codec.ts";
import { type EncodingRule, EncodingRules } from "../../text/encodings/encoding-rules.ts";
import { beginsAsUtf16, beginsNoMark, searchText } from "../../text/encodings/search-text.ts";
import type { FindLineBounds } from "../../text/prefilter/line-bounds.ts";
import {
  countLinesAndMatches,
  countMatchingLines,
  Effort,
  type LineMatch,
  type LineOptions,
  type LineSearch,
  type MatchCounts,
  type MatchMode,
  searchLines,
  slackBytes,
  textUnits,
} from "../matchers/lines.ts";
import type { TextMatcher } from "../matchers/matcher.ts";
import type { QueryMatcher } from "../matchers/query-compiler.ts";
import { countSpans, maxTextBytes, searchSpans } from "../matchers/spans.ts";
import { afterFile, atPath, isAfter, type Position } from "../place.ts";
import { outcomes, withLongLine } from "../walk/tally.ts";
import type { FileCursor } from "./file-cursor.ts";

/** The matches in the contents of a file. */
export interface FileMatches {
  /** The matching lines; empty unless the mode is content. */
  readonly lines: readonly LineMatch[];
  /** The number of matching lines in mode counts; 1 in mode files if any line matches; else 0. */
  readonly count: number;
  /** The number of matches in mode counts, if it was requested. */
  readonly matches?: number;
}

/** The matches in one file, at least one. */
export interface Finding extends FileMatches {
  /** Index of the file in its batch. */
  readonly index: number;
  readonly isInPath: boolean;
}

/** Returns the number of answer entries that a content finding fills. */
export const entriesOf = ({ lines, count }: FileMatches): number => lines.length + Math.min(count, 1);

/** Collects findings in order, and reports how much more it takes. */
export interface FindingSink {
  readonly wantsPaths: boolean;
  readonly wantsContent: boolean;
  /** The content matches that the sink still takes. */
  readonly remainingEntries: number;
  /** The UTF-16 units of match text that the sink still takes. */
  readonly remainingUnits: number;
  add(finding: Finding): void;
}

/** Judges files by an index, and notes their results. */
export interface IndexedFiles {
  /** Returns the outcome of the current file if its content is known not to match and need not be read. */
  outcomeUnread(file: FileCursor): number | undefined;
  /** Called after the current file was read through this descriptor. */
  onRead(file: FileCursor, descriptor: number): void;
  /** Whether the current file was read, and its result may be kept. */
  readonly wantsResult: boolean;
  /** Called after the current file was searched to its end, and all its matches are in its finding. */
  onWholeResult(file: FileCursor, isMatching: boolean, outcome: number): void;
}

export interface FileSearch {
  readonly matcher: QueryMatcher;
  readonly lines: LineOptions;
  /** Opens the file under the cursor. Throws the errno error. */
  readonly open: (file: FileCursor) => number;
  readonly buffer: FileBuffer;
  readonly lineBounds: FindLineBounds;
  /** Maximum bytes of a file. Larger files are skipped. */
  readonly maxFileBytes: number;
  /** Returns whether the search has to end; polled at each file and candidate. */
  readonly isOver: () => boolean;
  /** Returns whether to stop before the next file. Another call can then continue. */
  readonly isPaused?: () => boolean;
  /** Maximum steps of the search in a file (`Effort`), which is else left to another search. Default: any. */
  readonly maxSteps?: number | undefined;
  /** A position in the first file. Matches up to it are left out. */
  readonly after?: Position | undefined;
  /** The files whose contents the index knows, if it was consulted. */
  readonly known?: IndexedFiles | undefined;
  /**
   * Receives the outcome of each file that was searched to its end (`outcomes`). If set, only such files have
   * findings.
   */
  readonly outcomes?: Float64Array | undefined;
}

/**
 * Searches the files after the cursor, until the sink is full or the search is paused or has to end. Returns
 * whether it left the current file to another search, without a finding.
 */
export function searchFiles(file: FileCursor, search: FileSearch, sink: FindingSink): boolean {
  const { matcher, known, outcomes: record } = search;
  const content = new ContentSearch(file, search);
  const wantsMore = () => (sink.wantsPaths || sink.wantsContent) && search.isPaused?.() !== true;
  while (!search.isOver() && wantsMore() && file.next()) {
    const after = file.index === 0 ? search.after : undefined;
    const isInPath = sink.wantsPaths && isAfter(atPath, after) && matcher.matchesPath(file.path);
    const wantsContent = sink.wantsContent;
    const found = wantsContent ? content.search(sink, after) : nothing;
    if (content.isExceeded) return true;
    if (record !== undefined) {
      if (search.isOver()) return false;
      record[file.index] = sink.wantsContent ? content.outcome : 0;
    }
    const isMatching = found.count > 0 || found.lines.length > 0;
    if (known?.wantsResult === true && wantsContent && after === undefined)
      if (isWhole(found, sink) && !search.isOver()) known.onWholeResult(file, isMatching, content.outcome);
    if (isInPath || isMatching) sink.add({ index: file.index, isInPath, ...found });
  }
  return false;
}

/** Returns whether a sink had room for more matches of a file. */
const isWhole = ({ lines }: FileMatches, { remainingEntries, remainingUnits }: FindingSink): boolean =>
  lines.length < remainingEntries && textUnits(lines) < remainingUnits;

/**
 * Returns a check for files that hold no candidate, which spares most files the steps of a full search;
 * `undefined` if the search is not for matching lines of the bytes on disk.
 */
function withoutCandidate(
  matcher: QueryMatcher,
  { encoding, encodings = [], invert, withoutMatch, decodes, findsBinaries, maxLineBytes }: LineOptions,
): ((text: Buffer, length: number) => boolean) | undefined {
  if (isTextMatcher(matcher) || invert || withoutMatch || encoding !== undefined || encodings.length > 0)
    return undefined;
  return (text, length) => {
    text[length] = newline;
    if (decodes && (!beginsNoMark(text[0]!) || text.indexOf(newline) === length)) return false;
    matcher.prepare(text, length, maxLineBytes);
    const candidate = matcher.candidate(text, 0, length);
    return (candidate < 0 || candidate > length) && !(findsBinaries && holdsNul(text, length));
  };
}

const newline = 0x0a;

/** Returns whether `text[0, length)` contains a NUL byte. Overwrites the byte after it. */
function holdsNul(text: Buffer, length: number): boolean {
  text[length] = 0;
  return text.indexOf(0) < length;
}

/** The rules of the last search, which all its batches share. */
let lastRules: { readonly key: string; readonly rules: EncodingRules } | undefined;

function rulesFor(encodings: readonly EncodingRule[]): EncodingRules {
  const key = JSON.stringify(encodings);
  if (lastRules?.key !== key) lastRules = { key, rules: new EncodingRules(encodings) };
  return lastRules.rules;
}

const nothing: FileMatches = { lines: [], count: 0 };

/**
 * Searches the contents of the current file. Allocates once for all files, because most of them match
 * nothing.
 */
class ContentSearch {
  /** The outcome of the last file (`outcomes`). */
  outcome: number = outcomes.gone;
  readonly #lines: Mutable<LineSearch>;
  readonly #maxSteps: number;
  readonly #searchFile: () => FileMatches[];
  readonly #outcomeUnread: () => number | undefined;

  constructor(file: FileCursor, search: FileSearch) {
    const { matcher, open, buffer, lineBounds, maxFileBytes, maxSteps } = search;
    const effort = maxSteps === undefined ? undefined : new Effort(maxSteps);
    const isOver = effort === undefined ? search.isOver : () => effort.left-- < 0 || search.isOver();
    this.#maxSteps = maxSteps ?? Number.POSITIVE_INFINITY;
    const maxBytes = isTextMatcher(matcher) ? Math.min(maxFileBytes, maxTextBytes) : maxFileBytes;
    const onBinary = () => this.#setOutcome(outcomes.binary);
    const onLongLine = () => this.#setOutcome(withLongLine(this.outcome));
    this.#lines = {
      ...search.lines,
      maxMatches: 0,
      maxUnits: 0,
      after: undefined,
      onBinary,
      onLongLine: search.outcomes && onLongLine,
      isOver,
      ...(effort && { effort }),
      lineBounds,
    };
    const { decodes = false, encodings = [] } = search.lines;
    const rules = encodings.length === 0 ? undefined : rulesFor(encodings);
    const encodingOf = () => search.lines.encoding ?? rules?.of(file.path);
    const isInUtf16 = (text: Buffer) => beginsAsUtf16(text) || isUtf16(encodingOf());
    const isOfUse = (text: Buffer, length: number) => {
      const isText = beginsAsText(text, length) || (decodes && isInUtf16(text.subarray(0, length)));
      if (!isText) onBinary();
      return isText;
    };
    const dropsReturns = isTextMatcher(matcher);
    const textOf = (bytes: Buffer, size: number) =>
      searchText(bytes, size, { encoding: encodingOf(), dropsReturns });
    const holdsNone = withoutCandidate(matcher, search.lines);
    let descriptor = -1;
    const passesOver = (text: Buffer, length: number) => {
      this.#setOutcome(length);
      if (!holdsNone!(text, length)) return false;
      search.known?.onRead(file, descriptor);
      return true;
    };
    const limits = {
      maxBytes,
      slackBytes: slackBytes(matcher),
      isOfUse,
      textOf: decodes ? textOf : undefined,
      passesOver: holdsNone && passesOver,
    };
    const searchIn = textSearch(matcher, search.lines.mode ?? "content");
    const { findsBinaries = false, withoutMatch = false } = search.lines;
    const searchFile = (text: Buffer, length: number, size: number) => {
      this.#setOutcome(size);
      const found = searchIn(text, length, this.#lines);
      search.known?.onRead(file, descriptor);
      if (found.length > 0) return withoutMatch ? [] : found;
      if ((findsBinaries || withoutMatch) && holdsNul(text, length)) onBinary();
      const isWithout = withoutMatch && this.outcome !== outcomes.binary && !isOver();
      return isWithout ? [{ lines: [], count: 1 }] : [];
    };
    this.#outcomeUnread = () => search.known?.outcomeUnread(file);
    this.#searchFile = () => {
      descriptor = open(file);
      this.#setOutcome(outcomes.tooLarge);
      return buffer.withContents(descriptor, limits, searchFile);
    };
  }

  /** Returns whether the search of the last file would take more steps than it may. */
  get isExceeded(): boolean {
    return this.#lines.effort?.isExceeded === true;
  }

  /** Searches the current file, leaving out matches up to `after`. */
  search({ remainingEntries, remainingUnits }: FindingSink, after: Position | undefined): FileMatches {
    this.outcome = outcomes.gone;
    if (!isAfter(afterFile, after)) return nothing;
    const known = this.#outcomeUnread();
    if (known !== undefined) {
      this.outcome = known;
      return nothing;
    }
    if (this.#lines.effort !== undefined) this.#lines.effort.left = this.#maxSteps;
    this.#lines.maxMatches = remainingEntries;
    this.#lines.maxUnits = remainingUnits;
    this.#lines.after = after;
    return ignoreVanished(this.#searchFile, this.#onUnreadable)?.[0] ?? nothing;
  }

  readonly #onUnreadable = () => this.#setOutcome(outcomes.unreadable);

  #setOutcome(outcome: number): void {
    this.outcome = outcome;
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Returns the search in one text for a mode. It finds one result or none. */
function textSearch(
  matcher: QueryMatcher,
  mode: MatchMode,
): (text: Buffer, length: number, search: LineSearch) => FileMatches[] {
  if (mode === "content")
    return (text, length, search) => {
      const lines = isTextMatcher(matcher)
        ? searchSpans(text, length, matcher, search)
        : searchLines(text, length, matcher, search);
      return lines.length === 0 ? [] : [{ lines, count: 0 }];
    };
  const maxMatches = mode === "files" ? 1 : Number.POSITIVE_INFINITY;
  const countIn = (text: Buffer, length: number, search: LineSearch) =>
    isTextMatcher(matcher)
      ? countSpans(text, length, matcher, search)
      : countMatchingLines(text, length, matcher, search);
  const countBoth = (text: Buffer, length: number, search: LineSearch): MatchCounts => {
    if (!isTextMatcher(matcher)) return countLinesAndMatches(text, length, matcher, search);
    const lines = countSpans(text, length, matcher, search);
    const matches = lines === 0 ? 0 : countSpans(text, length, matcher, { ...search, every: true });
    return { lines, matches };
  };
  return (text, length, limits) => {
    const search = { ...limits, maxMatches };
    if (mode === "counts" && search.countsMatches) {
      const { lines: count, matches } = countBoth(text, length, search);
      return matches === 0 ? [] : [{ lines: [], count, matches }];
    }
    const count = countIn(text, length, search);
    return count === 0 ? [] : [{ lines: [], count }];
  };
}

const isTextMatcher = (matcher: QueryMatcher): matcher is TextMatcher => "reach" in matcher;
