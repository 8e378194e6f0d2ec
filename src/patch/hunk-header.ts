/** The line that begins a hunk in the unified format. */

export interface HunkHeader {
  /** The number of lines in the file before the hunk. */
  readonly linesBefore: number;
  /** The numbers of lines of the hunk in the file before, and after. */
  readonly oldCount: number;
  readonly newCount: number;
}

const header = /^@@+ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))?(?: @@|$| )/;

/** Parses a header. Returns `undefined` if the line has no such numbers. */
export function parseHunkHeader(line: string): HunkHeader | undefined {
  const found = header.exec(line);
  if (found === null) return undefined;
  const [, start, oldCount = "1", , newCount = "1"] = found;
  // For an empty range, the number is that of the line before it.
  const linesBefore = Number(oldCount) === 0 ? Number(start) : Math.max(0, Number(start) - 1);
  return { linesBefore, oldCount: Number(oldCount), newCount: Number(newCount) };
}

/** Like `parseHunkHeader`, but returns only the line. */
export const statedOffset = (line: string): number | undefined => parseHunkHeader(line)?.linesBefore;
