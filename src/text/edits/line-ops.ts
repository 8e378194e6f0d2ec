/**
 * Edits whole lines: bytes in, bytes out. The file is never decoded or split: kept lines are copied
 * unchanged, whatever their bytes, and one pass finds the places where they part.
 *
 * Whether the file ends in a line ending is a property of the file, not of its last line, and an edit keeps
 * it: lines appended to a file without a final newline get none either, and the line that becomes the last
 * one gives up its ending. Only an empty last line keeps its ending, because without it the line would not
 * exist.
 */

import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { endingFor, FormerLines, type LineEnding } from "../encodings/line-ends.ts";
import { refuseLines } from "./line-errors.ts";
import { bomLength, countLines, endingBefore, surveyLines } from "./lines.ts";
import type { Region, Splice } from "./splices.ts";

/** An edit of lines. Numbers count from 1, include both ends, and refer to the file before the edits. */
export type LineOp =
  | { readonly op: "insert"; readonly at_line: number; readonly content: string }
  | { readonly op: "remove"; readonly from_line: number; readonly to_line: number }
  | {
      readonly op: "update_lines";
      readonly from_line: number;
      readonly to_line: number;
      readonly content: string;
    };

/** Some lines of the edited file. */
interface Piece {
  /** The lines, each with its ending. */
  readonly closed: readonly Buffer[];
  /** The lines without the ending of the last one, which the end of the file may drop. */
  readonly open: Buffer;
  /** The range of the original file where they were, or that they replace. */
  readonly from: number;
  readonly to: number;
  /** The op that inserted them, by its place in the caller's list; absent for kept lines. */
  readonly index?: number;
}

/** The region that an op changed. */
export interface OpRegion extends Region {
  /** The op, by its place in the caller's list, from 0. */
  readonly index: number;
}

/** The content of a file after all its line ops. */
export interface Edited {
  /** The bytes, in a few consecutive pieces. Kept ones are views of the original file. */
  readonly parts: readonly Buffer[];
  readonly lines: number;
  readonly splices: readonly Splice[];
  /** The regions of each op's lines in the new file; for a removal, the place where the lines were. */
  readonly regions: readonly OpRegion[];
}

/** An op on the whole text, applied after the line ops. */
interface TextOp {
  readonly op: "replace" | "str_replace";
}

/**
 * Applies all line ops to the file (coder §8), in steps. Ops on the whole text are skipped: they may stand in
 * the list, so that the numbers in error sentences are those of the caller's list.
 *
 * `content` is split at "\n" and "\r\n". One break at its end adds no line, so "a" and "a\n" are one line,
 * "\n" is one empty line, and "" has no lines, as in a file. The lines get the ending that prevails in the
 * file, or with `keepsLineEnds` those of the lines that they replace, or that of the line before them; "\n"
 * if the file has none. A byte order mark stays first, and content for line 1 that begins with the one the
 * caller read does not double it. An empty file has no final newline to keep, so its first content brings its
 * own.
 *
 * Throws bad-input for a line number out of range and for ops that overlap (an insert covers its `at_line`).
 */
export function* applyLineOps(
  body: Buffer,
  ops: readonly (LineOp | TextOp)[],
  { keepsLineEnds = false } = {},
): Steps<Edited> {
  const edits = ops
    .flatMap((op, index) => (isTextOp(op) ? [] : [editOf(op, index)]))
    .sort((a, b) => a.first - b.first);
  if (edits.length === 0) return { parts: [body], lines: countLines(body), splices: [], regions: [] };
  yield;
  validateApart(edits);
  const borders = edits.flatMap(({ first, next }) => [first, next]);
  const { lines, ending, onlyEnding, starts } = surveyLines(body, borders);
  const isMixed = keepsLineEnds && onlyEnding === undefined;
  const writtenAt = (at: number) => (keepsLineEnds ? endingFor(body, at) : ending);
  yield;
  for (const edit of edits) validateRange(edit, lines);

  const bom = bomLength(body);
  const pieces: Piece[] = [];
  const keep = (from: number, to: number) => {
    const own = endingBefore(body, to);
    const open = body.subarray(from, to - own.length);
    const closed = own === "" ? [open, Buffer.from(writtenAt(to))] : [body.subarray(from, to)];
    if (from < to) pieces.push({ open, closed, from, to });
  };
  let position: number = bom;
  let count = lines;
  let written = 0;
  for (const [place, { first, next, content, index }] of edits.entries()) {
    const [from, to] = [starts.get(first)!, starts.get(next)!];
    written += (content?.length ?? 0) + (isMixed ? to - from : 0);
    if (place % editsPerStep === 0 || written > charactersPerStep) {
      written = 0;
      yield;
    }
    keep(position, from);
    const text = first === 1 && bom > 0 ? content?.replace(/^\ufeff/, "") : content;
    const replaced = isMixed ? body.subarray(from, to) : noBytes;
    const added = text === undefined ? nothing : yield* put(text, replaced, writtenAt(from));
    pieces.push({ ...added, from, to, index });
    position = to;
    count -= next - first;
    for (const closed of added.closed) count += countLines(closed);
  }
  keep(position, body.length);
  yield;
  const closed = lines === 0 ? edits[0]?.content?.endsWith("\n") : endingBefore(body, body.length) !== "";
  const joined = closed === true ? pieces : withOpenEnd(pieces);
  const parts = join(body.subarray(0, bom), joined);
  yield;
  return { parts, lines: isMarkAlone(parts) ? 0 : count, ...(yield* trace(joined, bom)) };
}

