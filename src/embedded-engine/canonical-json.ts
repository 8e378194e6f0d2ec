/**
 * JSON text in the form that the engine writes: without spaces, with the keys of every object sorted, and
 * with the numbers and escapes that `JSON.stringify` makes. Recognizing it takes a fifth of the time of
 * parsing, checking, sorting and rendering a large answer.
 */

/** The text of a value that is forwarded unchanged. */
export class CanonicalJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Maximum nesting. serde_json stops at 128 levels, and a frame itself is the first (bus §0). */
export const maxDepth = 127;

/**
 * Returns the end of the value that begins at `at`, at this level of nesting, if it is canonical and not
 * nested too deep, else -1. Canonical text is unchanged by `sortFrameKeys` and `JSON.stringify`, but not all
 * such text is accepted: fractions, for one, are not. `json` must be well-formed UTF-16.
 */
export function endOfCanonical(json: string, at: number, depth = 1): number {
  switch (json.charCodeAt(at)) {
    case quote:
      return endOfString(json, at);
    case openBrace:
      return depth > maxDepth ? -1 : endOfObject(json, at, depth);
    case openBracket:
      return depth > maxDepth ? -1 : endOfArray(json, at, depth);
    case t:
      return json.startsWith("true", at) ? at + 4 : -1;
    case f:
      return json.startsWith("false", at) ? at + 5 : -1;
    case n:
      return json.startsWith("null", at) ? at + 4 : -1;
    default:
      return endOfInteger(json, at);
  }
}

function endOfObject(json: string, from: number, depth: number): number {
  if (json.charCodeAt(from + 1) === closeBrace) return from + 2;
  let before = -1;
  for (let at = from + 1; ; at++) {
    const end = endOfKey(json, at);
    if (end < 0 || (before >= 0 && !isKeyBefore(json, before, at))) return -1;
    before = at;
    at = endOfCanonical(json, end + 1, depth + 1);
    if (at < 0) return -1;
    const next = json.charCodeAt(at);
    if (next === closeBrace) return at + 1;
    if (next !== comma) return -1;
  }
}

function endOfArray(json: string, from: number, depth: number): number {
  if (json.charCodeAt(from + 1) === closeBracket) return from + 2;
  for (let at = from + 1; ; at++) {
    at = endOfCanonical(json, at, depth + 1);
    if (at < 0) return -1;
    const next = json.charCodeAt(at);
    if (next === closeBracket) return at + 1;
    if (next !== comma) return -1;
  }
}

/**
 * Returns the index of the colon after a key, or -1 for keys with escapes, and for those that an object may
 * hold in another order.
 */
function endOfKey(json: string, from: number): number {
  if (json.charCodeAt(from) !== quote || isDigit(json.charCodeAt(from + 1))) return -1;
  for (let at = from + 1; ; at++) {
    const unit = json.charCodeAt(at);
    if (unit === quote) return json.charCodeAt(at + 1) === colon ? at + 1 : -1;
    // Past the end of the text, the unit is NaN.
    if (!(unit >= space) || unit === backslash) return -1;
  }
}

/**
 * Returns whether the first of two keys without escapes, each given by its opening quote, sorts before the
 * second one.
 */
function isKeyBefore(json: string, one: number, other: number): boolean {
  for (let i = 1; ; i++) {
    const unit = json.charCodeAt(one + i);
    const beside = json.charCodeAt(other + i);
    if (unit === beside && unit !== quote) continue;
    return unit !== beside && beside !== quote && (unit === quote || unit < beside);
  }
}

function endOfString(json: string, from: number): number {
  for (let at = from + 1; ; at++) {
    const unit = json.charCodeAt(at);
    if (unit === quote) return at + 1;
    if (!(unit >= space)) return -1;
    if (unit === backslash && !isShortEscape(json.charCodeAt(++at))) return -1;
  }
}

/**
 * Returns whether a unit is the second character of an escape that `JSON.stringify` makes, other than `\u`.
 */
function isShortEscape(unit: number): boolean {
  return unit === quote || unit === backslash || unit === n || unit === t || shortEscapes.includes(unit);
}

/** Maximum digits of a number that certainly keeps its form. Numbers with more may exceed 2^53. */
const maxDigits = 15;

function endOfInteger(json: string, from: number): number {
  const first = json.charCodeAt(from) === minus ? from + 1 : from;
  if (json.charCodeAt(first) === zero) return first === from ? first + 1 : -1;
  let at = first;
  while (isDigit(json.charCodeAt(at))) at++;
  return at > first && at - first <= maxDigits ? at : -1;
}

const isDigit = (unit: number): boolean => unit >= zero && unit <= nine;

const [space, quote, backslash, comma, colon, minus] = [0x20, 0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [zero, nine, t, f, n] = [0x30, 0x39, 0x74, 0x66, 0x6e];
/** The letters of the escapes `\b`, `\f` and `\r`. */
const shortEscapes = [0x62, 0x66, 0x72];
