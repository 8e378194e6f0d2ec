/** The line that begins a hunk in the unified format. */

export interface HunkHeader {
  /** How many lines of the file stand before the hunk. */
  readonly linesBefore: number;
  /** Lines of the hunk that the file has before, and after. */
  readonly oldCount: number;
  readonly newCount: number;
}

const header = /^@@+ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))?(?: @@|$| )/;

/** Undefined where the line has no such numbers. */
export function parseHunkHeader(line: string): HunkHeader | undefined {
  const found = header.exec(line);
  if (found === null) return undefined;
  const [, start, oldCount = "1", , newCount = "1"] = found;
  // Of no lines, the number is that of the line before them.
  const linesBefore = Number(oldCount) === 0 ? Number(start) : Math.max(0, Number(start) - 1);
  return { linesBefore, oldCount: Number(oldCount), newCount: Number(newCount) };
}

/** The same of the line alone. */
export const statedOffset = (line: string): number | undefined => parseHunkHeader(line)?.linesBefore;
