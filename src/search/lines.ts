import { isUtf8 } from "node:buffer";
import type { FindLineBounds } from "../prefilter/line-bounds.ts";
import type { LineMatcher } from "./line-matcher.ts";
import { cutEnd } from "./utf8.ts";

/** The first match in one line. */
export interface LineMatch {
  /** From 1. */
  readonly line: number;
  /** Byte offset in the line as it is in the file, from 1. */
  readonly column: number;
  /** The line without its ending, cut to the limit; bytes that are not UTF-8 as U+FFFD. */
  readonly text: string;
}

/** UTF-16 units of the texts of these lines. */
export const textUnits = (lines: readonly LineMatch[]): number =>
  lines.reduce((sum, { text }) => sum + text.length, 0);

/** What a caller decides about lines. The handler sets it, and it reaches the thread that searches untouched. */
export interface LineOptions {
  /** Bytes of a line that are searched and returned. */
  readonly maxLineBytes: number;
  /**
   * Selects the rules of shell §9.7: a NUL byte counts at the start of a file alone, lines that are not UTF-8 do not
   * match, and a match shows so many bytes of its line, with "…" where more follow.
   */
  readonly textBytes?: number | undefined;
}

/** How the lines of one text are searched. */
export interface LineSearch extends LineOptions {
  /** Matching lines that are returned. */
  readonly maxMatches: number;
  /** True when the search has to end; it asks at every line that may match. */
  readonly isOver: () => boolean;
  readonly lineBounds: FindLineBounds;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Bytes behind a text that `searchLines` writes to. */
export const slackBytes = (matcher: LineMatcher): number => matcher.slack + 1;

/**
 * Returns the matching lines of `text[0, length)`, in order; none when it holds a NUL byte, as a binary does. Writes
 * `slackBytes` behind the text.
 */
export function searchLines(
  text: Buffer,
  length: number,
  matcher: LineMatcher,
  search: LineSearch,
): LineMatch[] {
  const { textBytes } = search;
  if (textBytes !== undefined && text.subarray(0, Math.min(length, headBytes)).includes(0)) return [];
  text[length] = newline;
  matcher.prepare(text, length, search.maxLineBytes);
  const matches: LineMatch[] = [];
  const known = { from: 0, counted: 0 };
  const line = { start: 0, next: 0, newlines: 0 };
  let number = 1;
  while (known.from < length && matches.length < search.maxMatches && !search.isOver()) {
    const hit = matcher.candidate(text, known.from, length);
    if (hit < 0 || hit > length) break;
    search.lineBounds(text, hit, known, line);
    number += line.newlines;
    const { start, next } = line;
    known.counted = start;
    known.from = next + 1;
    const end = next > start && text[next - 1] === carriageReturn && next < length ? next - 1 : next;
    const cut = cutEnd(text, { start, end, limit: search.maxLineBytes });
    const at = matcher.locate(text, start, cut);
    if (at < 0 || (textBytes !== undefined && !isUtf8(text.subarray(start, end)))) continue;
    if (textBytes === undefined && matches.length === 0 && text.subarray(0, length).includes(0)) return [];
    matches.push({ line: number, column: at - start + 1, text: excerpt(text, { start, cut, textBytes }) });
  }
  return matches;
}

/** Bytes at the start of a file in which a NUL byte makes it a binary. */
const headBytes = 8192;

function excerpt(
  text: Buffer,
  { start, cut, textBytes }: { start: number; cut: number; textBytes: number | undefined },
): string {
  if (textBytes === undefined || cut - start <= textBytes) return text.toString("utf8", start, cut);
  return `${text.toString("utf8", start, cutEnd(text, { start, end: cut, limit: textBytes }))}…`;
}
