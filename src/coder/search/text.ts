/** Renders the matches of a search for models. */
import type { Static } from "@sinclair/typebox";
import { renderName } from "../render/entry-text.ts";
import type { MatchEntry } from "./matches.ts";

type Match = Static<typeof MatchEntry>;

/**
 * Returns the path of each file, and below it `line→text` for lines that match and `line-text` for those
 * around them, in order, each once; `…` between lines around matches that do not follow each other, and a
 * blank line between files.
 */
export const renderMatches = (matches: readonly Match[]): string[] =>
  filesOf(matches).flatMap((ofFile, index) => [
    ...(index > 0 ? [""] : []),
    renderName(ofFile[0]!.path),
    ...linesOf(ofFile),
  ]);

/** Groups the matches, which are in the order of paths, by file. */
function filesOf(matches: readonly Match[]): Match[][] {
  const files: Match[][] = [];
  for (const match of matches) {
    const last = files.at(-1);
    if (last?.[0]?.path === match.path) last.push(match);
    else files.push([match]);
  }
  return files;
}

/**
 * Renders the lines of one file. A matching line is not also shown as the context of another match. A line
 * that was cut has an excerpt for each match.
 */
function linesOf(matches: readonly Match[]): string[] {
  if (matches.every(isLineOfItsOwn)) return matches.map(({ line, text }) => `${line}→${text}`);
  const around = new Map<number, string>();
  const matching = new Map<number, Set<string>>();
  for (const { line, end_line = line, before = [], after = [], text } of matches) {
    for (const [index, one] of before.entries()) around.set(line - before.length + index, one);
    for (const [index, one] of after.entries()) around.set(end_line + 1 + index, one);
    const shown = text.split(/\r?\n/);
    if (shown.at(-1) === "…" && line + shown.length - 1 < end_line)
      shown[shown.length - 1] = `… the match ends in line ${end_line}`;
    for (const [index, one] of shown.entries()) {
      const number = line + index;
      const excerpts = matching.get(number);
      if (excerpts === undefined) matching.set(number, new Set([one]));
      else excerpts.add(one);
    }
  }
  const numbers = [...new Set([...around.keys(), ...matching.keys()])].sort((one, other) => one - other);
  return numbers.flatMap((number, at) => {
    const isGap = around.size > 0 && at > 0 && numbers[at - 1] !== number - 1;
    const excerpts = matching.get(number);
    const lines =
      excerpts === undefined
        ? [`${number}-${around.get(number)}`]
        : [...excerpts].map((excerpt) => `${number}→${excerpt}`);
    return isGap ? ["…", ...lines] : lines;
  });
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

/** Renders files as `path`, `path: 2 lines` or `path: 2 lines, 3 matches`. */
export const renderFiles = (files: readonly CountedFile[]): string[] =>
  files.map(({ path, count, matches }) => {
    const counts = [
      ...(count === undefined ? [] : [counted(count, "line", "lines")]),
      ...(matches === undefined ? [] : [counted(matches, "match", "matches")]),
    ];
    return counts.length === 0 ? renderName(path) : `${renderName(path)}: ${counts.join(", ")}`;
  });

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
