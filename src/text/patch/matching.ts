/** Compares the lines of a hunk with those of a file, more or less strictly. */
import { lineFeed } from "../edits/lines.ts";
import { carriageReturn } from "./line-table.ts";

/**
 * The ways to compare lines, the strictest first: exactly; without endings; without blanks at their ends;
 * without blanks at both ends.
 */
export const matchings = ["exact", "endings", "trailing-blanks", "blanks"] as const;

/** A further way: without trailing blanks, and with typographic characters as plain ones. */
export type Matching = (typeof matchings)[number] | "typography";

/** Returns the start of the part of a line that is compared. */
export function comparedFrom(
  matching: Matching,
  bytes: Buffer,
  [from, to]: readonly [number, number],
): number {
  if (matching === "exact") return from;
  const hasMark = bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf;
  let start = hasMark && from + 3 <= to ? from + 3 : from;
  if (matching === "blanks") while (start < to && isBlank(bytes[start]!)) start++;
  return start;
}

/** Returns the end of the part of a line that is compared. */
export function comparedTo(matching: Matching, bytes: Buffer, [from, to]: readonly [number, number]): number {
  if (matching === "exact") return to;
  let end = to;
  if (end > from && bytes[end - 1] === lineFeed) end--;
  if (end > from && bytes[end - 1] === carriageReturn) end--;
  if (matching !== "endings") while (end > from && isBlank(bytes[end - 1]!)) end--;
  return end;
}

/** Returns whether a byte is a space or a control from tab to carriage return. */
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
