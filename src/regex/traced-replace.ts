/**
 * Replaces every match and records the places. The template that the engine gets puts a mark, a character
 * from none of the texts, before and after each match and its replacement. The marks are then removed.
 */
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
  /** The ranges in order. The last one covers everything past `mostRanges`. */
  readonly ranges: readonly ReplacedRange[];
}

/** Maximum ranges that are kept apart. */
const mostRanges = 10_000;

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
  const marked = regex.replaceAll(body, `${mark}\${0}${mark}${replacement}${mark}`);
  const bytes = Buffer.from(mark);
  const after = Buffer.allocUnsafe(marked.length);
  const ranges: ReplacedRange[] = [];
  let [read, written, from, count] = [0, 0, 0, 0];
  for (let start = marked.indexOf(bytes); start >= 0; start = marked.indexOf(bytes, read), count++) {
    const middle = marked.indexOf(bytes, start + markBytes);
    const end = marked.indexOf(bytes, middle + markBytes);
    written += marked.copy(after, written, read, start);
    written += marked.copy(after, written, middle + markBytes, end);
    from += start - read;
    const to = from + middle - start - markBytes;
    addRange(ranges, { from, to, length: end - middle - markBytes });
    [from, read] = [to, end + markBytes];
  }
  written += marked.copy(after, written, read);
  return { body: after.subarray(0, written), count, ranges };
}

function addRange(ranges: ReplacedRange[], range: ReplacedRange): void {
  const last = ranges.at(-1);
  if (last === undefined || ranges.length <= mostRanges) ranges.push(range);
  else
    ranges[mostRanges] = {
      from: last.from,
      to: range.to,
      length: last.length + range.from - last.to + range.length,
    };
}
