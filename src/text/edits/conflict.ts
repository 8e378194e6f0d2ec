/** Facts for a caller to repair an edit of a file that differs from the one it expected (coder §14). */
import { surveyLines } from "./lines.ts";
import { cutToBytes } from "./text.ts";

/** The first and the last line of a range, counted from 1. */
export type LineRange = readonly [first: number, last: number];

/** The current text of the file. */
export interface RevisionConflict {
  readonly total_lines: number;
  readonly window: { readonly from_line: number; readonly content: string };
}

const contextLines = 3;
const maxWindowBytes = 4096;

/**
 * Describes `body`, showing the lines of `ranges` and three on each side, or its beginning if there are no
 * ranges.
 */
export function describeConflict(body: Buffer, ranges: readonly LineRange[]): RevisionConflict {
  const { lines } = surveyLines(body, []);
  const requested = ranges.length === 0 ? [[1, lines] as const] : ranges;
  const from = Math.max(1, Math.min(lines, ...requested.map(([first]) => first - contextLines)));
  const last = Math.min(lines, Math.max(...requested.map(([, to]) => to + contextLines)));
  const { starts } = surveyLines(body, [from, last + 1]);
  const start = starts.get(from) ?? 0;
  const end = starts.get(last + 1) ?? body.length;
  return {
    total_lines: lines,
    window: { from_line: from, content: cutToLines(body.subarray(start, end)) },
  };
}

/** Returns as many whole lines as fit, or the beginning of a line that is too long. */
function cutToLines(bytes: Buffer): string {
  if (bytes.length <= maxWindowBytes) return bytes.toString();
  const end = bytes.lastIndexOf(0x0a, maxWindowBytes - 1);
  return end >= 0 ? bytes.toString("utf8", 0, end + 1) : cutToBytes(bytes, maxWindowBytes);
}
