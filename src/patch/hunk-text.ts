/** The lines of one hunk, ready to be compared with a file. */
import { lineFeed } from "../edits/lines.ts";
import type { LineTable } from "./line-table.ts";
import { carriageReturn } from "./line-table.ts";
import type { Hunk } from "./patch.ts";

/** What becomes of a line. */
export const lineKinds = { context: 0, removed: 1, added: 2 } as const;

/** Some bytes of a text. */
interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Lines without the character that they begin with in the patch. */
export class HunkText {
  readonly bytes: Buffer;
  /** How many lines there are, and how many of those are lines of the file as it is. */
  readonly count: number;
  readonly oldCount: number;
  /** Lines of the file that it begins and ends with, and leaves alone. */
  readonly leading: number;
  readonly trailing: number;
  /** Whether it says of a line that no ending follows it. */
  readonly hasMarker: boolean;
  readonly #kinds: Uint8Array;
  readonly #extents: Uint32Array;

  /** A line that says nothing is context, or is added where all lines are. */
  constructor(table: LineTable, { first, end }: Pick<Hunk, "first" | "end">, isNewFile: boolean) {
    const unsaid = isNewFile ? lineKinds.added : lineKinds.context;
    this.bytes = table.bytes;
    this.#kinds = new Uint8Array(end - first);
    this.#extents = new Uint32Array(2 * (end - first));
    let [count, hasMarker] = [0, false];
    for (let line = first; line < end; line++) {
      if (table.startsWith(line, "\\")) {
        hasMarker = true;
        if (count > 0) this.#openLine(count - 1, table.bytes[table.endOf(line) - 2] === carriageReturn);
        continue;
      }
      const start = table.startOf(line);
      const kind = kindOf(table.bytes[start]);
      this.#kinds[count] = kind ?? unsaid;
      this.#extents[2 * count] = kind === undefined ? start : start + 1;
      this.#extents[2 * count++ + 1] = table.endOf(line);
    }
    this.count = count;
    this.hasMarker = hasMarker;
    this.oldCount = this.#countOld();
    this.leading = this.#countEqual((line) => line);
    this.trailing = this.leading === count ? 0 : this.#countEqual((line) => count - 1 - line);
  }

  kindOf(line: number): number {
    return this.#kinds[line]!;
  }

  /** The line with its ending. */
  extentOf(line: number): Extent {
    return { from: this.#extents[2 * line]!, to: this.#extents[2 * line + 1]! };
  }

  /** Calls `visit` with each line that the file has before. */
  forEachOld(visit: (extent: Extent, index: number) => void): void {
    for (let line = 0, index = 0; line < this.count; line++)
      if (this.#kinds[line] !== lineKinds.added) visit(this.extentOf(line), index++);
  }

  /** Bytes of the lines that it adds. */
  get addedBytes(): number {
    let bytes = 0;
    for (let line = 0; line < this.count; line++)
      if (this.#kinds[line] === lineKinds.added)
        bytes += this.#extents[2 * line + 1]! - this.#extents[2 * line]!;
    return bytes;
  }

  /** The lines that the file has before, as they are sent. */
  oldText(): Buffer {
    const lines: Buffer[] = [];
    this.forEachOld(({ from, to }) => lines.push(this.bytes.subarray(from, to)));
    return Buffer.concat(lines);
  }

  /** The line feed belongs to the patch; so does a carriage return if the lines of the patch itself end in CRLF. */
  #openLine(line: number, isCrlf: boolean): void {
    const { from, to } = this.extentOf(line);
    let end = to;
    if (end > from && this.bytes[end - 1] === lineFeed) end--;
    if (isCrlf && end > from && this.bytes[end - 1] === carriageReturn) end--;
    this.#extents[2 * line + 1] = end;
  }

  #countOld(): number {
    let old = 0;
    for (let line = 0; line < this.count; line++) if (this.#kinds[line] !== lineKinds.added) old++;
    return old;
  }

  #countEqual(at: (index: number) => number): number {
    let equal = 0;
    while (equal < this.count && this.#kinds[at(equal)] === lineKinds.context) equal++;
    return equal;
  }
}

/** Undefined where nothing is said: such a line lost the character that it began with. */
function kindOf(byte: number | undefined): number | undefined {
  if (byte === 0x20) return lineKinds.context;
  if (byte === 0x2d) return lineKinds.removed;
  return byte === 0x2b ? lineKinds.added : undefined;
}
