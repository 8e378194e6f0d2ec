/**
 * The lines of a file that is kept as bytes. A line ends in "\n" or "\r\n"; a lone "\r" is a byte of its line. The
 * last line may lack its ending, and an empty file has no lines. A UTF-8 byte order mark at the start stands before
 * line 1 and belongs to none. Whether the bytes are UTF-8 does not matter.
 */

export type LineEnding = "\n" | "\r\n";

/** What one pass over a file tells. */
export interface LineSurvey {
  readonly lines: number;
  /** The ending most lines have; "\n" when there are as many of each, or none. */
  readonly ending: LineEnding;
  /** Where the lines asked for start, in bytes; the line after the last one starts at the end of the file. */
  readonly starts: ReadonlyMap<number, number>;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The length in bytes of the UTF-8 byte order mark the file starts with: 3 or 0. */
export function bomLength(body: Buffer): 0 | 3 {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
}

/** How many lines the file has. */
export function countLines(body: Buffer): number {
  return surveyLines(body, []).lines;
}

/** Surveys the file in one pass. `wanted` are line numbers from 1, ascending; those past the end get no start. */
export function surveyLines(body: Buffer, wanted: readonly number[]): LineSurvey {
  const starts = new Map<number, number>();
  let asked = 0;
  let line = 0;
  const begin = (start: number) => {
    line += 1;
    for (; wanted[asked] === line; asked += 1) starts.set(line, start);
  };
  let start: number = bomLength(body);
  let crlf = 0;
  begin(start);
  for (let end = nextLineFeed(body, start); end >= 0; end = nextLineFeed(body, start)) {
    if (body[end - 1] === carriageReturn) crlf += 1;
    start = end + 1;
    begin(start);
  }
  const endings = line - 1;
  if (start < body.length) begin(body.length);
  return { lines: line - 1, ending: crlf * 2 > endings ? "\r\n" : "\n", starts };
}

/** The native search is fastest over a long line, but calling it costs as much as looking at a few bytes here. */
function nextLineFeed(body: Buffer, from: number): number {
  const near = Math.min(from + 8, body.length);
  for (let i = from; i < near; i += 1) if (body[i] === lineFeed) return i;
  return body.indexOf(lineFeed, near);
}

/** The ending of the line that ends at byte `end`; "" for a last line without one. */
export function endingBefore(body: Buffer, end: number): LineEnding | "" {
  if (body[end - 1] !== lineFeed) return "";
  return body[end - 2] === carriageReturn ? "\r\n" : "\n";
}
