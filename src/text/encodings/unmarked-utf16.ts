import { markedEncoding } from "./byte-order-mark.ts";

/** Bytes at the beginning of a file that are examined. */
const headBytes = 8 * 1024;

/**
 * Returns the form of UTF-16 that a file without a byte order mark seems to have: at least a quarter of its
 * first characters are in Latin-1, and NUL is nothing but their high byte.
 */
export function unmarkedUtf16(file: Buffer): "utf-16le" | "utf-16be" | undefined {
  const size = Math.min(file.length, headBytes);
  const first = file.indexOf(0);
  if (file.length % 2 !== 0 || size < 4 || first < 0 || first >= size) return undefined;
  if (markedEncoding(file) !== undefined) return undefined;
  const isLittle = first % 2 === 1;
  let found = 0;
  for (let at = first; at >= 0 && at < size; at = file.indexOf(0, at + 1)) {
    const low = file[isLittle ? at - 1 : at + 1]!;
    const isText = low >= 0x20 || low === 0x09 || low === 0x0a || low === 0x0d;
    if ((at % 2 === 1) !== isLittle || !isText) return undefined;
    found++;
  }
  if (found * 8 < size || hasFeedInHighByte(file.subarray(0, size), isLittle)) return undefined;
  return isLittle ? "utf-16le" : "utf-16be";
}

/** Returns whether a line feed is where only letters of Gurmukhi and Gujarati have that byte. */
function hasFeedInHighByte(head: Buffer, isLittle: boolean): boolean {
  for (let at = head.indexOf(0x0a); at >= 0; at = head.indexOf(0x0a, at + 1))
    if ((at % 2 === 1) === isLittle) return true;
  return false;
}
