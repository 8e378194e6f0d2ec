/** How exactly lines of a hunk must be those of a file. */
import { lineFeed } from "../edits/lines.ts";
import { carriageReturn } from "./line-table.ts";

/** From the strictest on: as they are; but for how they end; but for blanks at their ends; but for blanks at both ends. */
export const matchings = ["exact", "endings", "trailing-blanks", "blanks"] as const;
export type Matching = (typeof matchings)[number];

/** Where the part of a line begins that counts. */
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

/** Where the part of a line ends that counts. */
export function comparedTo(matching: Matching, bytes: Buffer, [from, to]: readonly [number, number]): number {
  if (matching === "exact") return to;
  let end = to;
  if (end > from && bytes[end - 1] === lineFeed) end--;
  if (end > from && bytes[end - 1] === carriageReturn) end--;
  if (matching !== "endings") while (end > from && isBlank(bytes[end - 1]!)) end--;
  return end;
}

/** Space, and the controls from tab to carriage return. */
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
