/**
 * Scans JSON as strictly as the production engine parses it, in steps, and without making values: large ones
 * are forwarded as they are written.
 */
import { maxDepth } from "../base/scheduling/parse-json.ts";
import type { Steps } from "../base/scheduling/time-slice.ts";

/** Maximum characters of a number. Longer ones are refused like those out of range. */
const maxNumberLength = 4096;

/** Maximum members of the outermost object, which is a frame. */
const maxMembers = 1000;

/** Characters that are scanned in one step, which takes about a millisecond. */
const stepLength = 64 * 1024;

/** The place of a value in the text. */
export interface ValueSpan {
  readonly from: number;
  readonly to: number;
}

/** The values of the outermost object by their names, or the reason why the text is refused. */
export type Scanned =
  | { readonly members: ReadonlyMap<string, ValueSpan>; readonly fault?: undefined }
  | { readonly members?: undefined; readonly fault: string };

/** Scans the object in `json`, which must be well-formed UTF-16. */
export function* scanInSteps(json: string): Steps<Scanned> {
  const scan = new Scan(json);
  for (let end = stepLength; !scan.advance(end); end += stepLength) yield;
  return scan.fault === undefined ? { members: scan.members } : { fault: scan.fault };
}

/** The states of a scan, each named for the token that comes next. */
const value = 0;
const valueOrEnd = 1;
const key = 2;
const keyOrEnd = 3;
const colonNext = 4;
const commaOrEnd = 5;
const nothing = 6;
/** The rest of a string, of a value or of a key. */
const text = 7;
const keyText = 8;

class Scan {
  readonly members = new Map<string, ValueSpan>();
  fault: string | undefined;
  readonly #json: string;
  #at = 0;
  #expected = value;
  /** The units that close the objects and lists around the current place. */
  readonly #closing = new Uint8Array(maxDepth + 1);
  #depth = 0;
  /** The name of the current member, and the beginning of its value or of its name. */
  #name = "";
  #from = 0;

  constructor(json: string) {
    this.#json = json;
  }

