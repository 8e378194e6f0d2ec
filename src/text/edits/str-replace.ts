/**
 * Replaces an exact text: bytes in, bytes out, whatever the bytes are. Only line endings are not taken
 * literally, and only if the file leaves no doubt about them.
 */

import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { LineEndKeeper, replaceEnds, withoutReturns } from "../encodings/line-ends.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import { bomLength, surveyLines } from "./lines.ts";
import { joinSplices, type Splice } from "./splices.ts";
import { encodeUtf8 } from "./text.ts";

/** The text to find and its replacement. They differ, and the first is not empty. */
export interface StrReplace {
  readonly old_str: string;
  readonly new_str: string;
  readonly replace_all: boolean;
}

/** The result of a search for a text. */
export interface Matches {
  /** The text that was searched for, with the line endings of the file. */
  readonly needle: Buffer;
  /** The text that replaces it. */
  readonly replacement: Buffer;
  /** The starts of the first matches, in bytes. Each begins after the end of the previous one. */
  readonly starts: readonly number[];
  /** The number of such matches. */
  readonly count: number;
  /** A further place that overlaps the first, which makes `starts` ambiguous. */
  readonly overlapping: number | undefined;
}

/** Maximum matches that are kept, since a large file may have hundreds of millions. */
const maxStarts = 10_000;

/** Matches that are found or replaced in one step, and those replaced with line ends that are kept. */
const [matchesPerStep, keptMatchesPerStep] = [16_384, 512];

/**
 * Finds `old_str` as bytes of UTF-8. If every line of the file ends in CRLF and `old_str` has a bare LF, or
 * none does and `old_str` has a CRLF, its breaks stand for those of the file, and so do those of `new_str`.
 * An `old_str` without a break does not reveal its endings, so bare LFs of `new_str` become CRLF if the file
 * has nothing else (coder §17). A byte order mark is not part of the text; an `old_str` that begins with one
 * matches only at the start.
 */
export function* findMatches(body: Buffer, op: StrReplace): Steps<Matches> {
  const mark = bomLength(body);
  const isAtStart = mark > 0 && op.old_str.startsWith("\ufeff") && op.old_str.length > 1;
  const sent = isAtStart ? withoutMark(op) : op;
  const { old_str, new_str } = yield* withEndingsOf(body, sent);
  const [needle, replacement] = [yield* encodeUtf8(old_str), yield* encodeUtf8(new_str)];
  if (isAtStart) {
    const isThere = body.subarray(mark, mark + needle.length).equals(needle);
    const starts = isThere ? [mark] : [];
    return { needle, replacement, starts, count: starts.length, overlapping: undefined };
  }
  const searcher = new ByteSearcher(needle);
  const starts: number[] = [];
  let count = 0;
  for (
    let at = yield* searcher.find(body, mark);
    at >= 0;
    at = yield* searcher.find(body, at + needle.length)
  ) {
    if (starts.length < maxStarts) starts.push(at);
    if (++count % matchesPerStep === 0) yield;
  }
  const overlapping = yield* findOverlapping(body, searcher, { needle, starts });
  return { needle, replacement, starts, count, overlapping };
}

const withoutMark = ({ old_str, new_str }: StrReplace) => ({
  old_str: old_str.slice(1),
  new_str: new_str.replace(/^\ufeff/, ""),
});

function* withEndingsOf(body: Buffer, { old_str, new_str }: Texts): Steps<Texts> {
  // Without a break there is nothing to correct.
  if (!old_str.includes("\n") && !new_str.includes("\n")) return { old_str, new_str };
  const { onlyEnding } = surveyLines(body, []);
  const isTaken =
    onlyEnding === "\r\n" ? !(yield* hasOnlyCrlf(old_str)) : onlyEnding === "\n" && old_str.includes("\r\n");
  if (!isTaken || onlyEnding === undefined) return { old_str, new_str };
  return {
    old_str: yield* replaceEnds(old_str, /\r?\n/g, onlyEnding),
    new_str: yield* replaceEnds(new_str, /\r?\n/g, onlyEnding),
  };
}

