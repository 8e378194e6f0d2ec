/** Applies the hunks of a patch to a file. Lines that are shown and not changed stay as the file has them. */

import { LineSteps } from "../../base/scheduling/line-steps.ts";
import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { bomLength, countLines, endingBefore, lineFeed, surveyLines } from "../edits/lines.ts";
import type { Region } from "../edits/splices.ts";
import { endingFor, FormerLines, type LineEnding } from "../encodings/line-ends.ts";
import { type FittedHunk, fitHunks, type PlacedHunk } from "./fit.ts";
import { type HunkText, lineKinds } from "./hunk-text.ts";
import { indentOf, type Shift } from "./indentation.ts";
import { carriageReturn, type LineTable, tabulateLines } from "./line-table.ts";
import { comparedTo } from "./matching.ts";
import type { FilePatch, Patch } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";

/** A file after its hunks. */
export interface PatchedFile {
  readonly body: Buffer;
  readonly lines: number;
  /** The regions that each hunk changed, in bytes of `body`. */
  readonly regions: readonly Region[];
  /** The hunks that are not applied as they are written, in the order of the patch. */
  readonly placements: readonly HunkPlacement[];
}

/** The differences between a hunk and its application. */
export interface HunkPlacement {
  /** The number of the hunk, from 1. */
  readonly hunk: number;
  /** The first line of the hunk in the file afterwards, from 1. */
  readonly line: number;
  /** The number of lines after the place that its header gives, negative if before it. */
  readonly offset?: number;
  /** The first lines of other places where it fits, in the file afterwards, from 1. */
  readonly alsoAt?: readonly number[];
  /** The blanks that its added lines got, or lost. */
  readonly indented?: string;
  readonly outdented?: string;
  /** Whether it shows plain characters where the file has typographic ones, or the other way round. */
  readonly isTypographic?: true;
}

/** Maximum bytes that are added before and after a line. */
const endingBytes = 4;

const [linesPerStep, hunksPerStep] = [4096, 2048];

/**
 * Applies all hunks to `before`. If a line of the file differs in some byte from the hunk, added lines get
 * the endings of the lines that they replace, or that of the line before them, and the file ends with a line
 * feed if it did before. Throws a refusal for a hunk that does not fit, for two that change the same lines,
 * and for those of a file to be deleted that leave some of it.
 */
export function* applyHunks(before: Buffer, file: FilePatch, patch: Patch): Steps<PatchedFile> {
  const table = yield* tabulateLines(before);
  const hunks = yield* inOrder(yield* fitHunks(file, patch.lines, table));
  yield;
  requireApart(hunks);
  yield;
  const writer = new PatchWriter(before, table, hunks);
  for (const hunk of hunks) yield* writer.write(hunk);
  const after = writer.finish();
  const showsAll = file.change === "delete" && (file.hunks.length > 0 || file.wasEmpty === true);
  if (showsAll && after.body.length > 0) throw refusePatch.notRemoved(file.path, after.lines);
  yield;
  return { ...after, placements: yield* placementsOf(hunks) };
}

/** `hunks` are in the order of the file. */
function* placementsOf(hunks: readonly PlacedHunk[]): Steps<HunkPlacement[]> {
  const placements: HunkPlacement[] = [];
  const lineAfter = afterHunks(hunks);
  let added = 0;
  for (const [at, { place, text, start, matching, shift, offset, alsoAt }] of hunks.entries()) {
    if (at % hunksPerStep === 0) yield;
    const blanks = shift?.blanks.toString();
    const placement = {
      hunk: place.number,
      line: start + added + 1,
      ...(offset !== 0 && { offset }),
      ...(alsoAt.length > 0 && { alsoAt: alsoAt.map(lineAfter) }),
      ...(blanks && (shift!.isRemoved ? { outdented: blanks } : { indented: blanks })),
      ...(matching === "typography" && { isTypographic: true as const }),
    };
    if (Object.keys(placement).length > 2) placements.push(placement);
    added += text.newCount - text.oldCount;
  }
  return placements.sort((a, b) => a.hunk - b.hunk);
}

/**
 * Returns a function from a line of the file before, counted from 0, to its number afterwards. `hunks` are in
 * the order of the file.
 */
function afterHunks(hunks: readonly PlacedHunk[]): (line: number) => number {
  const starts = hunks.map(({ start }) => start);
  const added = [0];
  for (const { text } of hunks) added.push(added.at(-1)! + text.newCount - text.oldCount);
  return (line) => {
    const before = starts.findIndex((start) => start > line);
    return line + added[before < 0 ? starts.length : before]! + 1;
  };
}