  /**
   * Scans up to `limit` and a little further. Returns whether everything is scanned, or there is a fault. It
   * is one loop over local variables, since most of the time of a large call is spent here.
   */
  advance(limit: number): boolean {
    const json = this.#json;
    const end = Math.min(limit, json.length);
    let at = this.#at;
    let expected = this.#expected;
    while (at < end) {
      const unit = json.charCodeAt(at);
      if (expected >= text) {
        if (unit === quote) {
          at++;
          expected = expected === text ? this.#endValue(at) : this.#endKey(at);
        } else if (unit === backslash) at = this.#endOfEscape(at);
        else if (unit >= space) at++;
        else this.fault = "not JSON";
      } else if (unit === space || unit === newline || unit === tab || unit === carriageReturn) at++;
      else if (expected === commaOrEnd && unit === comma) {
        at++;
        expected = this.#closing[this.#depth] === closeBrace ? key : value;
      } else if (expected === colonNext && unit === colon) {
        at++;
        expected = value;
      } else if ((expected === key || expected === keyOrEnd) && unit === quote) {
        if (this.#depth === 1) this.#from = at;
        at++;
        expected = keyText;
      } else if (
        (expected === commaOrEnd || expected === keyOrEnd || expected === valueOrEnd) &&
        this.#depth > 0 &&
        unit === this.#closing[this.#depth]
      ) {
        at++;
        this.#depth--;
        expected = this.#endValue(at);
      } else if (expected === value || expected === valueOrEnd) {
        if (this.#depth === 1) this.#from = at;
        if (unit === quote) {
          at++;
          expected = text;
        } else if (unit === openBrace || unit === openBracket) {
          at++;
          expected = this.#open(unit);
        } else {
          at = this.#endOfScalar(at, unit);
          expected = this.#endValue(at);
        }
      } else this.fault = "not JSON";
      if (this.fault !== undefined) return true;
    }
    this.#at = at;
    this.#expected = expected;
    if (at < json.length) return false;
    if (expected !== nothing) this.fault = "not JSON";
    else if (json.charCodeAt(json.search(/\S/)) !== openBrace) this.fault = "not an object";
    return true;
  }

  #open(unit: number): number {
    if (this.#depth === maxDepth) this.fault = `nested deeper than ${maxDepth} levels`;
    else this.#closing[++this.#depth] = unit === openBrace ? closeBrace : closeBracket;
    return unit === openBrace ? keyOrEnd : valueOrEnd;
  }

  /** Ends a value, and returns what may follow. */
  #endValue(end: number): number {
    if (this.#depth === 0) return nothing;
    if (this.#depth === 1 && this.#closing[1] === closeBrace)
      this.members.set(this.#name, { from: this.#from, to: end });
    return commaOrEnd;
  }

  #endKey(end: number): number {
    if (this.#depth === 1) {
      this.#name = JSON.parse(this.#json.slice(this.#from, end));
      if (this.members.has(this.#name)) this.fault = "a key twice";
      if (this.members.size === maxMembers) this.fault = `more than ${maxMembers} fields`;
    }
    return colonNext;
  }

  #endOfScalar(at: number, unit: number): number {
    const json = this.#json;
    if (unit >= zero && unit <= nine) {
      const next = json.charCodeAt(at + 1);
      // A single digit needs no regular expression.
      if (next === comma || next === closeBracket || next === closeBrace) return at + 1;
    }
    const literal = unit === t ? "true" : unit === f ? "false" : unit === n ? "null" : undefined;
    if (literal === undefined) return this.#endOfNumber(at);
    if (!json.startsWith(literal, at)) this.fault = "not JSON";
    return at + literal.length;
  }

  #endOfNumber(at: number): number {
    number.lastIndex = at;
    if (!number.test(this.#json)) this.fault = "not JSON";
    const end = number.lastIndex;
    // Without an exponent, so few characters make no number out of range.
    const isInRange =
      end - at <= maxPlainLength ||
      (end - at <= maxNumberLength && Number.isFinite(Number(this.#json.slice(at, end))));
    if (!isInRange) this.fault = "a number out of range";
    return end;
  }

  /** Returns the end of an escape sequence, of both if it is the first half of a surrogate pair. */
  #endOfEscape(at: number): number {
    const kind = this.#json.charCodeAt(at + 1);
    if (kind !== u) {
      if (!isShortEscape(kind)) this.fault = "not JSON";
      return at + 2;
    }
    const unit = this.#unitAt(at);
    const isHigh = (unit & 0xfc00) === 0xd800;
    const isPair = isHigh && (this.#unitAt(at + 6) & 0xfc00) === 0xdc00;
    if (unit < 0) this.fault = "not JSON";
    else if ((unit & 0xf800) === 0xd800 && !isPair) this.fault = "an unpaired surrogate";
    return isPair ? at + 12 : at + 6;
  }

  /** Returns the UTF-16 unit of the `\u` sequence at this place, or -1 without one. */
  #unitAt(at: number): number {
    unicodeEscape.lastIndex = at;
    return unicodeEscape.test(this.#json) ? Number.parseInt(this.#json.slice(at + 2, at + 6), 16) : -1;
  }
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const unicodeEscape = /\\u[\da-fA-F]{4}/y;

/** The length of the shortest number that is out of range, such as `1e309`, less one. */
const maxPlainLength = 4;

const [space, newline, tab, carriageReturn] = [0x20, 0x0a, 0x09, 0x0d];
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [zero, nine, t, f, n, u] = [0x30, 0x39, 0x74, 0x66, 0x6e, 0x75];

/** Returns whether a unit is the second one of an escape sequence of two characters. */
const isShortEscape = (unit: number): boolean =>
  unit === n || unit === quote || unit === backslash || shortEscapes.includes(unit);

/** The units of `/`, `b`, `f`, `r` and `t`. */
const shortEscapes = [0x2f, 0x62, 0x66, 0x72, 0x74];
