import { commaBytes, JsonBudget } from "../../text/sizes/json-budget.ts";
import { digits, jsonBytes, objectBytes } from "../../text/sizes/json-size.ts";
import type { Finding } from "../batches/files.ts";
import type { LineMatch, LineOptions, MatchMode } from "../matchers/lines.ts";
import { afterFile, atPath, type Position } from "../place.ts";
import type {
  ContentMatch,
  Found,
  FoundBy,
  MatchingFile,
  PageFields,
  PageRequest,
  PathMatch,
  SearchRequest,
  StoppedBy,
} from "../request.ts";
import { timeKeyBytes } from "../walk/newest-first.ts";
import { cursorBytes } from "./cursors.ts";

/** The limits and the shape of an answer. */
export interface AnswerLimits {
  /** Maximum entries of each list. */
  readonly maxMatches: number;
  /** Maximum bytes of the whole answer as JSON. */
  readonly maxBytes: number;
  readonly content: boolean;
  readonly paths: boolean;
  readonly lines: Pick<LineOptions, "mode">;
  /** Whether the answer has the fields `index` and `kind`. */
  readonly isExtended?: boolean | undefined;
  /** The order of the files. If they come by time, a place names the time too. */
  readonly sort?: SearchRequest["sort"];
  /** Present if the answer is a page: both lists then end at the first match that does not fit. */
  readonly page?: Pick<PageRequest, "maxBytes" | "namesLeftOut"> | undefined;
}

/** The longest value of `index`. Budgeting for it lets an answer hold as much however the files are found. */
const longestFoundBy: FoundBy = "verified";

/**
 * Builds the lists of an answer, in order. A list ends at the first match that does not fit, and the answer
 * is then truncated.
 */
