/** The matches of a search as a text for models. */
import type { Static } from "@sinclair/typebox";
import { renderName } from "./entry-text.ts";
import type { MatchEntry } from "./search-matches.ts";

type Match = Static<typeof MatchEntry>;

/**
 * One line for each line that matches: `path:line:column: text`, with all columns where every match is requested. Where
 * matches have more lines than one, as grep with context: the path once for each file, then `line:column: text`, further
 * lines of the match as `line: text`, those around it as `line- text`, and `--` where lines are left out. No line is shown
 * twice.
 */
export const renderMatches = (matches: readonly Match[]): string[] =>
  filesOf(matches).flatMap(matches.some(isWide) ? renderFile : renderLines);

const isWide = ({ before, after, line, end_line = line }: Match): boolean =>
  before !== undefined || after !== undefined || end_line > line;

/** The lines of a file that match, when nothing else is shown. */
function renderLines(matches: readonly Match[]): string[] {
  const path = renderName(matches[0]!.path);
  return [...linesOf(matches)].map(([number, rest]) => `${path}:${number}${rest}`);
}

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

function renderFile(matches: readonly Match[]): string[] {
  const lines = linesOf(matches);
  const numbers = [...lines.keys()].sort((one, other) => one - other);
  return [
    renderName(matches[0]!.path),
    ...numbers.flatMap((number, index) => {
      const isGap = index > 0 && numbers[index - 1] !== number - 1;
      return [...(isGap ? ["--"] : []), `${number}${lines.get(number)}`];
    }),
  ];
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
