/**
 * The difference between a file before and after an edit in the unified format (POSIX, diff -u). It is made
 * from the known changes of the edit, so only the lines that it touched are compared.
 */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { commonEnd, commonStart } from "./common-ends.ts";
import { LineNumbers, lineEnd } from "./line-window.ts";
import { countLines } from "./lines.ts";
import type { Region, Splice } from "./splices.ts";

/** A file before and after, and the changes between them. */
export interface Change {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly splices: readonly Splice[];
}

export interface UnifiedDiff {
  /** The diff, empty if nothing differs. */
  readonly diff: string;
  readonly isTruncated: boolean;
}

/** Equal lines around those that differ. */
const contextLines = 3;

/** Maximum bytes of the diff of one file. */
const maxDiffBytes = 4096;

/** Changes, and lines of the diff, in one step. */
const [splicesPerStep, linesPerStep] = [256, 4096];

/** Corresponding bytes of both texts. */
interface Block {
  readonly before: Region;
  readonly after: Region;
}

/** The names in the header, and the bound. */
interface DiffOptions {
  /** The header before the first hunk. Default: the two lines that name the path. */
  readonly header?: string;
  readonly maxBytes?: number;
}

/** Returns the diff, cut after a line if it would be too long. It is empty if both texts are equal. */
export function* unifiedDiff(
  path: string,
  change: Change,
  { header = `--- a/${path}\n+++ b/${path}\n`, maxBytes = maxDiffBytes }: DiffOptions = {},
): Steps<UnifiedDiff> {
  // One replacement may add a line, and the next remove an equal one further down.
  if (change.before.equals(change.after)) return { diff: "", isTruncated: false };
  const numbers = { before: new LineNumbers(change.before), after: new LineNumbers(change.after) };
  let [diff, bytes, lines] = ["", 0, 0];
  for (const hunk of hunksOf(change)) {
    if (hunk === undefined) {
      yield;
      continue;
    }
    if (diff === "") diff = header;
    for (const line of renderHunk(change, hunk, { ...numbers, maxBytes })) {
      bytes += Buffer.byteLength(line);
      if (bytes > maxBytes) return { diff, isTruncated: true };
      diff += line;
      if (++lines % linesPerStep === 0) yield;
    }
  }
  return { diff, isTruncated: false };
}

/** Blocks with the lines of context that they share. */
interface Hunk extends Block {
  readonly blocks: Block[];
}

/** Yields each hunk when it is complete, and `undefined` after every other step. */
function* hunksOf({ before, after, splices }: Change): Generator<Hunk | undefined> {
  let hunk: Hunk | undefined;
  for (const block of blocksOf({ before, after, splices })) {
    if (block === undefined) {
      yield undefined;
      continue;
    }
    const next = { before: withContext(before, block.before), after: withContext(after, block.after) };
    if (hunk !== undefined && next.before.from <= hunk.before.to) {
      hunk.blocks.push(block);
      hunk = { ...span(hunk, next), blocks: hunk.blocks };
      continue;
    }
    if (hunk !== undefined) yield hunk;
    hunk = { ...next, blocks: [block] };
  }
  if (hunk !== undefined) yield hunk;
}

function withContext(body: Buffer, { from, to }: Region): Region {
  let [start, end] = [from, to];
  for (let line = 0; line < contextLines; line++) {
    if (start > 0) start = firstOfLine(body, start - 1);
    if (end < body.length) end = lineEnd(body, end);
  }
  return { from: start, to: end };
}

const span = (first: Block, last: Block): Block => ({
  before: { from: first.before.from, to: last.before.to },
  after: { from: first.after.from, to: last.after.to },
});

/**
 * Yields the lines that differ: those that splices touch, without the equal ones at both ends. Yields
 * `undefined` after each step.
 */
function* blocksOf({ before, after, splices }: Change): Generator<Block | undefined> {
  let pending: Block | undefined;
  let added = 0;
  for (const [index, { from, to, length }] of splices.entries()) {
    if (index % splicesPerStep === splicesPerStep - 1) yield undefined;
    const start = from + added;
    const growth = length - (to - from);
    added += growth;
    // The rest of the line is known. It may be long, and have thousands of changes.
    if (pending !== undefined && to < pending.before.to) {
      const after: Region = { from: pending.after.from, to: pending.after.to + growth };
      pending = { before: pending.before, after };
      continue;
    }
    const touched = wholeLines(
      { before, after },
      { before: { from, to }, after: { from: start, to: start + length } },
    );
    if (pending === undefined) pending = touched;
    else if (touched.before.from <= pending.before.to)
      pending = wholeLines({ before, after }, span(pending, touched));
    else {
      yield* withoutEqualEnds({ before, after }, pending);
      pending = touched;
    }
  }
  if (pending !== undefined) yield* withoutEqualEnds({ before, after }, pending);
}

