import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { CountedOffset, FileLines, LineCounts } from "../../filesystem/files/line-counts.ts";
import type { OpenFile } from "../../filesystem/files/open-file.ts";
import type { Limit } from "../../filesystem/files/types.ts";
import { skipLines } from "../../text/edits/lines.ts";
import { type LineWindow, RangeCollector, TailCollector, type WindowRange } from "../../text/edits/window.ts";
import { refuseRead } from "./read-errors.ts";

/** The lines to read of a file that exceeds the limit, and is not read to its end. */
export interface Wanted {
  readonly path: string;
  readonly part: WindowRange | { readonly tail: number };
  /** Whether the answer has line numbers. If so, the lines before the part are counted. */
  readonly isNumbered: boolean;
  /** The limit on the bytes of the returned lines. */
  readonly limit: Limit;
}

/** The context of reading any part. */
interface Means {
  readonly deadline: Deadline;
  readonly lineCounts: LineCounts;
}

/**
 * Reads lines of a file of any size, piece by piece: forward from the beginning or from a known place before
 * the lines, or backward from the end. Keeps only these lines in memory. Throws too-large over the limit.
 * Closes the file.
 */
export async function readPart(
  file: OpenFile,
  wanted: Wanted,
  { deadline, lineCounts }: Means,
): Promise<LineWindow> {
  try {
    const { part } = wanted;
    const known = lineCounts.of(file.descriptor);
    const window = await ("tail" in part
      ? readTail(file, { ...wanted, part }, { known, deadline })
      : readRange(file, { ...wanted, part }, { known, deadline }));
    if (window === undefined) throw tooLarge(file, wanted);
    return window;
  } finally {
    file.close();
  }
}

interface Run {
  readonly known: FileLines;
  readonly deadline: Deadline;
}

/** Returns `undefined` if the part exceeds the limit. */
function readRange(
  file: OpenFile,
  { part, limit }: Wanted & { readonly part: WindowRange },
  { known, deadline }: Run,
): Promise<LineWindow | undefined> {
  return readFrom(known, known.beforeLine(part.from), async (start) => {
    const collector = new RangeCollector(part, limit.bytes, start);
    for await (const piece of file.pieces(start.offset)) {
      deadline.check();
      known.add(collector.pushed);
      collector.push(piece);
      if (collector.isOverLimit) return undefined;
      if (collector.isDone) return collector.finish(false);
    }
    return collector.finish(true);
  });
}

/** Returns `undefined` if the lines exceed the limit. */
async function readTail(
  file: OpenFile,
  { part, limit, isNumbered }: Wanted & { readonly part: { readonly tail: number } },
  run: Run,
): Promise<LineWindow | undefined> {
  const collector = new TailCollector(part.tail, limit.bytes);
  for await (const { piece, offset } of file.piecesFromEnd()) {
    run.deadline.check();
    collector.push(piece, offset);
    if (collector.isOverLimit) return undefined;
    if (collector.isDone) break;
  }
  return collector.finish(isNumbered ? await countUpTo(file, collector.start, run) : undefined);
}

function tooLarge({ stats }: OpenFile, { path, limit, part }: Wanted) {
  const isOneLine = "tail" in part ? part.tail === 1 : part.from === part.to;
  const excess = { path, size: stats.size, limit };
  return isOneLine ? refuseRead.line(excess) : refuseRead.window(excess);
}

/** Counts the lines that end before the offset `end`. */
function countUpTo(file: OpenFile, end: number, { known, deadline }: Run): Promise<number> {
  return readFrom(known, known.beforeOffset(end), async (start) => {
    let { offset, lines } = start;
    for await (const piece of file.pieces(offset)) {
      deadline.check();
      known.add({ offset, lines });
      lines += skipLines(piece.subarray(0, end - offset), 0, Number.POSITIVE_INFINITY).lines;
      offset += piece.length;
      if (offset >= end) break;
    }
    return lines;
  });
}

/** Reads from a known place, or from the beginning if the file has changed since that place was found. */
async function readFrom<T>(
  known: FileLines,
  start: CountedOffset,
  read: (start: CountedOffset) => Promise<T>,
): Promise<T> {
  // After a timeout, the next call can continue from the lines counted so far.
  const found = await read(start).catch((error: unknown) => {
    known.keep();
    throw error;
  });
  return known.keep() || start.offset === 0 ? found : read({ offset: 0, lines: 0 });
}