/** Returns whether it has breaks, all of them CRLF, which are then taken literally. */
function* hasOnlyCrlf(text: string): Steps<boolean> {
  if (!text.includes("\n")) return false;
  for (const piece of piecesOf(text)) {
    if (/(?<!\r)\n/.test(piece)) return false;
    yield;
  }
  return true;
}

type Texts = Pick<StrReplace, "old_str" | "new_str">;

/** The text of a file without "\r" before "\n", and an op on it. */
export interface UnendedText {
  readonly body: Buffer;
  readonly op: StrReplace;
}

/**
 * Returns what to search instead of a file whose line ends are kept: its text without "\r" before "\n", if
 * the op has line breaks. Their kind does not count then, neither in the file nor in the op.
 */
export function* withoutLineEnds(body: Buffer, op: StrReplace): Steps<UnendedText> {
  if (!op.old_str.includes("\n") && !op.new_str.includes("\n")) return { body, op };
  const old_str = yield* replaceEnds(op.old_str, "\r\n", "\n");
  const new_str = yield* replaceEnds(op.new_str, "\r\n", "\n");
  return { body: yield* withoutReturns(body), op: { ...op, old_str, new_str } };
}

/** Returns a second place that begins inside the first one. */
function* findOverlapping(
  body: Buffer,
  searcher: ByteSearcher,
  { needle, starts }: Pick<Matches, "needle" | "starts">,
): Steps<number | undefined> {
  const first = starts[0];
  if (first === undefined) return undefined;
  const next = yield* searcher.find(body.subarray(0, first + 2 * needle.length - 1), first + 1);
  return next < 0 ? undefined : next;
}

/** Returns the size of `body` once all matches are replaced. */
export const bytesAfter = (body: Buffer, { needle, replacement, count }: Matches): number =>
  body.length + count * (replacement.length - needle.length);

/** The text after the replacements, and their places. */
export interface Spliced {
  readonly body: Buffer;
  /** One splice per match. The last one covers the rest if there are too many. */
  readonly splices: readonly Splice[];
}

/** Replaces every match in `body`. */
export function* replaceMatches(body: Buffer, matches: Matches): Steps<Spliced> {
  const { needle, replacement, starts, count } = matches;
  const searcher = new ByteSearcher(needle);
  const after = Buffer.allocUnsafe(bytesAfter(body, matches));
  const splices: Splice[] = [];
  let [from, at] = [0, 0];
  for (let index = 0; index < count; index++) {
    const start = starts[index] ?? (yield* searcher.find(body, from));
    at += body.copy(after, at, from, start);
    at += replacement.copy(after, at);
    from = start + needle.length;
    addSplice(splices, { from: start, to: from, length: replacement.length });
    if (index % matchesPerStep === matchesPerStep - 1) yield;
  }
  body.copy(after, at, from);
  return { body: after, splices };
}

/**
 * Like `replaceMatches` in `text`, which is `body` without "\r" before "\n", but keeps the line ends of
 * `body`.
 */
export function* replaceKeepingLineEnds(body: Buffer, text: Buffer, matches: Matches): Steps<Spliced> {
  const { needle, replacement, starts, count } = matches;
  const searcher = new ByteSearcher(needle);
  const keeper = new LineEndKeeper(body);
  const splices: Splice[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    const start = starts[index] ?? (yield* searcher.find(text, at));
    yield* keeper.keep(start - at);
    addSplice(splices, yield* keeper.replace(needle.length, replacement));
    at = start + needle.length;
    if (index % keptMatchesPerStep === keptMatchesPerStep - 1) yield;
  }
  return { body: keeper.finish(), splices };
}

function addSplice(splices: Splice[], splice: Splice): void {
  const last = splices.at(-1);
  if (last === undefined || splices.length <= maxStarts) splices.push(splice);
  else splices[maxStarts] = joinSplices(last, splice);
}