export class SearchAnswerBuilder {
  readonly #contents: ContentMatch[] = [];
  readonly #paths: PathMatch[] = [];
  readonly #files: MatchingFile[] = [];
  readonly #limits: AnswerLimits;
  readonly #mode: MatchMode;
  readonly #over = { content: false, paths: false };
  readonly #budget: JsonBudget;
  readonly #emptyBytes: number;
  /** The way in which the files are found. */
  index: FoundBy = "scan";
  #truncated = false;
  #stoppedBy: "max_matches" | "max_bytes" | undefined;
  #lastAdded: Position | undefined;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#mode = limits.lines.mode ?? "content";
    const maxBytes = Math.min(limits.maxBytes, limits.page?.maxBytes ?? limits.maxBytes);
    this.#emptyBytes = jsonBytes(this.#answer(longestFoundBy));
    this.#budget = new JsonBudget(maxBytes, this.#emptyBytes);
  }

  /** Returns the limit that ended the page, if any. */
  get stoppedBy(): StoppedBy | undefined {
    return this.#stoppedBy;
  }

  /** Returns the position of the last match of the last finding that the answer holds. */
  get lastAdded(): Position | undefined {
    return this.#lastAdded;
  }

  get wantsContent(): boolean {
    return this.#limits.content && !this.#over.content && this.remainingEntries > 0;
  }

  get wantsPaths(): boolean {
    return this.#limits.paths && !this.#over.paths && this.#remainingIn(this.#paths) > 0;
  }

  /**
   * Returns the number of content matches that would still change the answer: no more than its bytes could
   * hold, and one that truncates it.
   */
  get remainingEntries(): number {
    const entries = this.#remainingIn(this.#entries);
    if (this.#mode !== "content") return entries;
    return Math.min(entries, Math.floor(Math.max(0, this.#budget.bytesLeft) / contentMatchBytes) + 1);
  }

  /**
   * Returns the number of entries that would change the list: one more than fit, because that one truncates
   * the answer unless it is truncated already.
   */
  #remainingIn(list: readonly unknown[]): number {
    const { maxMatches, page } = this.#limits;
    return maxMatches - list.length + (this.#truncated && page === undefined ? 0 : 1);
  }

  /** Returns the UTF-16 units of match text that would still change the answer, at least one. */
  get remainingUnits(): number {
    return Math.max(1, this.#budget.bytesLeft);
  }

  /**
   * Returns the used share of the answer, from 0 to 1: that of the list in progress (contents first), or that
   * of the bytes, whichever is larger.
   */
  get fill(): number {
    const list = this.wantsContent ? this.#entries : this.#paths;
    const { bytes, maxBytes } = this.#budget;
    const ofBytes = (bytes - this.#emptyBytes) / Math.max(1, maxBytes - this.#emptyBytes);
    return Math.min(1, Math.max(list.length / Math.max(1, this.#limits.maxMatches), ofBytes));
  }

  /** Returns the list of content matches, or of files in the other modes. */
  get #entries(): readonly unknown[] {
    return this.#mode === "content" ? this.#contents : this.#files;
  }

  get isFull(): boolean {
    return !this.wantsContent && !this.wantsPaths;
  }

  /** Adds no further paths to the answer. */
  endPaths(): void {
    this.#over.paths = true;
  }

  /** Adds the finding in the file at `path`. */
  add(path: string, { isInPath, lines, count, matches }: Finding): void {
    const pathBytes = jsonBytes(path);
    this.#lastAdded = undefined;
    if (isInPath) this.#addPath(path, pathBytes);
    if (count > 0) this.#addFile({ count, ...(matches !== undefined && { matches }), path }, pathBytes);
    if (!this.#addTogether(path, lines, pathBytes))
      for (const line of lines) this.#addLine(path, line, pathBytes);
  }

  /** Adds a file that matches in its path alone. */
  addPath(path: string): void {
    this.#lastAdded = undefined;
    this.#addPath(path, jsonBytes(path));
  }

  #addPath(path: string, pathBytes: number): void {
    if (!this.wantsPaths) return;
    const { isExtended } = this.#limits;
    const bytes = pathMatchBytes + pathBytes + (isExtended ? kindBytes : 0);
    if (this.#admit(this.#paths, bytes, pathBytes)) {
      this.#paths.push(isExtended ? { kind: "file", path } : { path });
      this.#lastAdded = atPath;
    } else this.#end("paths");
  }

  #addFile(counted: MatchingFile, pathBytes: number): void {
    if (!this.wantsContent) return;
    const file = this.#mode === "counts" ? counted : { path: counted.path };
    if (this.#admit(this.#files, jsonBytes(file), pathBytes)) {
      this.#files.push(file);
      this.#lastAdded = afterFile;
    } else this.#end("content");
  }

  /** Adds all lines of a file if all fit. Measuring their texts as one string takes a third of the time. */
  #addTogether(path: string, lines: readonly LineMatch[], pathBytes: number): boolean {
    if (lines.length < 2 || !hasNoContext(lines[0]!) || !this.wantsContent) return false;
    if (this.#contents.length + lines.length > this.#limits.maxMatches) return false;
    const texts = jsonBytes(lines.map(({ text }) => text).join("")) - quotes;
    const places = lines.reduce((sum, line) => sum + placedMatchBytes(line), 0);
    const commas = commaBytes(this.#contents.length, lines.length);
    const bytes = texts + places + lines.length * (pathBytes + quotes) + commas;
    if (bytes > this.#bytesLeft(pathBytes)) return false;
    this.#budget.add(bytes);
    for (const match of lines) this.#contents.push(matchEntryOf(path, match));
    this.#lastAdded = lines.at(-1);
    return true;
  }

  #addLine(path: string, match: LineMatch, pathBytes: number): void {
    if (!this.wantsContent) return;
    const whole = matchEntryOf(path, match);
    const entry = this.#shorten(whole, pathBytes);
    if (this.#admit(this.#contents, matchEntryBytes(entry, pathBytes), pathBytes)) {
      this.#contents.push(entry);
      this.#lastAdded = match;
      // A shortened match took the rest of the answer.
      if (entry !== whole) this.#stopByBytes();
    } else this.#end("content");
  }

  /** Marks the answer as truncated, because the search did not reach everything. */
  cut(): void {
    this.#truncated = true;
  }

  /** Returns the answer, with the fields of a page if it is one. */
  render(page?: PageFields): Found {
    const whole = this.#render(page);
    if (page === undefined || whole.bytes <= this.#budget.maxBytes) return whole;
    // Names and globs are worth less than matches, so no room is reserved for them.
    const { not_searched, unmatched_globs: _, ...others } = page;
    const counts = not_searched?.map(({ names: _names, ...counted }) => counted);
    return this.#render({ ...others, ...(counts && { not_searched: counts }) });
  }

  #render(page: PageFields | undefined): Found {
    return {
      answer: this.#answer(this.index, page),
      bytes:
        this.#budget.bytes -
        (this.#limits.isExtended ? longestFoundBy.length - this.index.length : 0) +
        (jsonBytes(this.#truncated) - jsonBytes(false)) +
        (page === undefined ? 0 : jsonBytes(page) - 1),
    };
  }

  /** Returns the answer object. Its keys are sorted. */
  #answer(
    index: FoundBy,
    { next_cursor, not_searched, unmatched_globs, ...others }: Partial<PageFields> = {},
  ): Found["answer"] {
    return {
      content_matches: this.#contents,
      ...(this.#mode !== "content" && { files: this.#files }),
      ...(this.#limits.isExtended && { index }),
      ...(next_cursor !== undefined && { next_cursor }),
      ...(not_searched !== undefined && { not_searched }),
      path_matches: this.#paths,
      ...others,
      truncated: this.#truncated,
      ...(unmatched_globs !== undefined && { unmatched_globs }),
    };
  }

  #end(list: "content" | "paths"): void {
    this.#over[list] = true;
    this.#truncated = true;
    if (this.#limits.page === undefined) return;
    this.#over.content = this.#over.paths = true;
    this.#stoppedBy ??= "max_matches";
  }

  /** Counts another match in the list, of `matchBytes` bytes, if it fits. */
  #admit(list: readonly unknown[], matchBytes: number, pathBytes: number): boolean {
    if (list.length === this.#limits.maxMatches) return false;
    const bytes = matchBytes + commaBytes(list.length);
    const fits = bytes <= this.#bytesLeft(pathBytes);
    const isTaken = fits || this.#isFirstOfPage(bytes, pathBytes);
    if (isTaken) this.#budget.add(bytes);
    // No later match may take the place of this one, or the answer would not hold the first matches.
    if (!fits) this.#stopByBytes();
    return isTaken;
  }

  /** Returns the bytes left for a match in a file. A page also reserves room for a cursor to that file. */
  #bytesLeft(pathBytes: number, maxBytes = this.#budget.maxBytes): number {
    const { page } = this.#limits;
    const ofPage = pageBytes + (page?.namesLeftOut ? notSearchedBytes : 0);
    const ofPlace = pathBytes + (this.#limits.sort === "modified" ? timeKeyBytes : 0);
    const reserved = page === undefined ? 0 : ofPage + cursorBytes(ofPlace) - cursorBytes(0);
    return maxBytes - this.#budget.bytes - reserved;
  }

  /**
   * Returns whether the match is the first of a page, which may exceed the size of a page: each page holds at
   * least one match, so that paging advances.
   */
  #isFirstOfPage(bytes: number, pathBytes: number): boolean {
    return this.#isEmptyPage && bytes <= this.#bytesLeft(pathBytes, this.#limits.maxBytes);
  }

  get #isEmptyPage(): boolean {
    return this.#limits.page !== undefined && this.#entries.length + this.#paths.length === 0;
  }

  /** Cuts the text of the first match of a page if no message could carry all of it. */
  #shorten(match: ContentMatch, pathBytes: number): ContentMatch {
    if (!this.#isEmptyPage) return match;
    const left = this.#bytesLeft(pathBytes, this.#limits.maxBytes);
    if (objectBytes(match, { path: pathBytes }) <= left) return match;
    const { before: _before, after: _after, text, ...others } = match;
    const rest = left - objectBytes({ ...others, text: "" });
    return {
      ...others,
      text: text.slice(0, Math.max(0, Math.floor(rest / maxBytesOfUnit))).toWellFormed(),
    };
  }

  #stopByBytes(): void {
    this.#over.content = this.#over.paths = true;
    this.#truncated = true;
    if (this.#limits.page !== undefined) this.#stoppedBy = "max_bytes";
  }
}

/*
 * The entries of an answer, and their size as JSON. Their keys are sorted, like those of the whole answer, so
 * that the embedded engine forwards the text unchanged (decision 43).
 */

/** The JSON size of matches without their strings and numbers, in bytes. */
const pathMatchBytes = jsonBytes({ path: "" }) - jsonBytes("");
const kindBytes = ',"kind":"file"'.length;
const contentMatchBytes =
  jsonBytes({ path: "", line: 0, column: 0, text: "" }) - 2 * jsonBytes("") - 2 * jsonBytes(0);

const quotes = jsonBytes("");

/** The JSON size of the end fields without their numbers, in bytes. */
const endLineBytes = ',"end_line":'.length;
const endColumnBytes = ',"end_column":'.length;

/**
 * Returns whether a match has no context lines, so that `placedMatchBytes` counts all its fields but the
 * text.
 */
const hasNoContext = ({ before, after }: Pick<LineMatch, "before" | "after">): boolean =>
  before === undefined && after === undefined;

/** Returns the JSON size of a match without context, excluding its text and path. */
function placedMatchBytes({ line, column, end_line, end_column }: Omit<LineMatch, "text">): number {
  return (
    contentMatchBytes +
    (digits(line) + digits(column)) +
    (end_line === undefined ? 0 : endLineBytes + digits(end_line)) +
    (end_column === undefined ? 0 : endColumnBytes + digits(end_column))
  );
}

/** Builds an entry without spreads where it can: a spread takes longer than the rest of a plain match. */
function matchEntryOf(path: string, match: LineMatch): ContentMatch {
  const { after, before, column, end_column, end_line, line, text } = match;
  if (hasNoContext(match)) {
    if (end_column === undefined) return { column, line, path, text };
    if (end_line !== undefined) return { column, end_column, end_line, line, path, text };
  }
  return {
    ...(after && { after }),
    ...(before && { before }),
    column,
    ...(end_column !== undefined && { end_column }),
    ...(end_line !== undefined && { end_line }),
    ...{ line, path, text },
  };
}

function matchEntryBytes(entry: ContentMatch, pathBytes: number): number {
  if (!hasNoContext(entry)) return objectBytes(entry, { path: pathBytes });
  return placedMatchBytes(entry) + pathBytes + jsonBytes(entry.text);
}

/** Maximum bytes of the fields of a page, without the path in its cursor. */
const pageBytes = jsonBytes({
  next_cursor: "x".repeat(cursorBytes(0)),
  searched: { files: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER },
  skipped: {
    too_large: Number.MAX_SAFE_INTEGER,
    binary: Number.MAX_SAFE_INTEGER,
    unreadable: Number.MAX_SAFE_INTEGER,
    excluded: Number.MAX_SAFE_INTEGER,
    long_lines: Number.MAX_SAFE_INTEGER,
  },
  stopped_by: "max_matches",
} satisfies PageFields);

/** Maximum bytes of the `not_searched` counts, without names. */
const notSearchedBytes = jsonBytes({
  not_searched: (
    ["default_excludes", "ignore_files", "denied", "binary", "too_large", "unreadable", "long_lines"] as const
  ).map((reason) => ({
    ...(reason === "default_excludes" && { also_ignored: true as const }),
    count: Number.MAX_SAFE_INTEGER,
    ...(reason === "too_large" && { max_bytes: Number.MAX_SAFE_INTEGER }),
    reason,
    ...(reason === "too_large" && { set_by: "max_write_bytes" as const }),
  })),
} satisfies Pick<PageFields, "not_searched">);

/** Maximum bytes of JSON per UTF-16 unit, as an escape such as \u0001. */
const maxBytesOfUnit = 6;
