/** The line starts of a text that is kept as bytes. */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { lineFeed } from "../edits/lines.ts";

export const carriageReturn = 0x0d;

/**
 * Maximum bytes of a line that names files, or a place in one. Two names in quotes, with each byte in octal,
 * take 32 KiB.
 */
export const maxHeaderBytes = 64 * 1024;

/**
 * A table of lines. They count from 0 here; a line ends after its line feed, and the last one may have none.
 */
export class LineTable {
  readonly bytes: Buffer;
  readonly count: number;
  readonly #starts: Uint32Array;

  constructor(bytes: Buffer, starts: Uint32Array, count: number) {
    this.bytes = bytes;
    this.#starts = starts;
    this.count = count;
  }

  /** Returns the start of a line, or the end of the text for the line after the last one. */
  startOf(line: number): number {
    return line < this.count ? this.#starts[line]! : this.bytes.length;
  }

  /** Returns the end of a line, after its line feed. */
  endOf(line: number): number {
    return this.startOf(line + 1);
  }

  /** Returns the text of a line, decoded as UTF-8 and without its ending. */
  textOf(line: number): string {
    return this.bytes.toString("utf8", this.startOf(line), this.#endOfText(line));
  }

  /** Like `textOf`, but returns only the beginning of a line that is longer than any header. */
  headerOf(line: number): string {
    const start = this.startOf(line);
    return this.bytes.toString("utf8", start, Math.min(this.#endOfText(line), start + maxHeaderBytes));
  }

  #endOfText(line: number): number {
    const start = this.startOf(line);
    let end = this.endOf(line);
    if (end > start && this.bytes[end - 1] === lineFeed) end--;
    if (end > start && this.bytes[end - 1] === carriageReturn) end--;
    return end;
  }

  /** Returns whether the line begins with these ASCII characters. */
  startsWith(line: number, prefix: string): boolean {
    return this.#hasAt(this.startOf(line), line, prefix);
  }

  /** Like `startsWith`, but the line may begin with blanks. */
  startsPadded(line: number, prefix: string): boolean {
    let at = this.startOf(line);
    const end = Math.min(this.endOf(line), at + maxHeaderBytes);
    while (at < end && (this.bytes[at] === 0x20 || this.bytes[at] === 0x09)) at++;
    return this.#hasAt(at, line, prefix);
  }

  #hasAt(from: number, line: number, prefix: string): boolean {
    if (from + prefix.length > this.endOf(line)) return false;
    for (let at = 0; at < prefix.length; at++)
      if (this.bytes[from + at] !== prefix.charCodeAt(at)) return false;
    return true;
  }

  /** Returns whether the line contains only its ending. */
  isEmpty(line: number): boolean {
    const first = this.bytes[this.startOf(line)];
    const second = this.bytes[this.startOf(line) + 1];
    return first === lineFeed || (first === carriageReturn && second === lineFeed);
  }

  /** Returns the first line from this one on that is not empty, or the end. */
  *skipEmpty(first: number): Steps<number> {
    let line = first;
    for (; line < this.count && this.isEmpty(line); line++) if (line % linesPerStep === 0) yield;
    return line;
  }
}

const bytesPerStep = 1024 * 1024;
const linesPerStep = 65_536;

/** Makes the table of a text. */
export function* tabulateLines(bytes: Buffer): Steps<LineTable> {
  const starts = new LineStarts();
  for (let from = 0; from < bytes.length; from += bytesPerStep) {
    if (from > 0) yield;
    starts.scan(bytes, from, Math.min(bytes.length, from + bytesPerStep));
  }
  return starts.tabulate(bytes);
}

/** Collects the line starts of a text. */
class LineStarts {
  #starts = new Uint32Array(1024);
  /** The number of whole lines so far. */
  #count = 0;

  /** Adds the lines that end in `bytes[from, to)`. */
  scan(bytes: Buffer, from: number, to: number): void {
    let [starts, count] = [this.#starts, this.#count];
    for (let at = from; at < to; at++) {
      if (bytes[at] !== lineFeed) continue;
      count++;
      if (count === starts.length) {
        starts = new Uint32Array(2 * count);
        starts.set(this.#starts);
        this.#starts = starts;
      }
      starts[count] = at + 1;
    }
    this.#count = count;
  }

  tabulate(bytes: Buffer): LineTable {
    const isWhole = this.#starts[this.#count] === bytes.length;
    return new LineTable(bytes, this.#starts, this.#count + (isWhole ? 0 : 1));
  }
}
