/** Finds the first line that differs between a text and the most likely part of a file. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { includesText } from "./byte-searcher.ts";
import { maxSentLines, pairLines } from "./line-pairs.ts";
import { lineEnd, lineStart, linesAround } from "./line-window.ts";
import { bomLength } from "./lines.ts";
import type { Region } from "./splices.ts";

/** A line of the file, and the line sent in its place. */
export interface LinePair {
  readonly number: number;
  /** The line of the file, or `undefined` if the file ends before it. */
  readonly line: string | undefined;
  readonly sent: string;
}

interface Compared {
  readonly body: Buffer;
  /** The compared part of the file, and the number of its first line. */
  readonly part: Region;
  readonly number: number;
  readonly sent: string;
  /** Whether carriage returns at the ends of lines do not count. */
  readonly ignoresEnds: boolean;
}

/** Maximum bytes of a part that is compared, and of a line that is shown. */
const maxComparedBytes = 128 * 1024;

const linesPerStep = 4096;

/** Returns the compared text of a part. */
export const comparedText = (body: Buffer, { from, to }: Region): string =>
  body.toString("utf8", from, Math.min(to, from + maxComparedBytes));

/**
 * Returns the first line that was sent differently from its line in the file, which may lie outside of the
 * part. Returns `undefined` if it is not known. The sent text may begin and end within a line, and have
 * millions of lines.
 */
export function* firstUnequal({
  body,
  part,
  number,
  sent,
  ignoresEnds,
}: Compared): Steps<LinePair | undefined> {
  const lines: string[] = [];
  for (const { text } of linesOf(comparedText(body, part), ignoresEnds))
    if (lines.push(text) % linesPerStep === 0) yield;
  const isCut = part.to - part.from > maxComparedBytes;
  if (isCut) lines.pop();
  yield;
  const offset = yield* offsetBetween(lines, sent, ignoresEnds);
  const mayBeOutside = !isCut && isOfWholeLines(body, part);
  const before = mayBeOutside ? linesBefore(body, part, -offset) : [];
  let [index, end] = [offset, part.to];
  for (const { text: other, isLast } of linesOf(sent, ignoresEnds)) {
    if (Math.abs(index) % linesPerStep === linesPerStep - 1) yield;
    const isInside = index >= 0 && index < lines.length;
    if (!isInside && !mayBeOutside) return undefined;
    const beyond = index < 0 ? before[-index - 1] : { from: end, to: lineEnd(body, end) };
    const line = isInside ? lines[index] : firstLine(body, beyond, ignoresEnds);
    if (!isInside && index >= 0) end = beyond!.to;
    const isStart = index === offset;
    const isEnd = isLast && !sent.endsWith("\n");
    // Nothing can differ from a line before the first one of the file.
    const isUnequal = line === undefined ? index >= 0 : !(yield* isEqual(line, other, { isStart, isEnd }));
    if (isUnequal) return { number: number + index, line, sent: other };
    index++;
  }
  // The text begins before the file.
  const [first] = linesOf(sent, ignoresEnds);
  return offset < 0 && lines.length > 0 ? { number, line: lines[0]!, sent: first!.text } : undefined;
}

interface SentLine {
  readonly text: string;
  readonly isLast: boolean;
}

/** Yields the lines of a text without their ends. An empty text has one line. */
function* linesOf(text: string, ignoresEnds: boolean): Generator<SentLine> {
  for (let start = 0; ; ) {
    const feed = text.indexOf("\n", start);
    if (feed < 0) {
      yield { text: text.slice(start), isLast: true };
      return;
    }
    const end = ignoresEnds && feed > start && text[feed - 1] === "\r" ? feed - 1 : feed;
    const isLast = feed === text.length - 1;
    yield { text: text.slice(start, end), isLast };
    if (isLast) return;
    start = feed + 1;
  }
}

/** Returns the number of lines before the first one sent, or less than 0 if that is above all of them. */
function* offsetBetween(lines: readonly string[], sent: string, ignoresEnds: boolean): Steps<number> {
  const others: string[] = [];
  for (const { text } of linesOf(sent, ignoresEnds)) {
    // Without room to compare all of them, each is paired with the line at its own index.
    if (others.push(text) > maxSentLines(lines)) return 0;
  }
  const partners = yield* pairLines(lines, others);
  const first = partners.findIndex((partner) => partner >= 0);
  return first < 0 ? 0 : partners[first]! - first;
}

/** Returns up to `count` lines before a part, the nearest first. */
function linesBefore(body: Buffer, { from }: Region, count: number): Region[] {
  const lines: Region[] = [];
  for (let end = from; lines.length < count && end > bomLength(body); end = lines.at(-1)!.from)
    lines.push({ from: lineStart(body, end - 1), to: end });
  return lines;
}

/** Returns the text of a line outside the compared part, or `undefined` without one. */
function firstLine(body: Buffer, line: Region | undefined, ignoresEnds: boolean): string | undefined {
  if (line === undefined || line.from >= line.to) return undefined;
  const [first] = linesOf(comparedText(body, line), ignoresEnds);
  return first!.text;
}

function isOfWholeLines(body: Buffer, part: Region): boolean {
  const { from, to } = linesAround(body, part, 0);
  return from === part.from && to === part.to;
}

/** Returns whether a sent line is its line of the file, or the part of it that the sent text has. */
function* isEqual(
  line: string,
  other: string,
  { isStart, isEnd }: Record<"isStart" | "isEnd", boolean>,
): Steps<boolean> {
  if (isStart) return isEnd ? yield* includesText(line, other) : line.endsWith(other);
  return isEnd ? line.startsWith(other) : line === other;
}
