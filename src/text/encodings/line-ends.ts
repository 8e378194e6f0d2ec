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

/**
 * Returns a replaced line with its own ending, and that of the line before it for each further line.
 * `endsInFeed` says that the line was matched with a "\n", so the replacement has it only if it is kept.
 */
export function withLineEnd(
  line: Buffer,
  { before, own, endsInFeed }: { before: LineEnding; own: LineEnding | ""; endsInFeed: boolean },
): Buffer {
  const isClosed = !endsInFeed || line.at(-1) === lineFeed;
  const text = endsInFeed && isClosed ? line.subarray(0, -1) : line;
  const written = before === "\r\n" && text.includes(lineFeed) ? withReturns(text) : text;
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
 * what they keep has its own line ends, and the line ends of what they write are those of the lines before.
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
    const [from, written] = [this.#at, this.#ending ?? endingFor(this.#original, this.#at)];
    const replaced = this.#advance(bytes);
    const part = withEnds(replacement, replaced, written);
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

  /** The place of the next CRLF, known until the position passes it. */
  #pair = -2;

  #nextPair(): number {
    if (this.#pair === -1 || this.#pair >= this.#at) return this.#pair;
    this.#pair = this.#original.indexOf(crlf, this.#at);
    return this.#pair;
  }
}

/**
 * Returns a replacement with the line ends of a file. If it has as many lines as what it replaces, each keeps
 * its ending.
 */
function withEnds(replacement: Buffer, replaced: Buffer, written: LineEnding): Buffer {
  if (!replacement.includes(lineFeed)) return replacement;
  const endings = replaced.toString("latin1").match(/\r?\n/g) ?? [];
  const lines = replacement.toString("latin1").split("\n");
  const own = endings.length === lines.length - 1;
  if (!own && written === "\n") return replacement;
  const text = lines.map((line, index) =>
    index === 0 ? line : (own ? endings[index - 1]! : written) + line,
  );
  return Buffer.from(text.join(""), "latin1");
}
