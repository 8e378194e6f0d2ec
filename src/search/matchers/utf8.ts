/**
 * Bytes that may not be UTF-8, in the form that decoders show: every maximal part that cannot be the start of
 * a character becomes U+FFFD (Unicode 16, section 3.9, "substitution of maximal subparts", and the Encoding
 * Standard).
 */

/** The bytes of U+FFFD in UTF-8. */
const replacementBytes = 3;

/**
 * Returns the end of the longest prefix of `text[start, end)` that has at most `limit` bytes and does not cut
 * a character.
 */
export function cutEnd(
  text: Uint8Array,
  { start, end, limit }: { start: number; end: number; limit: number },
): number {
  if (end - start <= limit) return end;
  const cut = start + limit;
  for (let at = cut; at >= start && at > cut - 4; at--) {
    if (!isContinuation(text[at])) return at;
  }
  return cut;
}

/** Returns the first offset in `text[from, to]` that is not within a character. */
export function characterStart(text: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && at < from + 3 && isContinuation(text[at])) at++;
  return at;
}

/**
 * Returns the offset in `bytes` that corresponds to `shown`, an offset in the UTF-8 of their decoded form.
 */
export const rawOffset = (bytes: Uint8Array, shown: number): number => rawOffsetsIn(bytes)(shown);

/** Returns `rawOffset` as a function of ascending offsets, which reads `bytes` only once. */
export function rawOffsetsIn(bytes: Uint8Array): (shown: number) => number {
  let [at, passed] = [0, 0];
  return (shown) => {
    while (passed < shown) {
      const { length, valid } = sequence(bytes, at);
      passed += valid ? length : replacementBytes;
      at += length;
    }
    return at;
  };
}

/** Returns the length of the character at `at`, or of the maximal part of an invalid one. */
function sequence(bytes: Uint8Array, at: number): { length: number; valid: boolean } {
  const lead = bytes[at] ?? 0;
  const wanted = lead < 0x80 ? 1 : lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (wanted === 0) return { length: 1, valid: false };
  let length = 1;
  while (length < wanted && mayFollow(lead, length, bytes[at + length])) length++;
  return { length, valid: length === wanted };
}

/**
 * Returns whether the byte may follow. The second byte is bounded more tightly after some leads, to exclude
 * overlong forms, surrogates, and everything past U+10FFFF.
 */
function mayFollow(lead: number, position: number, byte: number | undefined): boolean {
  if (byte === undefined || !isContinuation(byte)) return false;
  if (position > 1) return true;
  if (lead === 0xe0) return byte >= 0xa0;
  if (lead === 0xed) return byte < 0xa0;
  if (lead === 0xf0) return byte >= 0x90;
  if (lead === 0xf4) return byte < 0x90;
  return true;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
