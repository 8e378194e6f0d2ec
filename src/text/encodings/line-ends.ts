/**
 * Line ends as edits see them: each is "\n", whatever the file has, and whatever the edit does not touch is
 * written back unchanged. A line ends in LF or CRLF, or in CR if the file has neither.
 */

import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { LineIds } from "./line-ids.ts";

export type LineEnding = "\n" | "\r\n";

const [lineFeed, carriageReturn] = [0x0a, 0x0d];
const crlf = Buffer.from("\r\n");

/** Bytes and lines of one step, which takes a millisecond or two. */
const [bytesPerStep, linesPerStep] = [512 * 1024, 4096];

/** Returns the text without each "\r" that precedes a "\n", or the same buffer if nothing changes. */
export function* withoutReturns(text: Buffer): Steps<Buffer> {
  if (!hasCrlf(text)) return text;
  const kept = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let from = 0; from < text.length; from += bytesPerStep) {
    if (from > 0) yield;
    const to = Math.min(text.length, from + bytesPerStep);
    length = dropReturns(text, { from, to, kept, length });
  }
  return kept.subarray(0, length);
}

/** Like `withoutReturns`, but at once, and overwrites the text, which takes half the time. */
export function dropReturnsInPlace(text: Buffer): Buffer {
  if (!hasCrlf(text)) return text;
  return text.subarray(0, dropReturns(text, { from: 0, to: text.length, kept: text, length: 0 }));
}

/**
 * Copies a range without returns after the kept bytes, and returns the end. Engines run such a loop ten times
 * faster in a function than in a generator.
 */
function dropReturns(
  text: Buffer,
  { from, to, kept, length }: { from: number; to: number; kept: Buffer; length: number },
): number {
  let end = length;
  for (let at = from; at < to; at++) {
    const byte = text[at]!;
    if (byte !== carriageReturn || text[at + 1] !== lineFeed) kept[end++] = byte;
  }
  return end;
}

/** Returns the text with `ending` in place of each of `ends`, in steps. */
export function* replaceEnds(text: string, ends: string | RegExp, ending: LineEnding): Steps<string> {
  let replaced = "";
  for (const piece of piecesOf(text)) {
    if (replaced !== "") yield;
    replaced += piece.replaceAll(ends, ending);
  }
  return replaced;
}

/** Returns whether the text has a CRLF. A single byte is found fastest, and most texts lack it. */
export const hasCrlf = (text: Buffer): boolean => text.includes(carriageReturn) && text.includes(crlf);

/** Returns the text with one more "\r" before each "\n". */
export const withReturns = (text: Buffer): Buffer =>
  Buffer.from(text.toString("latin1").replaceAll("\n", "\r\n"), "latin1");

/** Returns whether the lines of a text end in CR, as it has no other line ends. */
export const endsLinesInReturns = (text: Buffer): boolean =>
  !text.includes(lineFeed) && text.includes(carriageReturn);

/** Overwrites each byte `from` of `text` with `to`. */
export function swapBytes(text: Buffer, from: number, to: number): void {
  for (let at = text.indexOf(from); at >= 0 && at < text.length; at++) if (text[at] === from) text[at] = to;
}

/** Returns a copy of a text whose lines end in CR, with LF in their place, or the reverse, in steps. */
export function* withOtherEnds(text: Buffer, to: "LF" | "CR"): Steps<Buffer> {
  const copy = Buffer.from(text);
  for (let from = 0; from < copy.length; from += bytesPerStep) {
    yield;
    const part = copy.subarray(from, from + bytesPerStep);
    if (to === "LF") swapBytes(part, carriageReturn, lineFeed);
    else swapBytes(part, lineFeed, carriageReturn);
  }
  return copy;
}

/** Returns whether the text has CRLF, and neither "\r" nor "\n" besides. */
export function isPlainCrlf(text: Buffer): boolean {
  const bytes = text.toString("latin1");
  return bytes.includes("\n") && !/(?<!\r)\n|\r(?!\n)/.test(bytes);
}

/** Returns the ending of the line whose "\n" is at `feed`. */
const endingAt = (text: Buffer, feed: number): LineEnding =>
  feed > 0 && text[feed - 1] === carriageReturn ? "\r\n" : "\n";

