/**
 * N-grams: the strings of three bytes in a text, and those of four, with ASCII letters in lower case, so that one signature
 * serves searches in any case. A large text holds the trigrams of most words; it does not hold their 4-grams.
 */

/** Bytes of n-grams. */
export const ngramLengths = [3, 4] as const;

/** Bytes of the shortest ones. */
export const shortestNgram = ngramLengths[0];

/** Bits of the hash of an n-gram. */
export const hashBits = 18;

/** 2^32 divided by the golden ratio: the multiplier of Fibonacci hashing (Knuth, TAOCP 6.4). */
export const hashMultiplier = 0x9e3779b1 | 0;

/** A byte, in lower case if it is an ASCII letter. */
export const foldByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);

/** The hash of an n-gram, a string of one character per byte. */
export const hashNgram = (ngram: string): number =>
  hashFolded(
    Array.from(ngram).reduce((word, byte, at) => word | (foldByte(byte.charCodeAt(0)) << (8 * at)), 0),
  );

/** The hash of an n-gram in lower case, as a number whose lowest byte is the first one. */
export function hashFolded(word: number): number {
  const product = Math.imul(word, hashMultiplier);
  return (product ^ (product >>> 16)) & (2 ** hashBits - 1);
}