/** Returns the hunks sorted by the first line that they change, which they nearly always are. */
function* inOrder(hunks: PlacedHunk[]): Steps<readonly PlacedHunk[]> {
  const firsts = hunks.map((hunk) => changeOf(hunk).from);
  if (firsts.every((first, at) => at === 0 || firsts[at - 1]! <= first)) return hunks;
  const keyed = hunks.map((hunk, at) => ({ hunk, at, first: firsts[at]! }));
  const isBefore = (a: (typeof keyed)[0], b: (typeof keyed)[0]) =>
    a.first < b.first || (a.first === b.first && a.at < b.at);
  return (yield* mergeSort(keyed, isBefore)).map(({ hunk }) => hunk);
}

/** Returns the lines from the first that a hunk changes up to the last. */
function changeOf({ start, text }: FittedHunk): Region {
  return { from: start + text.leading, to: start + text.oldCount - text.trailing };
}

function requireApart(hunks: readonly FittedHunk[]): void {
  for (const [at, hunk] of hunks.entries()) {
    const before = hunks[at - 1];
    if (before === undefined || changeOf(before).to <= changeOf(hunk).from) continue;
    const [first, second] = [before.place, hunk.place].sort((a, b) => a.number - b.number) as [
      FittedHunk["place"],
      FittedHunk["place"],
    ];
    throw refusePatch.overlappingHunks(second, first);
  }
}

/** Returns a line as deep as the file has it. Blank lines stay as they are. */
function shiftedLine(bytes: Buffer, extent: Region, shift: Shift | undefined): Buffer {
  const line = bytes.subarray(extent.from, extent.to);
  if (shift === undefined || indentOf(bytes, extent) === undefined) return line;
  return shift.isRemoved ? line.subarray(shift.blanks.length) : Buffer.concat([shift.blanks, line]);
}

/** Returns the lines that some lines of a hunk add, without their endings. */
function* addedLines(text: HunkText, { from, to }: Region): Generator<string> {
  for (let at = from; at < to; at++) {
    if (text.kindOf(at) !== lineKinds.added) continue;
    const extent = text.extentOf(at);
    yield text.bytes.toString(
      "utf8",
      extent.from,
      comparedTo("endings", text.bytes, [extent.from, extent.to]),
    );
  }
}

interface AddedLine {
  readonly text: HunkText;
  /** The index of the line. */
  readonly at: number;
  /** Whether it comes before the first line of the file. */
  readonly isFirst: boolean;
  readonly shift: Shift | undefined;
  /** The ending that it gets; `undefined` for its own. */
  readonly ending: LineEnding | undefined;
}

/** The lines of a hunk from one that changes up to the next that does not, and their place in the file. */
interface Run {
  readonly text: HunkText;
  readonly at: number;
  readonly line: number;
}

class PatchWriter {
  readonly #before: Buffer;
  readonly #table: LineTable;
  readonly #ending: LineEnding;
  /** Whether lines of the file end in LF and in CRLF. */
  readonly #isMixed: boolean;
  readonly #hasMarker: boolean;
  readonly #after: Buffer;
  readonly #regions: Region[];
  #length = 0;
  /** The number of bytes of the original file that are written or left out. */
  #from = 0;
  readonly #steps = new LineSteps();

  constructor(before: Buffer, table: LineTable, hunks: readonly FittedHunk[]) {
    this.#before = before;
    this.#table = table;
    const { ending, onlyEnding } = surveyLines(before, []);
    this.#ending = table.count === 0 ? "\n" : ending;
    this.#isMixed = onlyEnding === undefined && before.includes(lineFeed);
    this.#hasMarker = hunks.some(({ text }) => text.hasMarker);
    const added = hunks.reduce(
      (sum, { text, shift }) =>
        sum + text.addedBytes + (endingBytes + (shift?.blanks.length ?? 0)) * text.count,
      0,
    );
    this.#after = Buffer.allocUnsafe(before.length + added + endingBytes);
    this.#regions = hunks.map(() => ({ from: 0, to: 0 }));
  }

