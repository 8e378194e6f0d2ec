import { skipLines } from "../../edits/lines.ts";
import { type LineWindow, RangeCollector, TailCollector, type WindowRange } from "../../edits/window.ts";
import type { OpenFile } from "../../files/open-file.ts";
import type { Limit } from "../../files/types.ts";
import type { Deadline } from "../../scheduling/deadline.ts";
import { refuseRead } from "./errors.ts";

/** The lines to read of a file that is not read to its end, because it is over the limit. */
export interface Wanted {
  readonly path: string;
  readonly part: WindowRange | { readonly tail: number };
  /** Whether the numbers of the lines are wanted, for which the lines before them are counted. */
  readonly isNumbered: boolean;
  /** Of the lines. */
  readonly limit: Limit;
}

/**
 * Lines of a file of any size. It reads piece by piece, from the beginning to where the lines end or from the end to where
 * they begin, and keeps no more than they are. Throws too-large over the limit. Closes the file.
 */
export async function readPart(file: OpenFile, wanted: Wanted, deadline: Deadline): Promise<LineWindow> {
  try {
    const { part } = wanted;
    return await ("tail" in part
      ? readTail(file, { ...wanted, part }, deadline)
      : readRange(file, { ...wanted, part }, deadline));
  } finally {
    file.close();
  }
}

async function readRange(
  file: OpenFile,
  wanted: Wanted & { readonly part: WindowRange },
  deadline: Deadline,
): Promise<LineWindow> {
  const collector = new RangeCollector(wanted.part, wanted.limit.bytes);
  for await (const piece of file.pieces()) {
    deadline.check();
    collector.push(piece);
    if (collector.isOverLimit) throw tooLarge(file, wanted);
    if (collector.isDone) return collector.finish(false);
  }
  return collector.finish(true);
}

async function readTail(
  file: OpenFile,
  wanted: Wanted & { readonly part: { readonly tail: number } },
  deadline: Deadline,
): Promise<LineWindow> {
  const collector = new TailCollector(wanted.part.tail, wanted.limit.bytes);
  for await (const { piece, offset } of file.piecesFromEnd()) {
    deadline.check();
    collector.push(piece, offset);
    if (collector.isOverLimit) throw tooLarge(file, wanted);
    if (collector.isDone) break;
  }
  const linesBefore = wanted.isNumbered ? await countUpTo(file, collector.start, deadline) : undefined;
  return collector.finish(linesBefore);
}

const tooLarge = ({ stats }: OpenFile, { path, limit }: Wanted) =>
  refuseRead.window({ path, size: stats.size, limit });

/** Lines that end before the offset `end`. */
async function countUpTo(file: OpenFile, end: number, deadline: Deadline): Promise<number> {
  let lines = 0;
  let at = 0;
  for await (const piece of file.pieces()) {
    deadline.check();
    lines += skipLines(piece.subarray(0, end - at), 0, Number.POSITIVE_INFINITY).lines;
    at += piece.length;
    if (at >= end) break;
  }
  return lines;
}