/** Ops that are applied in one step, and characters of their lines. It takes about a millisecond. */
const [editsPerStep, charactersPerStep] = [200, 128 * 1024];

const isTextOp = (op: LineOp | TextOp): op is TextOp => op.op === "replace" || op.op === "str_replace";

/**
 * An op in the common form of all three: the lines from `first` up to, but not including, `next` are
 * replaced.
 */
interface Edit {
  readonly op: LineOp;
  /** The index in the caller's list, from 0. */
  readonly index: number;
  readonly first: number;
  readonly next: number;
  readonly content: string | undefined;
}

function editOf(op: LineOp, index: number): Edit {
  const content = op.op === "remove" || op.content === "" ? undefined : op.content;
  if (op.op === "insert") return { op, index, first: op.at_line, next: op.at_line, content };
  return { op, index, first: op.from_line, next: op.to_line + 1, content };
}

function validateApart(edits: readonly Edit[]): void {
  for (const [i, edit] of edits.entries()) {
    const before = edits[i - 1];
    if (before === undefined || Math.max(before.first, before.next - 1) < edit.first) continue;
    const [a, b] = [before.index, edit.index].sort((x, y) => x - y) as [number, number];
    throw refuseLines.overlap([a, b], edit.first);
  }
}

function validateRange({ op, index, first, next }: Edit, lines: number): void {
  if (op.op === "insert") {
    if (!isBetween(1, first, lines + 1)) throw refuseLines.insertOutOfRange(index, first, lines);
  } else if (!isBetween(1, first, lines) || !isBetween(first, next - 1, lines))
    throw refuseLines.outOfRange(index, [first, next - 1], lines);
}

const isBetween = (low: number, line: number, high: number) =>
  Number.isInteger(line) && low <= line && line <= high;

type Lines = Pick<Piece, "closed" | "open">;

const noBytes = Buffer.alloc(0);
const nothing: Lines = { closed: [], open: noBytes };

/**
 * Returns the lines of a content. They take the endings of the lines that they replace, or `before`, that of
 * the line before them.
 */
function* put(content: string, replaced: Buffer, before: LineEnding): Steps<Lines> {
  const ending = replaced.length === 0 ? before : "\n";
  const encoded: Buffer[] = [];
  for (const piece of piecesOf(withoutLastBreak(content))) {
    if (encoded.length > 0) yield;
    encoded.push(Buffer.from(withBreaks(piece, ending)));
  }
  const text = Buffer.concat([...encoded, Buffer.from(ending)]);
  if (replaced.length === 0) return linesWith(text, ending);
  const lines = new FormerLines();
  yield* lines.addPart(replaced);
  const closed = yield* lines.endLines(text, before);
  return linesWith(closed, endingBefore(closed, closed.length));
}

/** Returns lines whose last one has this ending. */
const linesWith = (closed: Buffer, ending: string): Lines => ({
  closed: [closed],
  open: closed.subarray(0, closed.length - ending.length),
});

function withBreaks(text: string, ending: LineEnding): string {
  const unix = text.replaceAll("\r\n", "\n");
  return ending === "\n" ? unix : unix.replaceAll("\n", ending);
}

function withoutLastBreak(content: string): string {
  const breakLength = content.endsWith("\r\n") ? 2 : content.endsWith("\n") ? 1 : 0;
  return breakLength === 0 ? content : content.slice(0, -breakLength);
}

/** Returns whether the parts are only a byte order mark, inserted into a file without lines. */
const isMarkAlone = (parts: readonly Buffer[]): boolean =>
  parts.reduce((length, part) => length + part.length, 0) === 3 && bomLength(Buffer.concat(parts)) === 3;

/**
 * Returns the pieces. The last one with lines gives up its ending, unless the line would not exist
 * without it.
 */
function withOpenEnd(pieces: readonly Piece[]): readonly Piece[] {
  const at = pieces.findLastIndex(({ closed }) => closed.length > 0);
  const last = pieces[at];
  return last === undefined || endsInEmptyLine(last.open)
    ? pieces
    : pieces.with(at, { ...last, closed: [last.open] });
}

/** Returns whether the last line is empty, so that it would not exist without its ending. */
const endsInEmptyLine = (open: Buffer): boolean =>
  open.length === 0 || endingBefore(open, open.length) !== "";

function join(bom: Buffer, pieces: readonly Piece[]): Buffer[] {
  const parts = pieces.flatMap(({ closed }) => closed);
  if (bom.length > 0) parts.unshift(bom);
  return parts.length <= fewParts ? parts : [Buffer.concat(parts)];
}

/** Maximum parts that are written one by one. More of them are cheaper as one copy. */
const fewParts = 16;

/** Returns the changes of the pieces, in bytes. The first piece begins at `start`. */
function* trace(pieces: readonly Piece[], start: number): Steps<Pick<Edited, "splices" | "regions">> {
  const splices: Splice[] = [];
  const regions: OpRegion[] = [];
  let at = start;
  for (const [place, { closed, from, to, index }] of pieces.entries()) {
    if (place % editsPerStep === 0) yield;
    const length = closed.reduce((sum, part) => sum + part.length, 0);
    if (index !== undefined) {
      splices.push({ from, to, length });
      regions.push({ index, from: at, to: at + length });
    } else if (length > to - from) splices.push({ from: to, to, length: length - (to - from) });
    else if (length < to - from) splices.push({ from: from + length, to, length: 0 });
    at += length;
  }
  return { splices, regions };
}
