import { isUtf8 } from "node:buffer";
import type { Query } from "./query.ts";
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

/** How much of a text is looked at and answered. */
export interface LineLimits {
  /** Matching lines that are returned. */
  readonly maxMatches: number;
  /** Bytes of a line that are looked at. */
  readonly maxLineBytes: number;
  /**
   * Set, other rules hold for what is text (specification of shell, section 9.7): a NUL byte counts at the start of a
   * file alone, a line that is not UTF-8 is passed over, and of a line so many bytes are returned, with "…" where more
   * follow.
   */
  readonly textBytes?: number | undefined;
  /** Asked at every line that may match; true when the search has to end. */
  readonly isOver: () => boolean;
  readonly countNewlines: CountNewlines;
}

/** How many newlines there are in `text[from, to)`. */
export type CountNewlines = (text: Buffer, from: number, to: number) => number;

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Bytes behind a text that `searchLines` may write to. */
export const slackBytes = (query: Query): number => query.slack + 1;

/**
 * The lines of `text[0, length)` in which `query` is found, in order. Writes behind the text: `slackBytes` of it.
 * Returns nothing for a text that holds a NUL byte: that is no text.
 */
export function searchLines(text: Buffer, length: number, query: Query, limits: LineLimits): LineMatch[] {
  const { textBytes } = limits;
  if (textBytes !== undefined && text.subarray(0, Math.min(length, headBytes)).includes(0)) return [];
  text[length] = newline;
  query.prepare(text, length);
  const matches: LineMatch[] = [];
  let line = 1;
  let counted = 0;
  for (let from = 0; from < length && matches.length < limits.maxMatches && !limits.isOver(); ) {
    const hit = query.candidate(text, from, length);
    if (hit < 0 || hit > length) break;
    const start = hit === from ? from : text.lastIndexOf(newline, hit - 1) + 1;
    const next = text.indexOf(newline, hit);
    const end = next > start && text[next - 1] === carriageReturn && next < length ? next - 1 : next;
    const cut = cutEnd(text, { start, end, limit: limits.maxLineBytes });
    const at = query.locate(text, start, cut);
    if (at >= 0 && (textBytes === undefined || isUtf8(text.subarray(start, end)))) {
      if (textBytes === undefined && matches.length === 0 && text.subarray(0, length).includes(0)) return [];
      line += limits.countNewlines(text, counted, start);
      counted = start;
      matches.push({ line, column: at - start + 1, text: shownText(text, { start, cut, textBytes }) });
    }
    from = next + 1;
  }
  return matches;
}

/** Bytes at the start of a file that tell whether it is text. */
const headBytes = 8192;

function shownText(
  text: Buffer,
  { start, cut, textBytes }: { start: number; cut: number; textBytes: number | undefined },
): string {
  if (textBytes === undefined || cut - start <= textBytes) return text.toString("utf8", start, cut);
  return `${text.toString("utf8", start, cutEnd(text, { start, end: cut, limit: textBytes }))}…`;
}

/** Where there is no kernel. */
export function countNewlines(text: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(newline, from); at < to; at = text.indexOf(newline, at + 1)) count++;
  return count;
}
