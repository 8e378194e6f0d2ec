/**
 * Line ends as edits see them: each is "\n", whatever the file has, and whatever the edit does not touch is
 * written back unchanged. A line ends in LF or CRLF, or in CR if the file has neither.
 */

export type LineEnding = "\n" | "\r\n";

const [lineFeed, carriageReturn] = [0x0a, 0x0d];
const crlf = Buffer.from("\r\n");

/** Returns the text without each "\r" that precedes a "\n", or the same buffer if nothing changes. */
export function withoutReturns(text: Buffer): Buffer {
  return hasCrlf(text) ? replaceBytes(text, "\r\n", "\n") : text;
}

/** Returns whether the text has a CRLF. A single byte is found fastest, and most texts lack it. */
export const hasCrlf = (text: Buffer): boolean => text.includes(carriageReturn) && text.includes(crlf);

/** Returns the text with one more "\r" before each "\n". */
export const withReturns = (text: Buffer): Buffer => replaceBytes(text, "\n", "\r\n");

/** Replaces bytes by way of a string of one character per byte, which engines search fastest. */
const replaceBytes = (text: Buffer, from: string, to: string): Buffer =>
  Buffer.from(text.toString("latin1").replaceAll(from, to), "latin1");

/** Returns whether the lines of a text end in CR, as it has no other line ends. */
export const endsLinesInReturns = (text: Buffer): boolean =>
  !text.includes(lineFeed) && text.includes(carriageReturn);

/** Overwrites each byte `from` of `text` with `to`. */
export function swapBytes(text: Buffer, from: number, to: number): void {
  for (let at = text.indexOf(from); at >= 0; at = text.indexOf(from, at + 1)) text[at] = to;
}

/** Returns a copy of a text whose lines end in CR, with LF in their place, or the reverse. */
export function withOtherEnds(text: Buffer, to: "LF" | "CR"): Buffer {
  const copy = Buffer.from(text);
  if (to === "LF") swapBytes(copy, carriageReturn, lineFeed);
  else swapBytes(copy, lineFeed, carriageReturn);
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

/** A line that is replaced. */
export interface ReplacedLine {
  readonly text: string;
  /** "" for a last line without one. */
  readonly ending: LineEnding | "";
}

/**
 * Returns the endings of lines that replace others. A line that was there keeps its ending, one that
 * replaces another takes that of the other, and a further one that of the line before it. `before` is the
 * ending of the line before all of them.
 */
export function endingsOf(
  lines: readonly string[],
  replaced: readonly ReplacedLine[],
  before: LineEnding,
): LineEnding[] {
  const isSame = (at: number, place: number) => lines[at] === replaced[place]?.text;
  let [end, oldEnd] = [lines.length, replaced.length];
  while (end > 0 && oldEnd > 0 && isSame(end - 1, oldEnd - 1)) [end, oldEnd] = [end - 1, oldEnd - 1];
  const places = new Map<string, number[]>();
  for (let place = oldEnd - 1; place >= 0; place--) {
    const { text } = replaced[place]!;
    const known = places.get(text);
    if (known === undefined) places.set(text, [place]);
    else known.push(place);
  }
  const endings: LineEnding[] = [];
  let [ending, next] = [before, 0];
  for (let at = 0; at < lines.length; at++) {
    const same = places.get(lines[at]!) ?? [];
    while ((same.at(-1) ?? next) < next) same.pop();
    const place = at < end ? (same.at(-1) ?? next) : oldEnd + at - end;
    if (at >= end || place < oldEnd) {
      ending = replaced[place]!.ending || ending;
      next = place + 1;
    }
    endings.push(ending);
  }
  return endings;
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
  readonly #parts: Buffer[] = [];
  /** The position in the original. */
  #at = 0;
  /** The ending of the last line that ended before the position. */
  #ending: LineEnding | undefined;

  constructor(original: Buffer) {
    this.#original = original;
  }

  /** Keeps the next `bytes` bytes of the text without returns. */
  keep(bytes: number): void {
    const part = this.#advance(bytes);
    if (part.length > 0) this.#parts.push(part);
  }

  /** Replaces the next `bytes` bytes of the text without returns, and returns their place in the original. */
  replace(bytes: number, replacement: Buffer): KeptRange {
    const from = this.#at;
    const ended = this.#ending;
    const replaced = this.#advance(bytes);
    const part = replacement.includes(lineFeed) ? this.#withEnds(replacement, replaced, ended) : replacement;
    if (part.length > 0) this.#parts.push(part);
    return { from, to: this.#at, length: part.length };
  }

  /** Keeps the rest, and returns the new text. */
  finish(): Buffer {
    return Buffer.concat([...this.#parts, this.#original.subarray(this.#at)]);
  }

  #advance(bytes: number): Buffer {
    const start = this.#at;
    let left = bytes;
    for (;;) {
      const pair = left === 0 ? -1 : this.#nextPair();
      if (pair < 0 || pair - this.#at >= left) break;
      left -= pair - this.#at + 1;
      this.#at = pair + 2;
    }
    this.#at += left;
    const part = this.#original.subarray(start, this.#at);
    const feed = part.lastIndexOf(lineFeed);
    if (feed >= 0) this.#ending = endingAt(part, feed);
    return part;
  }

  /** Returns the replacement of a part that ends at the position. `ended` is the ending before that part. */
  #withEnds(replacement: Buffer, replaced: Buffer, ended: LineEnding | undefined): Buffer {
    const own = this.#ownEnding();
    if (ended === undefined) this.#first ??= endingFor(this.#original, 0);
    const before = ended ?? this.#first!;
    const lines = replacement.toString("latin1").split("\n");
    const old = replaced.toString("latin1").split("\n");
    const [rest, oldRest] = [lines.pop()!, old.pop()!];
    const replacedLines = old.map(
      (line): ReplacedLine =>
        line.endsWith("\r") ? { text: line.slice(0, -1), ending: "\r\n" } : { text: line, ending: "\n" },
    );
    // The start of a line that is replaced is a place for one, unless it stays.
    const isLine = oldRest !== rest && (oldRest !== "" || old.length === 0);
    if (isLine) replacedLines.push({ text: oldRest, ending: own });
    const endings = endingsOf(lines, replacedLines, before);
    return Buffer.from(lines.map((line, at) => line + endings[at]!).join("") + rest, "latin1");
  }

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
