/**
 * Exact replacement of a text: bytes in, bytes out, whatever the bytes are. The one thing that is not taken literally
 * is how lines end, and only where the file leaves no doubt about it.
 */
import type { Steps } from "../scheduling/time-slice.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import { bomLength, surveyLines } from "./lines.ts";
import { joinSplices, type Splice } from "./splices.ts";

/** The text to look for and the text to put there. They differ, and the first is not empty. */
export interface StrReplace {
  readonly old_str: string;
  readonly new_str: string;
  readonly replace_all: boolean;
}

/** Where a text was looked for, and found. */
export interface Matches {
  /** What was looked for, with the line endings of the file. */
  readonly needle: Buffer;
  /** What is to take its place. */
  readonly replacement: Buffer;
  /** Where it begins, in bytes: the first places of those that share no byte with the one before. */
  readonly starts: readonly number[];
  /** How many such places there are. */
  readonly count: number;
  /** Another place, which overlaps the first: then `starts` is a choice. */
  readonly overlapping: number | undefined;
}

/** Places that are kept: a large file may have hundreds of millions. */
const mostStarts = 10_000;

/** Matches between two steps. */
const matchesPerStep = 16_384;

/**
 * Finds `old_str` as bytes of UTF-8. Where every line of the file ends in CRLF and `old_str` has a bare LF, or none
 * does and `old_str` has a CRLF, its breaks stand for those of the file, and so do those of `new_str`. An `old_str`
 * without a break says nothing about endings, so bare LFs of `new_str` become CRLF where the file has nothing else
 * (coder §17). A byte order mark is not part of the text; an `old_str` that begins with it is looked for at the start.
 */
export function* findMatches(body: Buffer, op: StrReplace): Steps<Matches> {
  const mark = bomLength(body);
  const isAtStart = mark > 0 && op.old_str.startsWith("\ufeff") && op.old_str.length > 1;
  const sent = isAtStart ? withoutMark(op) : op;
  const { old_str, new_str } = withEndingsOf(body, sent);
  const [needle, replacement] = [Buffer.from(old_str), Buffer.from(new_str)];
  if (isAtStart) {
    const isThere = body.subarray(mark, mark + needle.length).equals(needle);
    const starts = isThere ? [mark] : [];
    return { needle, replacement, starts, count: starts.length, overlapping: undefined };
  }
  const searcher = new ByteSearcher(needle);
  const starts: number[] = [];
  let count = 0;
  for (let at = searcher.find(body, mark); at >= 0; at = searcher.find(body, at + needle.length)) {
    if (starts.length < mostStarts) starts.push(at);
    if (++count % matchesPerStep === 0) yield;
  }
  const overlapping = findOverlapping(body, searcher, { needle, starts });
  return { needle, replacement, starts, count, overlapping };
}

const withoutMark = ({ old_str, new_str }: StrReplace) => ({
  old_str: old_str.slice(1),
  new_str: new_str.replace(/^\ufeff/, ""),
});

function withEndingsOf(body: Buffer, { old_str, new_str }: Texts): Texts {
  // Without a break there is nothing to put right.
  if (!old_str.includes("\n") && !new_str.includes("\n")) return { old_str, new_str };
  const { onlyEnding } = surveyLines(body, []);
  const isTaken =
    onlyEnding === "\r\n" ? !hasOnlyCrlf(old_str) : onlyEnding === "\n" && old_str.includes("\r\n");
  if (!isTaken || onlyEnding === undefined) return { old_str, new_str };
  const take = (text: string) => text.replace(/\r?\n/g, onlyEnding);
  return { old_str: take(old_str), new_str: take(new_str) };
}

/** Whether it has breaks, and each is a CRLF: then it means what it says. */
const hasOnlyCrlf = (text: string): boolean => text.includes("\n") && !/(?<!\r)\n/.test(text);

type Texts = Pick<StrReplace, "old_str" | "new_str">;

/** A second place that begins inside the first one. */
function findOverlapping(
  body: Buffer,
  searcher: ByteSearcher,
  { needle, starts }: Pick<Matches, "needle" | "starts">,
): number | undefined {
  const first = starts[0];
  if (first === undefined) return undefined;
  const next = searcher.find(body.subarray(0, first + 2 * needle.length - 1), first + 1);
  return next < 0 ? undefined : next;
}

/** Bytes that `body` has once all matches are replaced. */
export const bytesAfter = (body: Buffer, { needle, replacement, count }: Matches): number =>
  body.length + count * (replacement.length - needle.length);

/** A text after replacements. */
export interface Spliced {
  readonly body: Buffer;
  /** One for each match; the last one covers all that are too many. */
  readonly splices: readonly Splice[];
}

/** `body` with every match replaced. */
export function* replaceMatches(body: Buffer, matches: Matches): Steps<Spliced> {
  const { needle, replacement, starts, count } = matches;
  const searcher = new ByteSearcher(needle);
  const after = Buffer.allocUnsafe(bytesAfter(body, matches));
  const splices: Splice[] = [];
  let [from, at] = [0, 0];
  for (let index = 0; index < count; index++) {
    const start = starts[index] ?? searcher.find(body, from);
    at += body.copy(after, at, from, start);
    at += replacement.copy(after, at);
    from = start + needle.length;
    addSplice(splices, { from: start, to: from, length: replacement.length });
    if (index % matchesPerStep === matchesPerStep - 1) yield;
  }
  body.copy(after, at, from);
  return { body: after, splices };
}

function addSplice(splices: Splice[], splice: Splice): void {
  const last = splices.at(-1);
  if (last === undefined || splices.length <= mostStarts) splices.push(splice);
  else splices[mostStarts] = joinSplices(last, splice);
}
