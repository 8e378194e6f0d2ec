/**
 * Replaces every match and records the places. The template that the engine gets puts a mark, a character
 * from none of the texts, before and after each match and its replacement. The marks are then removed.
 */
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { LineEndKeeper } from "../encodings/line-ends.ts";
import type { Regex } from "./regex-runtime.ts";

/** A range of a text, from `from` up to but not including `to`, that was replaced by `length` bytes. */
export interface ReplacedRange {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

export interface TracedReplacement {
  readonly body: Buffer;
  readonly count: number;
  /** The ranges in order. The last one covers everything past `maxRanges`. */
  readonly ranges: readonly ReplacedRange[];
}

/** Maximum ranges that are kept apart. */
const maxRanges = 10_000;

/**
 * Returns a character that occurs in neither text, or `undefined` in the unlikely case that there is none.
 */
export function markFor(body: Buffer, replacement: string): string | undefined {
  for (let code = firstNoncharacter; code <= lastNoncharacter; code++) {
    const mark = String.fromCharCode(code);
    if (!replacement.includes(mark) && !body.includes(mark)) return mark;
  }
  return undefined;
}

/** The noncharacters of Unicode Standard section 23.7, not for interchange. */
const [firstNoncharacter, lastNoncharacter] = [0xfdd0, 0xfdef];

/** The size of a mark in UTF-8, in bytes. */
const markBytes = 3;

/** Replaces every match in `body` like `Regex.replaceAll`, by way of a text with three marks for each. */
export function replaceTraced(
  regex: Regex,
  body: Buffer,
  { replacement, mark }: { replacement: string; mark: string },
): TracedReplacement {
  const marked = regex.replaceAll(body, markedTemplate(replacement, mark));
  const after = Buffer.allocUnsafe(marked.length);
  const ranges: ReplacedRange[] = [];
  let [written, from, count] = [0, 0, 0];
  const rest = visitMarked(marked, Buffer.from(mark), (read, start, middle, end) => {
    written += marked.copy(after, written, read, start);
    written += marked.copy(after, written, middle + markBytes, end);
    from += start - read;
    const to = from + middle - start - markBytes;
    addRange(ranges, { from, to, length: end - middle - markBytes });
    from = to;
    count++;
  });
  written += marked.copy(after, written, rest);
  return { body: after.subarray(0, written), count, ranges };
}

/**
 * Like `replaceTraced`, but matches the text of `body` without "\r" before "\n", and keeps the line ends of
 * the file (`LineEndKeeper`).
 */
export function replaceWithinLineEnds(
  regex: Regex,
  body: Buffer,
  { text, replacement, mark }: { text: Buffer; replacement: string; mark: string },
): TracedReplacement {
  const marked = regex.replaceAll(text, markedTemplate(replacement, mark));
  const keeper = new LineEndKeeper(body);
  const ranges: ReplacedRange[] = [];
  let count = 0;
  visitMarked(marked, Buffer.from(mark), (read, start, middle, end) => {
    runAtOnce(keeper.keep(start - read));
    const written = marked.subarray(middle + markBytes, end);
    addRange(ranges, runAtOnce(keeper.replace(middle - start - markBytes, written)));
    count++;
  });
  return { body: keeper.finish(), count, ranges };
}

const markedTemplate = (replacement: string, mark: string): string =>
  `${mark}\${0}${mark}${replacement}${mark}`;

/** Receives the start of the text before a match, and the places of the three marks of the match. */
type MarkVisitor = (read: number, start: number, middle: number, end: number) => void;

/** Visits every match in a marked text. Returns the start of the text after the last one. */
function visitMarked(marked: Buffer, mark: Buffer, visit: MarkVisitor): number {
  let read = 0;
  for (let start = marked.indexOf(mark); start >= 0; start = marked.indexOf(mark, read)) {
    const middle = marked.indexOf(mark, start + markBytes);
    const end = marked.indexOf(mark, middle + markBytes);
    visit(read, start, middle, end);
    read = end + markBytes;
  }
  return read;
}

function addRange(ranges: ReplacedRange[], range: ReplacedRange): void {
  const last = ranges.at(-1);
  if (last === undefined || ranges.length <= maxRanges) ranges.push(range);
  else
    ranges[maxRanges] = {
      from: last.from,
      to: range.to,
      length: last.length + range.from - last.to + range.length,
    };
}
