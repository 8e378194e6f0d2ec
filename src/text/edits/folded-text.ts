/**
 * A text as bytes, without details that are often sent wrong: blanks, line breaks and accents are dropped,
 * typographic quotes and dashes are replaced by those of a keyboard, and escapes by their characters. Texts
 * that differ in nothing else are equal after this.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";

const bytesPerStep = 64 * 1024;

/** Folded bytes between two marks. A step begins with one as well, since most bytes may fold to nothing. */
const markedBytes = 256;

/** A place in the text, and the number of folded bytes before it. */
interface Mark {
  readonly at: number;
  readonly length: number;
}

export interface FoldedText {
  readonly bytes: Uint8Array;
  /**
   * Returns the offset in the text where a folded byte begins. The index after the last byte gives the end.
   */
  offsetOf(index: number): number;
}

/** Folds a text, usually UTF-8. */
export function* foldText(text: Buffer): Steps<FoldedText> {
  const bytes = new Uint8Array(text.length);
  const marks: Mark[] = [];
  let length = 0;
  for (let at = 0, step = bytesPerStep, next = 0; at < text.length; ) {
    const isStep = at >= step;
    if (isStep || length >= next) {
      marks.push({ at, length });
      next = length + markedBytes;
    }
    if (isStep) {
      yield;
      step += bytesPerStep;
    }
    const code = foldAt(text, at);
    at += code >> 8;
    const byte = code & 0xff;
    if (byte !== 0) bytes[length++] = byte;
  }
  return {
    bytes: bytes.subarray(0, length),
    offsetOf: (index) => offsetOf(text, index, marks),
  };
}

function offsetOf(text: Buffer, index: number, marks: readonly Mark[]): number {
  let { at, length } = lastMarkBefore(marks, index);
  while (at < text.length) {
    const code = foldAt(text, at);
    if ((code & 0xff) !== 0 && length++ === index) return at;
    at += code >> 8;
  }
  return text.length;
}

/** Returns the last mark that at most `index` folded bytes precede. */
function lastMarkBefore(marks: readonly Mark[], index: number): Mark {
  let [from, to] = [0, marks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (marks[middle]!.length <= index) from = middle + 1;
    else to = middle;
  }
  return marks[from - 1] ?? { at: 0, length: 0 };
}

const [backslash, ampersand] = [0x5c, 0x26];

/**
 * Returns the byte for the character at `at`, 0 for none, plus 256 times the number of bytes that it
 * replaces.
 */
function foldAt(text: Buffer, at: number): number {
  const byte = text[at]!;
  if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0) return 0x100;
  if (byte === backslash) return foldEscape(text[at + 1]);
  if (byte === ampersand) return foldEntity(text, at);
  return byte < 0xc2 ? 0x100 | byte : foldCharacter(text, at);
}

/** Folds an escape. `\n`, `\t` and `\r` are blanks; any other backslash is dropped. */
const foldEscape = (next: number | undefined): number =>
  next === 0x6e || next === 0x74 || next === 0x72 ? 0x200 : 0x100;

const entities: Readonly<Record<string, number>> = {
  "&lt;": 0x3c,
  "&gt;": 0x3e,
  "&amp;": 0x26,
  "&quot;": 0x22,
  "&#39;": 0x27,
  "&apos;": 0x27,
};

function foldEntity(text: Buffer, at: number): number {
  const end = text.subarray(at, at + 6).indexOf(0x3b) + 1;
  const byte = end > 0 ? entities[text.toString("latin1", at, at + end)] : undefined;
  return byte === undefined ? 0x100 | ampersand : (end << 8) | byte;
}

/** Folded characters of two and three bytes, keyed by their replacement; "" drops them. */
const folded: Readonly<Record<string, string>> = {
  "'": "\u2018\u2019\u201a\u201b\u2032\u00b4",
  '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
  "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
  "": "\u00a0\u00ad\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u2060\u3000\ufeff",
};

let characters: ReadonlyMap<number, number> | undefined;

/** Returns the replacement byte of each character, keyed by its bytes; 0 drops it. */
function foldedCharacters(): ReadonlyMap<number, number> {
  const known = new Map<number, number>();
  const add = (character: string, plain: string) =>
    known.set(keyOf(Buffer.from(character), 0), plain === "" ? 0 : plain.charCodeAt(0));
  for (const [plain, others] of Object.entries(folded)) for (const other of others) add(other, plain);
  for (let code = firstAccented; code <= lastMark; code++) {
    const [base = ""] = String.fromCharCode(code).normalize("NFD");
    if (code >= firstMark) add(String.fromCharCode(code), "");
    else if (base < "\u007f") add(String.fromCharCode(code), base);
  }
  return known;
}

/**
 * The start of the Latin letters with accents, and the range of combining marks, which are accents by
 * themselves.
 */
const [firstAccented, firstMark, lastMark] = [0xc0, 0x300, 0x36f];

const keyOf = (text: Buffer, at: number): number =>
  text[at]! < 0xe0
    ? (text[at]! << 8) | (text[at + 1] ?? 0)
    : (text[at]! << 16) | ((text[at + 1] ?? 0) << 8) | (text[at + 2] ?? 0);

function foldCharacter(text: Buffer, at: number): number {
  const byte = text[at]!;
  const isKnown = byte <= 0xcd || byte === 0xe2 || byte === 0xe3 || byte === 0xef;
  if (isKnown) characters ??= foldedCharacters();
  const plain = isKnown ? characters?.get(keyOf(text, at)) : undefined;
  if (plain === undefined) return 0x100 | byte;
  return ((byte < 0xe0 ? 2 : 3) << 8) | plain;
}
