/**
 * Bytes that `JSON.stringify(value)` has in UTF-8, counted without making the text (ECMA-262, SerializeJSONProperty).
 * Strings must be well-formed. Used for the size of an answer: one message carries at most 16 MiB.
 */
export function jsonBytes(value: unknown): number {
  if (typeof value === "string") return stringBytes(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === "boolean") return value ? 4 : 5;
  if (value === null || typeof value !== "object") return 4;
  return Array.isArray(value) ? arrayBytes(value) : objectBytes(value as Record<string, unknown>);
}

function arrayBytes(items: readonly unknown[]): number {
  let bytes = 2 + Math.max(0, items.length - 1);
  for (const item of items) bytes += jsonBytes(item);
  return bytes;
}

function objectBytes(fields: Readonly<Record<string, unknown>>): number {
  let bytes = 2;
  let count = 0;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    bytes += stringBytes(name) + 1 + jsonBytes(value);
    count++;
  }
  return bytes + Math.max(0, count - 1);
}

/** Text is encoded in pieces of so many UTF-16 units, of at most three bytes each. */
const pieceUnits = 8192;
const piece = new Uint8Array(3 * pieceUnits + 2);
const pairs = new Uint16Array(piece.buffer);
const encoder = new TextEncoder();
let pairEscapeBytes: Uint8Array | undefined;

/** Longer texts are worth a call of the encoder. */
const shortUnits = 24;

function stringBytes(text: string): number {
  if (text.length > shortUnits) return encodedBytes(text);
  let bytes = text.length + 2;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return encodedBytes(text);
    bytes += escapeBytes[unit]!;
  }
  return bytes;
}

/** Counted over pairs of bytes in a buffer: reading a string unit by unit takes many times as long. */
function encodedBytes(text: string): number {
  pairEscapeBytes ??= makePairs();
  let bytes = 2;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    const { written } = encoder.encodeInto(text.slice(start, end), piece);
    bytes += written;
    piece[written] = 0x20; // the other half of a last pair, which needs no escape
    for (let i = 0; i < written / 2; i++) bytes += pairEscapeBytes[pairs[i]!]!;
    start = end;
  }
  return bytes;
}

/** Where the piece that begins at `start` ends: never inside a surrogate pair. */
function pieceEnd(text: string, start: number): number {
  const end = start + pieceUnits;
  if (end >= text.length) return text.length;
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
}

/**
 * Bytes that each byte of a text needs besides itself: a backslash for the quote, the backslash and the control
 * characters \b \t \n \f \r, the four digits of \u too for the other control characters.
 */
const escapeBytes = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x22 || byte === 0x5c) return 1;
  if (byte >= 0x20) return 0;
  return byte >= 8 && byte <= 13 && byte !== 11 ? 1 : 5;
});

/** The same for each two bytes in a row. */
function makePairs(): Uint8Array {
  const bytes = new Uint8Array(1 << 16);
  for (let pair = 0; pair < bytes.length; pair++) {
    bytes[pair] = escapeBytes[pair & 0xff]! + escapeBytes[pair >> 8]!;
  }
  return bytes;
}
