/**
 * Edits of whole lines: bytes in, bytes out. The file is never decoded and never split: lines that stay are copied
 * as they are, whatever their bytes, and one pass finds the places where they part.
 *
 * Whether the file ends in a line ending is a property of the file, not of its last line, and an edit keeps it: what
 * is appended to a file without a final newline has none either, and the line that becomes the last one gives up
 * its ending. Only an empty last line keeps its ending, because without it there is no such line.
 */

import { refuse } from "../errors.ts";
import { bomLength, countLines, endingBefore, type LineEnding, surveyLines } from "./lines.ts";

/** An edit of lines. Numbers count from 1, include both ends, and are those of the file as it was. */
export type LineOp =
  | { readonly op: "insert"; readonly at_line: number; readonly content: string }
  | { readonly op: "remove"; readonly from_line: number; readonly to_line: number }
  | {
      readonly op: "update_lines";
      readonly from_line: number;
      readonly to_line: number;
      readonly content: string;
    };

/** Some lines. */
interface Piece {
  /** Each with its ending. */
  readonly closed: readonly Buffer[];
  /** Less the ending of the last one, which the end of the file may drop. */
  readonly open: Buffer;
}

/** A file after edits. */
export interface Edited {
  /** Its bytes, in a few pieces that follow each other; those that stay are views of the file as it was. */
  readonly parts: readonly Buffer[];
  readonly lines: number;
}

/**
 * The file after all line ops (coder §8). `replace` ops are passed over: they may stand in the list,
 * so that the numbers in error sentences are those of the caller's list.
 *
 * `content` is split at "\n" and "\r\n"; one break at its end adds no line, so "a" and "a\n" are one line, "\n"
 * is one empty line, and "" is no line at all, as in a file. The lines get the ending that prevails in the
 * file, "\n" if it has none. A byte order mark stays first, and content for line 1 that begins with the one the
 * caller read does not double it. An empty file has no final newline to keep: its first content brings its own.
 *
 * Throws bad-input for a line number out of range and for ops that overlap (an insert covers its `at_line`).
 */
export function applyLineOps(body: Buffer, ops: readonly (LineOp | { readonly op: "replace" })[]): Edited {
  const edits = ops
    .flatMap((op, index) => (op.op === "replace" ? [] : [editOf(op, index)]))
    .sort((a, b) => a.first - b.first);
  if (edits.length === 0) return { parts: [body], lines: countLines(body) };
  validateApart(edits);
  const borders = edits.flatMap(({ first, next }) => [first, next]);
  const { lines, ending, starts } = surveyLines(body, borders);
  for (const edit of edits) validateRange(edit, lines);

  const bom = bomLength(body);
  const pieces: Piece[] = [];
  const keep = (from: number, to: number) => {
    const own = endingBefore(body, to);
    const open = body.subarray(from, to - own.length);
    if (from < to)
      pieces.push({ open, closed: own === "" ? [open, Buffer.from(ending)] : [body.subarray(from, to)] });
  };
  let position: number = bom;
  for (const { first, next, content } of edits) {
    keep(position, starts.get(first)!);
    const text = first === 1 && bom > 0 ? content?.replace(/^\ufeff/, "") : content;
    if (text !== undefined) pieces.push(put(text, ending));
    position = starts.get(next)!;
  }
  keep(position, body.length);
  const closed = lines === 0 ? edits[0]?.content?.endsWith("\n") : endingBefore(body, body.length) !== "";
  const parts = join(body.subarray(0, bom), pieces, closed === true);
  return { parts, lines: isMarkAlone(parts) ? 0 : edits.reduce(countAfter, lines) };
}

/** An op in the form in which all three are alike: lines from `first` up to, not including, `next` give way. */
interface Edit {
  readonly op: LineOp;
  /** In the caller's list, from 0. */
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
    const [a, b] = [before.index, edit.index].sort((x, y) => x - y);
    throw refuse.badInput(
      `ops[${a}] and ops[${b}] both cover line ${edit.first} (an insert covers its "at_line"); all numbers are those of the file as it was, and a line may be covered once: join the two into one op.`,
    );
  }
}

function validateRange({ op, index, first, next }: Edit, lines: number): void {
  const has = lines === 0 ? "has no lines" : lines === 1 ? "has 1 line" : `has ${lines} lines`;
  if (op.op === "insert") {
    if (isBetween(1, first, lines + 1)) return;
    throw refuse.badInput(
      `ops[${index}] inserts at line ${first} and the file ${has}; send an "at_line" from 1 to ${lines + 1}, where ${lines + 1} appends.`,
    );
  }
  if (isBetween(1, first, lines) && isBetween(first, next - 1, lines)) return;
  const instead =
    lines === 0
      ? 'add some with an insert whose "at_line" is 1'
      : `send 1 <= from_line <= to_line <= ${lines}`;
  throw refuse.badInput(
    `ops[${index}] covers lines ${first} to ${next - 1} and the file ${has}; ${instead}.`,
  );
}

const isBetween = (low: number, line: number, high: number) =>
  Number.isInteger(line) && low <= line && line <= high;

function put(content: string, ending: LineEnding): Piece {
  const lines = Buffer.from(withoutLastBreak(content).replace(/\r?\n/g, ending) + ending);
  return { closed: [lines], open: lines.subarray(0, lines.length - ending.length) };
}

const withoutLastBreak = (content: string): string => content.replace(/\r?\n$/, "");

function countAfter(lines: number, { first, next, content }: Edit): number {
  const added = content === undefined ? 0 : withoutLastBreak(content).split("\n").length;
  return lines - (next - first) + added;
}

/** A mark that was put in where there was no line. */
const isMarkAlone = (parts: readonly Buffer[]): boolean =>
  parts.reduce((length, part) => length + part.length, 0) === 3 && bomLength(Buffer.concat(parts)) === 3;

function join(bom: Buffer, pieces: readonly Piece[], closed: boolean): Buffer[] {
  const last = pieces.at(-1);
  const isOpen = !closed && last !== undefined && !endsInEmptyLine(last.open);
  const parts = pieces.flatMap((piece) => (isOpen && piece === last ? [piece.open] : piece.closed));
  if (bom.length > 0) parts.unshift(bom);
  return parts.length <= fewParts ? parts : [Buffer.concat(parts)];
}

/** Each part is written by itself; more of them are cheaper as one copy. */
const fewParts = 16;

/** Without its ending such a line would not be there. */
const endsInEmptyLine = (open: Buffer): boolean =>
  open.length === 0 || endingBefore(open, open.length) !== "";
