/** The line that begins a hunk in the unified format. */

/** One side of a hunk. */
export interface HunkSide {
  /** The number of lines in the file before the hunk. */
  readonly linesBefore: number;
  /** The number of lines of the hunk. */
  readonly count: number;
}

export interface HunkHeader {
  readonly old: HunkSide;
  readonly new: HunkSide;
}

const header = /^@@+ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))?(?: @@|$| )/;

/** Parses a header. Returns `undefined` if the line has no such numbers. */
export function parseHunkHeader(line: string): HunkHeader | undefined {
  const found = header.exec(line);
  if (found === null) return undefined;
  const [, oldStart, oldCount, newStart, newCount] = found;
  return { old: sideOf(oldStart!, oldCount), new: sideOf(newStart!, newCount) };
}

function sideOf(start: string, written = "1"): HunkSide {
  const count = Number(written);
  // For an empty range, the number is that of the line before it.
  return { linesBefore: count === 0 ? Number(start) : Math.max(0, Number(start) - 1), count };
}
