/** Renders the matches of a search for models. */
import type { Static } from "@sinclair/typebox";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { renderName } from "../render/entry-text.ts";
import { renderEach } from "../render/lines.ts";
import type { MatchEntry } from "./matches.ts";

type Match = Static<typeof MatchEntry>;

/** Lines that are listed in one step. */
const perStep = 1024;

/** Matches whose lines are collected in one step: each can have some around it. */
const matchesPerStep = 64;

/**
 * Returns the path of each file, and below it `line→text` for lines that match and `line-text` for those
 * around them, in order, each once; `…` between lines around matches that do not follow each other, and a
 * blank line between files.
 */
export function* renderMatches(matches: readonly Match[]): Steps<string[]> {
  const lines: string[] = [];
  for (let from = 0, to = 0; from < matches.length; from = to) {
    const { path } = matches[from]!;
    // The matches are in the order of paths.
    while (matches[to]?.path === path) to++;
    if (from > 0) lines.push("");
    lines.push(renderName(path));
    for (const line of yield* linesOf(matches.slice(from, to))) if (lines.push(line) % perStep === 0) yield;
    yield;
  }
  return lines;
}

/**
 * Renders the lines of one file. A matching line is not also shown as the context of another match. A line
 * that was cut has an excerpt for each match.
 */
function* linesOf(matches: readonly Match[]): Steps<string[]> {
  if (matches.every(isLineOfItsOwn)) return yield* renderEach(matches, ({ line, text }) => `${line}→${text}`);
  const hasContext = matches.some(({ before = [], after = [] }) => before.length + after.length > 0);
  const firsts = firstLines(matches);
  const lines = new PendingLines(hasContext);
  for (const [index, match] of matches.entries()) {
    if (index % matchesPerStep === matchesPerStep - 1) yield;
    yield* addLines(match, lines, firsts[index + 1] ?? Number.POSITIVE_INFINITY);
  }
  lines.render(Number.POSITIVE_INFINITY);
  return lines.rendered;
}

/** Returns for each match the first line that it shows, or a later match. */
function firstLines(matches: readonly Match[]): readonly number[] {
  const firsts: number[] = [];
  let first = Number.POSITIVE_INFINITY;
  for (const { line, before = [] } of matches.toReversed()) {
    first = Math.min(first, line - before.length);
    firsts.push(first);
  }
  return firsts.reverse();
}

/** The lines of a file that later matches may still add to. All lines in one map would take long to grow. */
class PendingLines {
  readonly rendered: string[] = [];
  readonly #hasContext: boolean;
  /** For each number the text of a line around a match, or the excerpts of a match. */
  readonly #lines = new Map<number, string | Set<string>>();
  #most = perStep;
  #last = 0;

  constructor(hasContext: boolean) {
    this.#hasContext = hasContext;
  }

  /** Returns whether there are enough lines to render the complete ones. */
  get isFull(): boolean {
    return this.#lines.size >= this.#most;
  }

  addContext(number: number, text: string): void {
    if (!(this.#lines.get(number) instanceof Set)) this.#lines.set(number, text);
  }

  addExcerpt(number: number, excerpt: string): void {
    const excerpts = this.#lines.get(number);
    if (excerpts === undefined || typeof excerpts === "string") this.#lines.set(number, new Set([excerpt]));
    else excerpts.add(excerpt);
  }

  /** Renders the lines with numbers below `end`, and forgets them. */
  render(end: number): void {
    const numbers = [...this.#lines.keys()]
      .filter((number) => number < end)
      .sort((one, other) => one - other);
    for (const number of numbers) {
      if (this.#hasContext && this.#last > 0 && this.#last !== number - 1) this.rendered.push("…");
      this.#last = number;
      const text = this.#lines.get(number)!;
      this.#lines.delete(number);
      if (typeof text === "string") this.rendered.push(`${number}-${text}`);
      else for (const excerpt of text) this.rendered.push(`${number}→${excerpt}`);
    }
    this.#most = perStep + 2 * this.#lines.size;
  }
}

/**
 * Adds the lines of a match, which may have millions, and renders many of them early. No later match shows
 * lines below `end`.
 */
function* addLines(match: Match, lines: PendingLines, end: number): Steps<void> {
  const { line, end_line = line, before = [], after = [], text } = match;
  for (const [index, one] of before.entries()) lines.addContext(line - before.length + index, one);
  for (const [index, one] of after.entries()) lines.addContext(end_line + 1 + index, one);
  for (let number = line, from = 0; from <= text.length; number++) {
    const to = text.indexOf("\n", from);
    const isLast = to < 0;
    const one = isLast ? text.slice(from) : text.slice(from, text[to - 1] === "\r" ? to - 1 : to);
    const isCut = isLast && one === "…" && number < end_line;
    lines.addExcerpt(number, isCut ? `… the match ends in line ${end_line}` : one);
    if (lines.isFull) {
      lines.render(Math.min(end, number));
      yield;
    }
    if (isLast) return;
    from = to + 1;
  }
}

/**
 * Returns whether a match is one whole line without context. Others are rare, and take several times as long
 * to render.
 */
const isLineOfItsOwn = (match: Match, index: number, all: readonly Match[]): boolean =>
  match.before === undefined &&
  match.after === undefined &&
  (match.end_line ?? match.line) === match.line &&
  all[index - 1]?.line !== match.line;

interface CountedFile {
  readonly path: string;
  /** The number of lines that match. */
  readonly count?: number;
  readonly matches?: number;
}

/** Renders a file as `path`, `path: 2 lines` or `path: 2 lines, 3 matches`. */
export function renderFile({ path, count, matches }: CountedFile): string {
  const counts = [
    ...(count === undefined ? [] : [counted(count, "line", "lines")]),
    ...(matches === undefined ? [] : [counted(matches, "match", "matches")]),
  ];
  return counts.length === 0 ? renderName(path) : `${renderName(path)}: ${counts.join(", ")}`;
}

/** Returns a line with the sums of the counts, if there are several files with counts. */
export function renderTotal(files: readonly CountedFile[]): string[] {
  if (files.length < 2 || files.some(({ count }) => count === undefined)) return [];
  const lines = files.reduce((sum, { count = 0 }) => sum + count, 0);
  const matches = files.reduce((sum, { matches: own = Number.NaN }) => sum + own, 0);
  const sums = [
    counted(lines, "line", "lines"),
    ...(Number.isNaN(matches) ? [] : [counted(matches, "match", "matches")]),
  ];
  return [`[${sums.join(", ")} in ${files.length} files]`];
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
