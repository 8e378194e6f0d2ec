import { cutEnd } from "./utf8.ts";

/** The text whose lines are shown. A newline follows `text[0, length)`. */
export interface TextLines {
  readonly text: Buffer;
  readonly length: number;
  /** Bytes of a line that are shown. */
  readonly maxLineBytes: number;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** At most `count` lines that end before `start`, which is the start of a line. */
export function linesBefore(lines: TextLines, start: number, count: number): string[] {
  const found: string[] = [];
  for (let next = start - 1; next >= 0 && found.length < count; ) {
    // A negative offset would count from the end.
    const from = next === 0 ? 0 : lines.text.lastIndexOf(newline, next - 1) + 1;
    found.push(lineAt(lines, from, next));
    next = from - 1;
  }
  return found.reverse();
}

/** At most `count` lines from `start` on, which is the start of a line. */
export function linesAfter(lines: TextLines, start: number, count: number): string[] {
  const found: string[] = [];
  for (let from = start; from < lines.length && found.length < count; ) {
    const next = lines.text.indexOf(newline, from);
    found.push(lineAt(lines, from, next));
    from = next + 1;
  }
  return found;
}

/** The line `text[start, next)` without its ending, cut to the limit. */
function lineAt({ text, length, maxLineBytes }: TextLines, start: number, next: number): string {
  const end = lineEndBefore(text, { start, next, length });
  return text.toString("utf8", start, cutEnd(text, { start, end, limit: maxLineBytes }));
}

/** End of the line whose newline is at `next`, without a "\r" before that; a last line without newline keeps one. */
export const lineEndBefore = (
  text: Buffer,
  { start, next, length }: { start: number; next: number; length: number },
): number => (next > start && text[next - 1] === carriageReturn && next < length ? next - 1 : next);
