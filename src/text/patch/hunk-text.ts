/** The lines of one hunk, ready to be compared with a file. */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { lineFeed } from "../edits/lines.ts";
import { carriageReturn, type LineTable } from "./line-table.ts";
import type { Hunk } from "./patch.ts";

/** The kinds of lines: kept, removed or added. */
export const lineKinds = { context: 0, removed: 1, added: 2 } as const;

type LineKind = (typeof lineKinds)[keyof typeof lineKinds];

/** A range of bytes in a text. */
interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Some lines of a text, numbered from 0. */
export interface LineList {
  readonly count: number;
  readonly bytes: Buffer;
  /** Returns a line with its ending. */
  readonly extentOf: (index: number) => Extent;
}

/** Lines that are read in one step, and those whose kinds are. */
const [linesPerStep, kindsPerStep] = [16_384, 262_144];

/** The lines of a hunk without their leading character in the patch. */
export class HunkText {
  readonly bytes: Buffer;
  readonly #kinds: Uint8Array;
  readonly #extents: Uint32Array;
  /** The indices of those of its lines that the file has before. */
  readonly #old: Uint32Array;
  #count = 0;
  #oldCount = 0;
  #removedCount = 0;
  #addedBytes = 0;
  #leading = 0;
  #trailing = 0;
  #hasMarker = false;
  #hasReturns = false;

  private constructor(bytes: Buffer, lines: number) {
    this.bytes = bytes;
    this.#kinds = new Uint8Array(lines);
    this.#extents = new Uint32Array(2 * lines);
    this.#old = new Uint32Array(lines);
  }

  /** Reads a hunk. A line without a leading character is context, or is added if all lines are. */
  static *read(
    table: LineTable,
    hunk: Pick<Hunk, "first" | "end" | "isReversed">,
    isNewFile: boolean,
  ): Steps<HunkText> {
    const { first, end, isReversed = false } = hunk;
    const text = new HunkText(table.bytes, end - first);
    const unsaid: LineKind = isNewFile ? lineKinds.added : lineKinds.context;
    for (let line = first; line < end; line++) {
      if ((line - first) % linesPerStep === linesPerStep - 1) yield;
      const start = table.startOf(line);
      if (table.bytes[start] === backslash)
        text.#openLast(table.bytes[table.endOf(line) - 2] === carriageReturn);
      else {
        const kind = kindOf(table.bytes[start]);
        text.#add(isReversed && kind !== undefined ? opposites[kind] : (kind ?? unsaid), {
          from: kind === undefined ? start : start + 1,
          to: table.endOf(line),
        });
      }
    }
    return text;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of lines that the file has before. */
  get oldCount(): number {
    return this.#oldCount;
  }

  /** The number of unchanged lines that it begins with. */
  get leading(): number {
    return this.#leading;
  }

  /** The number of unchanged lines that it ends with, or 0 if it changes nothing. */
  get trailing(): number {
    return this.#leading === this.#count ? 0 : this.#trailing;
  }

  /** Whether some line is marked as having no ending. */
  get hasMarker(): boolean {
    return this.#hasMarker;
  }

  /** Whether some line that the file has before ends in CRLF. */
  get hasReturns(): boolean {
    return this.#hasReturns;
  }

  /** The size of the lines that it adds, in bytes. */
  get addedBytes(): number {
    return this.#addedBytes;
  }

  kindOf(line: number): number {
    return this.#kinds[line]!;
  }

  /** Returns the line with its ending. */
  extentOf(line: number): Extent {
    return { from: this.#extents[2 * line]!, to: this.#extents[2 * line + 1]! };
  }

  /** The lines that the file has before. */
  get oldLines(): LineList {
    const extentOf = (index: number) => this.extentOf(this.#old[index]!);
    return { count: this.#oldCount, bytes: this.bytes, extentOf };
  }

  /** The lines that the file has after. */
  *newLines(): Steps<LineList> {
    const lines = new Uint32Array(this.newCount);
    for (let line = 0, index = 0; line < this.#count; line++) {
      if (this.#kinds[line] !== lineKinds.removed) lines[index++] = line;
      if (line % kindsPerStep === kindsPerStep - 1) yield;
    }
    const extentOf = (index: number) => this.extentOf(lines[index]!);
    return { count: lines.length, bytes: this.bytes, extentOf };
  }

  /** The number of lines that the file has after. */
  get newCount(): number {
    return this.#count - this.#removedCount;
  }

  /** Whether it ends with an empty line that stays. */
  get hasBlankEnd(): boolean {
    const last = this.#count - 1;
    if (last < 0 || this.#kinds[last] !== lineKinds.context) return false;
    const { from, to } = this.extentOf(last);
    return to - from <= 1 || (to - from === 2 && this.bytes[from] === carriageReturn);
  }

  /** Returns the lines that the file has before, as they are sent, or as many of the first as fit. */
  oldText(maxBytes: number): Buffer {
    const lines: Buffer[] = [];
    for (let index = 0, bytes = 0; index < this.#oldCount; index++) {
      const { from, to } = this.extentOf(this.#old[index]!);
      bytes += to - from;
      if (bytes > maxBytes && index > 0) break;
      lines.push(this.bytes.subarray(from, Math.min(to, from + maxBytes)));
    }
    return Buffer.concat(lines);
  }

  #add(kind: LineKind, { from, to }: Extent): void {
    const line = this.#count++;
    this.#kinds[line] = kind;
    this.#extents[2 * line] = from;
    this.#extents[2 * line + 1] = to;
    if (kind === lineKinds.added) this.#addedBytes += to - from;
    else {
      this.#old[this.#oldCount++] = line;
      this.#hasReturns ||= this.bytes[to - 2] === carriageReturn && this.bytes[to - 1] === lineFeed;
    }
    if (kind === lineKinds.removed) this.#removedCount++;
    if (kind !== lineKinds.context) this.#trailing = 0;
    else if (this.#leading === line) this.#leading++;
    else this.#trailing++;
  }

  /**
   * Removes the ending of the last line. The line feed belongs to the patch; so does a carriage return if the
   * patch itself has CRLF endings.
   */
  #openLast(isCrlf: boolean): void {
    this.#hasMarker = true;
    if (this.#count === 0) return;
    const { from, to } = this.extentOf(this.#count - 1);
    let end = to;
    if (end > from && this.bytes[end - 1] === lineFeed) end--;
    if (isCrlf && end > from && this.bytes[end - 1] === carriageReturn) end--;
    this.#extents[2 * this.#count - 1] = end;
  }
}

const backslash = 0x5c;

const opposites = [lineKinds.context, lineKinds.added, lineKinds.removed] as const;

/** Returns the kind of a line by its leading character, or `undefined` if that was lost. */
function kindOf(byte: number | undefined): LineKind | undefined {
  if (byte === 0x20) return lineKinds.context;
  if (byte === 0x2d) return lineKinds.removed;
  return byte === 0x2b ? lineKinds.added : undefined;
}
