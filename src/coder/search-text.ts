/** The matches of a search as a text for models. */
import type { Static } from "@sinclair/typebox";
import { renderName } from "./entry-text.ts";
import type { MatchEntry } from "./search-matches.ts";

type Match = Static<typeof MatchEntry>;

/**
 * `path:line:column: text` for each line that matches, where no file has several; else the path of each file once, and below
 * it `line:column: text`. Where every match is requested, all columns of a line. Where matches have more lines than one, as
 * grep with context: further lines of the match as `line: text`, those around it as `line- text`, and `--` where lines are
 * left out. No line is shown twice.
 */
export function renderMatches(matches: readonly Match[]): string[] {
  const isWide = matches.some(isWideMatch);
  const files = filesOf(matches).map((ofFile) => ({
    path: renderName(ofFile[0]!.path),
    lines: linesOf(ofFile),
  }));
  if (!isWide && files.every(({ lines }) => lines.size === 1))
    return files.flatMap(({ path, lines }) => [...lines].map(([number, rest]) => `${path}:${number}${rest}`));
  return files.flatMap(({ path, lines }) => [path, ...renderLines(lines, isWide)]);
}

const isWideMatch = ({ before, after, line, end_line = line }: Match): boolean =>
  before !== undefined || after !== undefined || end_line > line;

/** The matches file by file. They are in the order of paths. */
function filesOf(matches: readonly Match[]): Match[][] {
  const files: Match[][] = [];
  for (const match of matches) {
    const last = files.at(-1);
    if (last?.[0]?.path === match.path) last.push(match);
    else files.push([match]);
  }
  return files;
}

function renderLines(lines: ReadonlyMap<number, string>, marksGaps: boolean): string[] {
  const numbers = [...lines.keys()].sort((one, other) => one - other);
  return numbers.flatMap((number, index) => {
    const isGap = marksGaps && index > 0 && numbers[index - 1] !== number - 1;
    return [...(isGap ? ["--"] : []), `${number}${lines.get(number)}`];
  });
}

/** What follows the number of each line that is shown. A line that matches itself is no context of another match. */
function linesOf(matches: readonly Match[]): Map<number, string> {
  const lines = new Map<number, string>();
  for (const { line, end_line = line, before = [], after = [] } of matches) {
    for (const [index, text] of before.entries()) lines.set(line - before.length + index, `- ${text}`);
    for (const [index, text] of after.entries()) lines.set(end_line + 1 + index, `- ${text}`);
  }
  for (const { line, text } of matches)
    for (const [index, part] of text.split(/\r?\n/).entries()) lines.set(line + index, `: ${part}`);
  for (const [line, columns] of columnsOf(matches))
    lines.set(line, `:${columns.join(",")}${lines.get(line)}`);
  return lines;
}

/** Where the matches that begin in each line begin. */
function columnsOf(matches: readonly Match[]): Map<number, number[]> {
  const columns = new Map<number, number[]>();
  for (const { line, column } of matches) {
    const known = columns.get(line);
    if (known === undefined) columns.set(line, [column]);
    else known.push(column);
  }
  return columns;
}

/** `path`, or `path: count`. */
export const renderFiles = (files: readonly { readonly path: string; readonly count?: number }[]): string[] =>
  files.map(({ path, count }) => renderName(path) + (count === undefined ? "" : `: ${count}`));
