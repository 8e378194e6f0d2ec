/**
 * N-grams: the strings of three and of four bytes in a text, with ASCII letters in lower case, so that one
 * signature serves searches in any case. A large text contains the trigrams of almost every word, but not the
 * 4-grams.
 */

/** The lengths of n-grams, in bytes. */
export const ngramLengths = [3, 4] as const;

/** The length of the shortest n-gram. */
export const shortestNgram = ngramLengths[0];

/** The number of bits in an n-gram's hash. */
export const hashBits = 18;

/** 2^32 divided by the golden ratio: the multiplier of Fibonacci hashing (Knuth, TAOCP 6.4). */
export const hashMultiplier = 0x9e3779b1 | 0;

/** Returns a byte, in lower case if it is an ASCII letter. */
export const foldByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);

/** Returns the hash of an n-gram, given as a string of one character per byte. */
export function hashNgram(ngram: string): number {
  let word = 0;
  for (let at = 0; at < ngram.length; at++) word |= foldByte(ngram.charCodeAt(at)) << (8 * at);
  return hashFolded(word);
}

/** Returns the hash of a lowercase n-gram, given as a number whose lowest byte is the first one. */
export function hashFolded(word: number): number {
  const product = Math.imul(word, hashMultiplier);
  return (product ^ (product >>> 16)) & (2 ** hashBits - 1);
}
