/** Replaces the typographic characters that models and web pages write instead of plain ones. */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { lineFeed } from "../edits/lines.ts";

const bytesPerStep = 256 * 1024;

/**
 * Returns the text with typographic dashes, quotes and spaces as plain ones, line by line the same text, or
 * `undefined` if it is not UTF-8.
 */
export function* foldTypography(bytes: Buffer): Steps<Buffer | undefined> {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; yield) {
    const next = from + bytesPerStep >= bytes.length ? -1 : bytes.indexOf(lineFeed, from + bytesPerStep);
    const to = next < 0 ? bytes.length : next + 1;
    const text = bytes.toString("utf8", from, to);
    if (text.includes("\ufffd")) return undefined;
    parts.push(Buffer.from(foldText(text)));
    from = to;
  }
  return Buffer.concat(parts);
}

const foldText = (text: string): string =>
  text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
