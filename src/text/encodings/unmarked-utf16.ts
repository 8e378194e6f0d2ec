import { markedEncoding } from "./byte-order-mark.ts";

/** Bytes at the beginning of a file that are examined. */
const headBytes = 8 * 1024;

/**
 * Returns the form of UTF-16 that a file without a byte order mark seems to have: at least a quarter of its
 * first characters are in Latin-1, and NUL is nothing but their high byte.
 */
export function unmarkedUtf16(file: Buffer): "utf-16le" | "utf-16be" | undefined {
  // Every edit passes here, and searching a large file for NUL would take longer than the rest.
  const head = file.subarray(0, headBytes);
  const first = head.indexOf(0);
  if (file.length % 2 !== 0 || head.length < 4 || first < 0) return undefined;
  if (markedEncoding(head) !== undefined) return undefined;
  const isLittle = first % 2 === 1;
  let found = 0;
  for (let at = first; at >= 0; at = head.indexOf(0, at + 1)) {
    const low = head[isLittle ? at - 1 : at + 1]!;
    const isText = low >= 0x20 || low === 0x09 || low === 0x0a || low === 0x0d;
    if ((at % 2 === 1) !== isLittle || !isText) return undefined;
    found++;
  }
  if (found * 8 < head.length || hasFeedInHighByte(head, isLittle)) return undefined;
  return isLittle ? "utf-16le" : "utf-16be";
}

/** Returns whether a line feed is where only letters of Gurmukhi and Gujarati have that byte. */
function hasFeedInHighByte(head: Buffer, isLittle: boolean): boolean {
  for (let at = head.indexOf(0x0a); at >= 0; at = head.indexOf(0x0a, at + 1))
    if ((at % 2 === 1) === isLittle) return true;
  return false;
}