/**
 * Returns the ending that text written at `at` takes: that of the line before, or at the beginning that of
 * the first line. "\n" for a text without line ends.
 */
export function endingFor(text: Buffer, at: number): LineEnding {
  const before = at === 0 ? -1 : text.lastIndexOf(lineFeed, at - 1);
  return endingAt(text, before < 0 ? text.indexOf(lineFeed, at) : before);
}

/** A line of a text, without its ending. */
export interface TextLine {
  readonly start: number;
  readonly end: number;
  /** "" for a last line without one. */
  readonly ending: LineEnding | "";
}

/** Returns the lines from the offset `from` on. */
export function* linesFrom(text: Buffer, from: number): Generator<TextLine> {
  for (let start = from; start < text.length; ) {
    const feed = text.indexOf(lineFeed, start);
    if (feed < 0) {
      yield { start, end: text.length, ending: "" };
      return;
    }
    const ending = feed > start ? endingAt(text, feed) : "\n";
    yield { start, end: feed + 1 - ending.length, ending };
    start = feed + 1;
  }
}

/** Lines of a file that others replace, in order. */
export class FormerLines {
  /** A number for each different line. */
  readonly #numbers = new LineIds();
  /** The number of each line. */
  readonly #lines: number[] = [];
  /** The ending of each line. */
  readonly #endings: (LineEnding | "")[] = [];

  get count(): number {
    return this.#lines.length;
  }

  /** Adds a line without its ending, which is "" for a last line without one. */
  add(line: string, ending: LineEnding | ""): void {
    this.#lines.push(this.#numbers.idOf(line));
    this.#endings.push(ending);
  }

  /** Adds the lines of a part of the file. */
  *addPart(part: Buffer): Steps<void> {
    for (const { start, end, ending } of linesFrom(part, 0)) {
      this.add(part.toString("latin1", start, end), ending);
      if (this.count % linesPerStep === 0) yield;
    }
  }

