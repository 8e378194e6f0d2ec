/** Replaces the typographic characters that models and web pages write instead of plain ones. */

import type { Steps } from "../../base/scheduling/time-slice.ts";

const bytesPerStep = 64 * 1024;

/**
 * Returns the text with typographic dashes, quotes and spaces as plain ones, line by line the same text, or
 * `undefined` if it is not UTF-8.
 */
export function* foldTypography(bytes: Buffer): Steps<Buffer | undefined> {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; yield) {
    let to = Math.min(bytes.length, from + bytesPerStep);
    while (to < bytes.length && to > from + 1 && isContinuation(bytes[to]!)) to--;
    const text = bytes.toString("utf8", from, to);
    if (text.includes("\ufffd")) return undefined;
    parts.push(Buffer.from(foldText(text)));
    from = to;
  }
  return Buffer.concat(parts);
}

/** Returns whether a byte continues a character of UTF-8. */
const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

const foldText = (text: string): string =>
  text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