  *write({ place, text, start, matching, shift }: FittedHunk): Steps<void> {
    const isExact = matching === "exact";
    let line = start;
    let region: Region | undefined;
    let endings: readonly LineEnding[] = [];
    let ended = 0;
    for (let at = 0; at < text.count; at++) {
      const extent = text.extentOf(at);
      if (this.#steps.isDueAfter(extent.to - extent.from)) yield;
      const kind = text.kindOf(at);
      const isFirst = at === 0 || text.kindOf(at - 1) === lineKinds.context;
      if (isFirst && !isExact && this.#isMixed) {
        endings = yield* this.#endingsOf({ text, at, line });
        ended = 0;
      }
      if (kind !== lineKinds.context) {
        this.#keepUpTo(this.#offsetOf(line, isExact));
        region ??= { from: this.#length, to: this.#length };
        if (kind === lineKinds.removed) this.#from = this.#table.endOf(line);
        else {
          const ending = endings[ended++] ?? this.#ending;
          this.#add({ text, at, isFirst: line === 0, shift, ending: isExact ? undefined : ending });
        }
        region = { from: region.from, to: this.#length };
      }
      if (kind !== lineKinds.added) line++;
    }
    this.#regions[place.number - 1] = region ?? { from: this.#length, to: this.#length };
  }

  finish(): Omit<PatchedFile, "placements"> {
    this.#keepUpTo(this.#before.length);
    this.#keepFinalNewline();
    const body = this.#after.subarray(0, this.#length);
    const regions = this.#regions.map(({ from, to }) => ({ from, to: Math.min(to, body.length) }));
    return { body, lines: countLines(body), regions };
  }

  /** Returns the offset of a line. A byte order mark precedes the first line unless a hunk shows it. */
  #offsetOf(line: number, isExact: boolean): number {
    return line === 0 && !isExact ? bomLength(this.#before) : this.#table.startOf(line);
  }

  #keepUpTo(end: number): void {
    if (end > this.#from) this.#put(this.#before, this.#from, end);
    this.#from = Math.max(end, this.#from);
  }

  /** Returns the endings of the lines that a run adds to a file with both kinds. */
  *#endingsOf({ text, at, line }: Run): Steps<LineEnding[]> {
    const replaced = new FormerLines();
    let end = at;
    for (let next = line; end < text.count && text.kindOf(end) !== lineKinds.context; end++) {
      if (end % linesPerStep === linesPerStep - 1) yield;
      if (text.kindOf(end) === lineKinds.added) continue;
      replaced.add(this.#table.textOf(next), endingBefore(this.#before, this.#table.endOf(next)));
      next++;
    }
    const before = endingFor(this.#before, this.#table.startOf(line));
    return yield* replaced.endingsFor(addedLines(text, { from: at, to: end }), before);
  }

  #add({ text, at, isFirst, shift, ending }: AddedLine): void {
    const { from, to } = text.extentOf(at);
    if (ending === undefined) {
      this.#put(text.bytes, from, to);
      return;
    }
    const hasMark = isFirst && bomLength(this.#before) > 0 && bomLength(text.bytes.subarray(from, to)) > 0;
    const start = hasMark ? from + 3 : from;
    let end = comparedTo("endings", text.bytes, [start, to]);
    // A program that converts line ends has made CR CR LF of CRLF.
    while (end < to && end > start && text.bytes[end - 1] === carriageReturn) end--;
    const line = shiftedLine(text.bytes, { from: start, to: end }, shift);
    this.#put(line, 0, line.length);
    if (text.bytes[to - 1] === lineFeed) this.#end(ending);
  }

  /** Copies bytes. If the last line has no ending, they begin a new line. */
  #put(bytes: Buffer, from: number, to: number): void {
    if (this.#isOpen()) this.#end(this.#ending);
    this.#length += bytes.copy(this.#after, this.#length, from, to);
  }

  /** Ends the line that was written last. */
  #end(ending: LineEnding): void {
    this.#length += this.#after.write(ending, this.#length, "latin1");
  }

  #isOpen(): boolean {
    const start = bomLength(this.#after.subarray(0, this.#length));
    return this.#length > start && this.#after[this.#length - 1] !== lineFeed;
  }

  /**
   * Removes the ending of the last line if the original file did not end with one, unless nothing would be
   * left of the line.
   */
  #keepFinalNewline(): void {
    const before = this.#before;
    const wasOpen = before.length > bomLength(before) && before.at(-1) !== lineFeed;
    // A carriage return at the end of the file is a part of its last line.
    if (!wasOpen || this.#hasMarker || this.#after[this.#length - 1] !== lineFeed) return;
    const end = comparedTo("endings", this.#after, [0, this.#length]);
    if (end > 0 && this.#after[end - 1] !== lineFeed) this.#length = end;
  }
}