  /**
   * Returns the endings of the lines that replace these. A line that was there keeps its ending. Between two
   * of those, each line takes the ending of the line that it replaces, in order, and a further one that of
   * the line before it. `before` is the ending of the line before all of them.
   */
  *endingsFor(lines: Iterable<string>, before: LineEnding): Steps<LineEnding[]> {
    const numbers: number[] = [];
    for (const line of lines) {
      numbers.push(this.#numbers.find(line) ?? none);
      if (numbers.length % linesPerStep === 0) yield;
    }
    let [end, oldEnd] = [numbers.length, this.count];
    while (end > 0 && oldEnd > 0 && numbers[end - 1] === this.#lines[oldEnd - 1]) {
      [end, oldEnd] = [end - 1, oldEnd - 1];
      if (end % linesPerStep === 0) yield;
    }
    const places = yield* this.#placesUpTo(oldEnd);
    /** The place where each line was, or `none`. */
    const same = new Int32Array(numbers.length);
    for (let at = 0, next = 0; at < numbers.length; at++) {
      same[at] = at < end ? places.from(next, numbers[at]!) : oldEnd + at - end;
      if (same[at] !== none) next = same[at]! + 1;
      if (at % linesPerStep === 0) yield;
    }
    /** For each line, the place where it or the next one that stays was. */
    const limits = new Int32Array(numbers.length);
    for (let at = numbers.length - 1, limit = oldEnd; at >= 0; at--) {
      if (same[at] !== none) limit = same[at]!;
      limits[at] = limit;
      if (at % linesPerStep === 0) yield;
    }
    const endings: LineEnding[] = [];
    let [ending, next] = [before, 0];
    for (let at = 0; at < numbers.length; at++) {
      const place = same[at] === none ? next : same[at]!;
      if (same[at] !== none || place < limits[at]!) {
        ending = this.#endings[place] || ending;
        next = place + 1;
      }
      endings.push(ending);
      if (endings.length % linesPerStep === 0) yield;
    }
    return endings;
  }

  /** Returns a text whose lines replace these and end in "\n", with the endings that they get. */
  *endLines(text: Buffer, before: LineEnding): Steps<Buffer> {
    const endings = yield* this.endingsFor(linesOf(text), before);
    const returns = endings.reduce((count, ending) => (ending === "\r\n" ? count + 1 : count), 0);
    const ended = Buffer.allocUnsafe(text.length + returns);
    const position = { read: 0, written: 0, line: 0 };
    while (position.read < text.length) {
      insertReturns(text, endings, { ended, position });
      yield;
    }
    return ended;
  }

  *#placesUpTo(count: number): Steps<Places> {
    const places = new Places(this.#numbers.size, count);
    for (let place = count - 1; place >= 0; place--) {
      places.addBefore(place, this.#lines[place]!);
      if (place % linesPerStep === 0) yield;
    }
    return places;
  }
}

/** Returns the lines of a text that ends in "\n", without their line feeds. */
function* linesOf(text: Buffer): Generator<string> {
  let start = 0;
  for (let feed = text.indexOf(lineFeed); feed >= 0; feed = text.indexOf(lineFeed, start)) {
    yield text.toString("latin1", start, feed);
    start = feed + 1;
  }
}

const none = -1;

/** The places of each line in a list, in order. A line is a number. */
class Places {
  /** For each line, its first place that has not been passed, or `none`. */
  readonly #firsts: Int32Array;
  /** For each place, the next one of the same line, or `none`. */
  readonly #nexts: Int32Array;

  constructor(lines: number, places: number) {
    this.#firsts = new Int32Array(lines).fill(none);
    this.#nexts = new Int32Array(places);
  }

  /** Adds a place before all others. */
  addBefore(place: number, line: number): void {
    this.#nexts[place] = this.#firsts[line]!;
    this.#firsts[line] = place;
  }

  /**
   * Returns the first place of a line from `next` on, which is never less than in an earlier call, or `none`.
   */
  from(next: number, line: number): number {
    if (line === none) return none;
    let place = this.#firsts[line]!;
    while (place !== none && place < next) place = this.#nexts[place]!;
    this.#firsts[line] = place;
    return place;
  }
}

/** Copies the bytes of a step, and adds the "\r" of each line that gets one. */
function insertReturns(
  text: Buffer,
  endings: readonly LineEnding[],
  { ended, position }: { ended: Buffer; position: { read: number; written: number; line: number } },
): void {
  let { read, written, line } = position;
  for (const to = Math.min(text.length, read + bytesPerStep); read < to; read++) {
    const byte = text[read]!;
    if (byte === lineFeed && endings[line++] === "\r\n") ended[written++] = carriageReturn;
    ended[written++] = byte;
  }
  Object.assign(position, { read, written, line });
}

/**
 * Returns a replaced line with its own ending, which each further line takes too; without one, that of the
 * line before. `endsInFeed` says that the line was matched with a "\n", so the replacement has it only if it
 * is kept.
 */
export function withLineEnd(
  line: Buffer,
  { before, own, endsInFeed }: { before: LineEnding; own: LineEnding | ""; endsInFeed: boolean },
): Buffer {
  const isClosed = !endsInFeed || line.at(-1) === lineFeed;
  const text = endsInFeed && isClosed ? line.subarray(0, -1) : line;
  const written = (own || before) === "\r\n" && text.includes(lineFeed) ? withReturns(text) : text;
  return isClosed ? Buffer.concat([written, Buffer.from(own)]) : written;
}

/** Maximum bytes of a part that is replaced, and number of such parts, whose replacement is remembered. */
const [maxKeyBytes, maxKeys] = [1024, 1024];

/** Returns the start of the last line if it has no ending, otherwise the end of the text. */
const startOfRest = (text: Buffer): number => text.lastIndexOf(lineFeed) + 1;

/** Number of parts that are joined in one step. */
const maxParts = 4096;

/** A part of the original that was replaced, and the length of the replacement in the new text. */
export interface KeptRange {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/**
 * Builds the new text of a file from edits of its text without returns. Steps come in the order of the text:
 * what they keep has its own line ends, and what they write has those of the lines that it replaces.
 */
export class LineEndKeeper {
  readonly #original: Buffer;
  /** The beginning of the new text, in large pieces, and the parts after it. */
  readonly #joined: Buffer[] = [];
  readonly #parts: Buffer[] = [];
  /** The position in the original. */
  #at = 0;
  /** The ending of the last line that ended before the position. */
  #ending: LineEnding | undefined;

  constructor(original: Buffer) {
    this.#original = original;
  }

  /** Keeps the next `bytes` bytes of the text without returns. */
  *keep(bytes: number): Steps<void> {
    const part = yield* this.#advance(bytes);
    this.#add(part);
  }

  /** Replaces the next `bytes` bytes of the text without returns, and returns their place in the original. */
  *replace(bytes: number, replacement: Buffer): Steps<KeptRange> {
    const from = this.#at;
    const ended = this.#ending;
    const replaced = yield* this.#advance(bytes);
    const hasLines = replacement.includes(lineFeed);
    const part = hasLines ? yield* this.#withEnds(replacement, replaced, ended) : replacement;
    this.#add(part);
    return { from, to: this.#at, length: part.length };
  }

  /** Keeps the rest, and returns the new text. */
  finish(): Buffer {
    this.#add(this.#original.subarray(this.#at));
    return Buffer.concat([...this.#joined, ...this.#parts]);
  }

  /** Adds a part. Joins many as they come, since there may be millions. */
  #add(part: Buffer): void {
    if (part.length === 0 || this.#parts.push(part) < maxParts) return;
    this.#joined.push(Buffer.concat(this.#parts));
    this.#parts.length = 0;
  }

  *#advance(bytes: number): Steps<Buffer> {
    const start = this.#at;
    let left = bytes;
    for (let pairs = 1; ; pairs++) {
      const pair = left === 0 ? -1 : this.#nextPair();
      if (pair < 0 || pair - this.#at >= left) break;
      left -= pair - this.#at + 1;
      this.#at = pair + 2;
      if (pairs % linesPerStep === 0) yield;
    }
    this.#at += left;
    const part = this.#original.subarray(start, this.#at);
    const feed = part.lastIndexOf(lineFeed);
    if (feed >= 0) this.#ending = endingAt(part, feed);
    return part;
  }

  /** Returns the replacement of a part that ends at the position. `ended` is the ending before that part. */
  *#withEnds(replacement: Buffer, replaced: Buffer, ended: LineEnding | undefined): Steps<Buffer> {
    const own = this.#ownEnding();
    if (ended === undefined) this.#first ??= endingFor(this.#original, 0);
    const before = ended ?? this.#first!;
    if (replacement !== this.#written.replacement) this.#written = { replacement, ended: new Map() };
    const key = replaced.length > maxKeyBytes ? "" : [before, own, replaced.toString("latin1")].join("|");
    const known = key === "" ? undefined : this.#written.ended.get(key);
    if (known !== undefined) return known;
    const [restAt, oldRestAt] = [startOfRest(replacement), startOfRest(replaced)];
    const [rest, oldRest] = [replacement.subarray(restAt), replaced.subarray(oldRestAt)];
    const old = new FormerLines();
    yield* old.addPart(replaced.subarray(0, oldRestAt));
    // The start of a line that is replaced is a place for one, unless it stays.
    const isLine = !oldRest.equals(rest) && (oldRest.length > 0 || old.count === 0);
    if (isLine) old.add(oldRest.toString("latin1"), own);
    const written = yield* old.endLines(replacement.subarray(0, restAt), before);
    const whole = rest.length === 0 ? written : Buffer.concat([written, rest]);
    if (key !== "" && this.#written.ended.size < maxKeys) this.#written.ended.set(key, whole);
    return whole;
  }

  /** The last replacement, and the forms that it took in place of short parts. */
  #written: { replacement?: Buffer; ended: Map<string, Buffer> } = { ended: new Map() };

  /** The ending of the first line. */
  #first: LineEnding | undefined;
  /** The place of the next "\n", known until the position passes it. */
  #feed = -2;

  /** Returns the ending of the line that the position is in. */
  #ownEnding(): LineEnding | "" {
    if (this.#feed !== -1 && this.#feed < this.#at) this.#feed = this.#original.indexOf(lineFeed, this.#at);
    return this.#feed < 0 ? "" : endingAt(this.#original, this.#feed);
  }

  /** The place of the next CRLF, known until the position passes it. */
  #pair = -2;

  #nextPair(): number {
    if (this.#pair === -1 || this.#pair >= this.#at) return this.#pair;
    this.#pair = this.#original.indexOf(crlf, this.#at);
    return this.#pair;
  }
}