type Texts = Pick<Change, "before" | "after">;

/** Extends a block by equal bytes on both sides until it consists of whole lines in both texts. */
function wholeLines({ before, after }: Texts, block: Block): Block {
  let { before: old, after: now } = block;
  for (;;) {
    const lead = Math.max(old.from - firstOfLine(before, old.from), now.from - firstOfLine(after, now.from));
    if (lead === 0) break;
    // If it would reach further back, it shares its line with the previous block, and is joined to that.
    [old, now] = [
      { ...old, from: Math.max(0, old.from - lead) },
      { ...now, from: Math.max(0, now.from - lead) },
    ];
  }
  if (isBorder(before, old.to) && isBorder(after, now.to)) return { before: old, after: now };
  const tail = lineEnd(before, old.to) - old.to;
  return { before: { ...old, to: old.to + tail }, after: { ...now, to: now.to + tail } };
}

/** Like `lineStart`, but a byte order mark is part of its line. */
const firstOfLine = (body: Buffer, at: number): number => (at === 0 ? 0 : body.lastIndexOf(0x0a, at - 1) + 1);

const isBorder = (body: Buffer, at: number): boolean =>
  at === body.length || at === 0 || body[at - 1] === 0x0a;

/** Yields the block without equal lines at its beginning and end, or nothing if none differ. */
function* withoutEqualEnds({ before, after }: Texts, block: Block): Generator<Block> {
  const start = equalLinesAtStart(partOf(before, block.before), partOf(after, block.after));
  const old: Region = { from: block.before.from + start, to: block.before.to };
  const now: Region = { from: block.after.from + start, to: block.after.to };
  const end = equalLinesAtEnd(partOf(before, old), partOf(after, now));
  if (old.from < old.to - end || now.from < now.to - end)
    yield { before: { from: old.from, to: old.to - end }, after: { from: now.from, to: now.to - end } };
}

const partOf = (body: Buffer, { from, to }: Region): Buffer => body.subarray(from, to);

/** Returns the size of the equal lines at the start of texts that begin with a line. */
function equalLinesAtStart(one: Buffer, other: Buffer): number {
  const same = commonStart(one, other);
  return same === one.length && same === other.length ? same : firstOfLine(one, same);
}

/** Returns the size of the equal lines at the end of texts that begin with a line. */
function equalLinesAtEnd(one: Buffer, other: Buffer): number {
  const same = commonEnd(one, other);
  const isLine = [one, other].every((text) => firstOfLine(text, text.length - same) === text.length - same);
  const from = isLine ? one.length - same : lineEnd(one, one.length - same);
  return one.length - from;
}

interface HunkForm {
  /** Maximum bytes of a line, because a longer one has no room in any case. */
  readonly maxBytes: number;
  readonly before: LineNumbers;
  readonly after: LineNumbers;
}

function* renderHunk(
  { before, after }: Change,
  hunk: Hunk,
  { maxBytes, ...numbers }: HunkForm,
): Generator<string> {
  const [old, now] = [range(before, hunk.before, numbers.before), range(after, hunk.after, numbers.after)];
  yield `@@ -${old} +${now} @@\n`;
  let at = hunk.before.from;
  for (const block of hunk.blocks) {
    yield* renderLines(" ", before.subarray(at, block.before.from), maxBytes);
    yield* renderLines("-", before.subarray(block.before.from, block.before.to), maxBytes);
    yield* renderLines("+", after.subarray(block.after.from, block.after.to), maxBytes);
    at = block.before.to;
  }
  yield* renderLines(" ", before.subarray(at, hunk.before.to), maxBytes);
}

/** Returns the first line and the number of lines, or the line before an empty region. */
function range(body: Buffer, { from, to }: Region, numbers: LineNumbers): string {
  // A byte order mark alone belongs to no line of the file, but is one of the diff.
  const count = countLines(body.subarray(from, to)) || Number(to > from);
  const first = numbers.of(from);
  return count === 1 ? String(first) : `${count === 0 ? first - 1 : first},${count}`;
}

function* renderLines(sign: string, lines: Buffer, maxBytes: number): Generator<string> {
  for (let at = 0; at < lines.length; ) {
    const end = lineEnd(lines, at);
    const line = lines.toString("utf8", at, Math.min(end, at + maxBytes));
    yield sign + line;
    if (end === lines.length && lines[end - 1] !== 0x0a) yield "\n\\ No newline at end of file\n";
    at = end;
  }
}
