/**
 * Trigrams: the strings of three bytes in a text, with ASCII letters in lower case, so that one signature serves searches in
 * any case.
 */

/** Bits of the hash of a trigram. */
export const hashBits = 17;

/** 2^32 divided by the golden ratio: the multiplier of Fibonacci hashing (Knuth, TAOCP 6.4). */
export const hashMultiplier = 0x9e3779b1 | 0;

/** Bytes that trigrams hold at most. */
export const gramBytes = 3;

/** A byte, in lower case if it is an ASCII letter. */
export const foldByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);

/** The hash of the trigram that begins at an offset in a string of one character per byte. */
export function hashTrigram(bytes: string, at: number): number {
  const [first, second, third] = [0, 1, 2].map((offset) => foldByte(bytes.charCodeAt(at + offset)));
  return hashFolded(first!, second!, third!);
}

/** The hash of the trigram of these bytes, in lower case. */
export function hashFolded(first: number, second: number, third: number): number {
  const product = Math.imul(first | (second << 8) | (third << 16), hashMultiplier);
  return (product ^ (product >>> 16)) & (2 ** hashBits - 1);
}
