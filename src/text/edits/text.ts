import { isUtf8 } from "node:buffer";
import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** Encodes a text as UTF-8, in steps. */
export function* encodeUtf8(text: string): Steps<Buffer> {
  const encoded: Buffer[] = [];
  for (const piece of piecesOf(text)) {
    if (encoded.length > 0) yield;
    encoded.push(Buffer.from(piece));
  }
  return encoded.length === 1 ? encoded[0]! : Buffer.concat(encoded);
}

/**
 * Decodes bytes. Invalid UTF-8 becomes U+FFFD, one for each maximal subpart (Unicode Standard, section 3.9);
 * a byte order mark stays as U+FEFF.
 */
export function decodeUtf8(bytes: Buffer): { text: string; isUtf8: boolean } {
  const text = bytes.toString("utf8");
  // Only a text that contains U+FFFD may have lost bytes.
  return { text, isUtf8: !text.includes("\ufffd") || isUtf8(bytes) };
}

/**
 * Returns the longest start of the text of `body` that takes at most `maxBytes` bytes as UTF-8 and ends
 * between characters. It is measured as text, because an invalid byte becomes U+FFFD, which takes three.
 */
export function cutToBytes(body: Buffer, maxBytes: number): string {
  // Three extra bytes, so that a character broken here begins too late to be in the answer.
  const text = body.toString("utf8", 0, maxBytes + 3);
  const isWhole = body.length <= maxBytes && !text.includes("\ufffd");
  if (isWhole || Buffer.byteLength(text) <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
