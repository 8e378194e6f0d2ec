/** Finds the first line that differs between a text and the most likely part of a file. */
import { pairLines } from "./line-pairs.ts";
import { linesAround } from "./line-window.ts";
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

/** Returns the compared text of a part. */
export const comparedText = (body: Buffer, { from, to }: Region): string =>
  body.toString("utf8", from, Math.min(to, from + maxComparedBytes));

/**
 * Returns the first line that was sent differently from its line in the file, which may lie outside of the
 * part. Returns `undefined` if it is not known. The sent text may begin and end within a line.
 */
export function firstUnequal({ body, part, number, sent, ignoresEnds }: Compared): LinePair | undefined {
  const lines = splitLines(comparedText(body, part), ignoresEnds);
  const isCut = part.to - part.from > maxComparedBytes;
  if (isCut) lines.pop();
  const others = splitLines(sent, ignoresEnds);
  const offset = offsetBetween(lines, others);
  for (const [at, other] of others.entries()) {
    const index = at + offset;
    const isInside = index >= 0 && index < lines.length;
    if (!isInside && (isCut || !isOfWholeLines(body, part))) return undefined;
    const beyond = index < 0 ? index : index - lines.length + 1;
    const line = isInside ? lines[index]! : lineBeyond(body, part, beyond, ignoresEnds);
    // Nothing can differ from a line before the first one of the file.
    if (line === undefined && index < 0) continue;
    const isStart = at === 0;
    const isEnd = at === others.length - 1 && !sent.endsWith("\n");
    if (line === undefined || !isEqual(line, other, { isStart, isEnd }))
      return { number: number + index, line, sent: other };
  }
  // The text begins before the file.
  return offset < 0 && lines.length > 0 ? { number, line: lines[0]!, sent: others[0]! } : undefined;
}

/** Splits a text into lines without their ends. */
function splitLines(text: string, ignoresEnds: boolean): string[] {
  const lines = text.split(ignoresEnds ? /\r?\n/ : "\n");
  return lines.length > 1 && lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Returns the number of lines before the first one sent, or less than 0 if that is above all of them. */
function offsetBetween(lines: readonly string[], others: readonly string[]): number {
  const partners = pairLines(lines, others);
  const first = partners.findIndex((partner) => partner >= 0);
  return first < 0 ? 0 : partners[first]! - first;
}

function isOfWholeLines(body: Buffer, part: Region): boolean {
  const { from, to } = linesAround(body, part, 0);
  return from === part.from && to === part.to;
}

/** Returns the line that is `distance` lines after a part, or, if that is negative, before it, if any. */
function lineBeyond(body: Buffer, part: Region, distance: number, ignoresEnds: boolean): string | undefined {
  const count = Math.abs(distance);
  const [inner, outer] = [linesAround(body, part, count - 1), linesAround(body, part, count)];
  const line = distance < 0 ? { from: outer.from, to: inner.from } : { from: inner.to, to: outer.to };
  return line.from === line.to ? undefined : splitLines(comparedText(body, line), ignoresEnds)[0];
}

/** Returns whether a sent line is its line of the file, or the part of it that the sent text has. */
function isEqual(
  line: string,
  other: string,
  { isStart, isEnd }: Record<"isStart" | "isEnd", boolean>,
): boolean {
  if (isStart) return isEnd ? line.includes(other) : line.endsWith(other);
  return isEnd ? line.startsWith(other) : line === other;
}
