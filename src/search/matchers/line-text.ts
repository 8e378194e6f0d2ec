import { characterStart, cutEnd } from "./utf8.ts";

/** The text whose lines are shown. A newline follows `text[0, length)`. */
export interface TextLines {
  readonly text: Buffer;
  readonly length: number;
  /** Maximum bytes shown per line. */
  readonly maxLineBytes: number;
  /** Whether "…" marks a cut line. */
  readonly marksCuts: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Returns at most `count` lines that end before `start`, which is the start of a line. */
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

/** Returns at most `count` lines from `start` on, which is the start of a line. */
export function linesAfter(lines: TextLines, start: number, count: number): string[] {
  const found: string[] = [];
  for (let from = start; from < lines.length && found.length < count; ) {
    const next = lines.text.indexOf(newline, from);
    found.push(lineAt(lines, from, next));
    from = next + 1;
  }
  return found;
}

/** Returns the line `text[start, next)` without its ending, cut to the limit. */
function lineAt({ text, length, maxLineBytes, marksCuts }: TextLines, start: number, next: number): string {
  const end = lineEndBefore(text, { start, next, length });
  if (marksCuts) return excerpt(text, { start, end, at: start, limit: maxLineBytes });
  return text.toString("utf8", start, cutEnd(text, { start, end, limit: maxLineBytes }));
}

/** A line, and the offset of the match that it is shown for. */
interface ExcerptLine {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  /** Maximum bytes shown of the line. */
  readonly limit: number;
}

const ellipsis = "…";

/** The share of an excerpt that comes before the match. */
const shareBefore = 1 / 4;

/** Returns the part of a line around its match, with "…" where it is cut. */
export function excerpt(text: Buffer, { start, end, at, limit }: ExcerptLine): string {
  if (end - start <= limit) return text.toString("utf8", start, end);
  const earliest = Math.min(at - Math.floor(limit * shareBefore), end - limit);
  const from = earliest <= start ? start : characterStart(text, earliest, at);
  const to = cutEnd(text, { start: from, end, limit });
  return (from > start ? ellipsis : "") + text.toString("utf8", from, to) + (to < end ? ellipsis : "");
}

/** Maximum bytes of the lines of one match that spans lines. */
const maxExcerptBytes = 4096;

/** Returns the lines `text[start, end)`, each cut as an excerpt is, the first one around `at`. */
export function excerptOfLines(text: Buffer, { start, end, at, limit }: ExcerptLine): string {
  let shown = "";
  for (let from = start; from <= end; ) {
    const newlineAt = text.indexOf(newline, from);
    const next = newlineAt < 0 || newlineAt > end ? end : newlineAt;
    const lineEnd = next < end && next > from && text[next - 1] === carriageReturn ? next - 1 : next;
    shown += excerpt(text, { start: from, end: lineEnd, at: Math.max(at, from), limit });
    if (next === end) return shown;
    shown += text.toString("latin1", lineEnd, next + 1);
    if (shown.length > maxExcerptBytes) return shown + ellipsis;
    from = next + 1;
  }
  return shown;
}

/**
 * Returns the end of the line whose newline is at `next`, without a preceding "\r". A last line without
 * newline keeps it.
 */
export const lineEndBefore = (
  text: Buffer,
  { start, next, length }: { start: number; next: number; length: number },
): number => (next > start && text[next - 1] === carriageReturn && next < length ? next - 1 : next);
