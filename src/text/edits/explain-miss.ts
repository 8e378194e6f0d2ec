/**
 * Explains why a text was not replaced: the place where it was most likely meant to be, and the difference.
 */

import { isUtf8 } from "node:buffer";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import type { ComparedPlace } from "./alignment.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import { type Difference, Differences } from "./differences.ts";
import { withoutFences } from "./fences.ts";
import { findDifferences } from "./find-differences.ts";
import { comparedText, firstUnequal, type LinePair } from "./first-unequal.ts";
import { withoutLineNumbers } from "./line-numbers.ts";
import { LineNumbers, linesAround } from "./line-window.ts";
import { bomLength, countLines, surveyLines } from "./lines.ts";
import { findNearMatches } from "./similar-lines.ts";
import type { Region } from "./splices.ts";
import { findMatches, type Matches } from "./str-replace.ts";
import { cutToBytes, encodeUtf8 } from "./text.ts";

/** Some lines of a file that a text may have been meant for. */
export interface Candidate {
  readonly from_line: number;
  /** The number of the last line, inclusive. */
  readonly to_line: number;
  /** The similarity from 0 to 1 (Sørensen–Dice coefficient). */
  readonly similarity: number;
  /** The unchanged text of the lines. */
  readonly text: string;
  /** Whether `text` is only a part of them. */
  readonly truncated?: true;
  /** If a part of a long line is shown, the byte of the line, from 1, where the place is. */
  readonly column?: number;
  /** The lines around them, which distinguish the places of a text that occurs more than once. */
  readonly line_before?: string;
  readonly line_after?: string;
}

/** The reason why a text was not replaced. */
export interface Miss {
  /** At most three candidates, the likeliest first. */
  readonly candidates: readonly Candidate[];
  /** The difference between the first of them and the text. */
  readonly differs: Difference;
}

export interface ExplainedMiss extends Miss {
  /** The first line that differs. */
  readonly pair: LinePair | undefined;
  /** The marks around the sent text that the file lacks. */
  readonly wrapping: "numbers" | "fences" | undefined;
  /** Whether the text is in the file without that. */
  readonly isWrappedOnly: boolean;
  /** All kinds of difference between the first candidate and the text. */
  readonly differences: Differences;
  /** Whether characters were sent for bytes that are not UTF-8. */
  readonly isUndecoded: boolean;
}

/** Maximum places that are reported. */
const maxCandidates = 3;

/** Maximum bytes of the lines of the first candidate, and of each other. */
const maxTextBytes = [2048, 1024, 1024];

/** Explains a text that is not in the file. */
export function* explainMissing(body: Buffer, sent: string): Steps<ExplainedMiss> {
  const numbered = yield* withoutLineNumbers(sent, (text) => contains(body, text));
  const bare = numbered ?? withoutFences(sent);
  yield;
  const wanted = bare ?? sent;
  const near = yield* findNearMatches(body, yield* encodeUtf8(withoutLastBlankLines(wanted)));
  yield;
  const candidates = yield* locate(body, near);
  const [best] = near;
  const isWrapped = bare !== undefined && best !== undefined;
  const wrapping = !isWrapped ? undefined : numbered === undefined ? "fences" : "numbers";
  const isWrappedOnly = isWrapped && (yield* isThereBare(body, bare));
  const isUndecoded = /[^\0-\x7f]/.test(sent) && !isUtf8(body);
  const facts = { candidates, wrapping, isWrappedOnly, isUndecoded } as const;
  if (best === undefined || isWrappedOnly)
    return { ...facts, differs: "none", pair: undefined, differences: new Differences() };
  return {
    ...facts,
    ...(yield* compareWith(body, best, { sent: wanted, number: candidates[0]!.from_line })),
  };
}

/** Returns a text without the blank lines at its end, since files often have fewer or more of them. */
function withoutLastBlankLines(text: string): string {
  const end = text.indexOf("\n", text.trimEnd().length);
  return end <= 0 ? text : text.slice(0, end + 1);
}

/** Returns whether the bytes include a text that is not empty. */
function* contains(body: Buffer, text: string): Steps<boolean> {
  return (yield* new ByteSearcher(yield* encodeUtf8(text)).find(body, 0)) >= 0;
}

/** Returns whether a text without its marks would be found, with the line ends of a uniform file. */
function* isThereBare(body: Buffer, bare: string): Steps<boolean> {
  return (yield* findMatches(body, { old_str: bare, new_str: "", replace_all: false })).count > 0;
}

/** Compares a text with the lines that it was most likely meant for. */
function* compareWith(
  body: Buffer,
  best: Region,
  { sent, number }: { readonly sent: string; readonly number: number },
): Steps<Pick<ExplainedMiss, "differs" | "pair" | "differences">> {
  const part = comparedPart(body, best, sent);
  // Line ends that are all the same match in any case.
  const isUniform = surveyLines(body, []).onlyEnding !== undefined;
  const place = placeOf(body, part, isUniform);
  yield;
  const differences = yield* findDifferences(place, sent);
  yield;
  const ignoresEnds = isUniform || !endKinds.some((kind) => differences.has(kind));
  const pair = yield* firstUnequal({ body, part, number, sent, ignoresEnds });
  return { differs: differences.name, differences, pair };
}

const endKinds = ["lineEnds", "trailing", "lastBreaks"] as const;

/** Maximum bytes of blanks beside a part that are compared. */
const maxBlankBytes = 4096;

/** Returns a part with the blanks around it, if it is of whole lines. */
function placeOf(body: Buffer, part: Region, ignoresEnds: boolean): ComparedPlace {
  let { from, to } = part;
  const start = bomLength(body);
  const lines = linesOf(body, part);
  const [lowest, highest] = [
    Math.max(start, from - maxBlankBytes),
    Math.min(body.length, to + maxBlankBytes),
  ];
  if (from === lines.from) while (from > lowest && isBlank(body[from - 1])) from--;
  if (to === lines.to) while (to < highest && isBlank(body[to])) to++;
  const text = comparedText(body, { from, to });
  return {
    text,
    startsLine: part.from === lines.from,
    startsFile: from === start,
    endsFile: to === body.length,
    isMarked: start > 0 && from === start,
    ignoresEnds,
  };
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);

/**
 * Returns the lines of a place. If they are long, returns only the place, or the place with some bytes around
 * it.
 */
function comparedPart(body: Buffer, place: Region, sent: string): Region {
  const lines = linesOf(body, place);
  if (lines.to - lines.from <= maxTextBytes[0]!) return lines;
  return partAround(body, place, lines, sent.includes("\n") ? maxTextBytes[0]! : 0);
}

/** Returns a place with up to `around` bytes on both sides, of whole characters in the lines. */
function partAround(body: Buffer, place: Region, lines: Region, around: number): Region {
  let [from, to] = [Math.max(lines.from, place.from - around), Math.min(lines.to, place.to + around)];
  while (from > lines.from && isContinuation(body[from])) from--;
  while (to < lines.to && isContinuation(body[to])) to++;
  return { from, to };
}

/** Returns whether a byte continues a character of UTF-8. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Minimum characters of a text that hardly occurs by chance. */
const minTelling = 8;

/**
 * Returns the places of the replacement text if it stands where the missing one was most likely meant to be.
 * If nothing resembles the missing text, any place counts, unless the replacement is short. Returns
 * `undefined` otherwise.
 */
export function* placesOfDone(
  body: Buffer,
  done: Matches,
  { candidates, differs }: Miss,
  sent: string,
): Steps<readonly Candidate[] | undefined> {
  if (done.count === 0) return undefined;
  // A part of the missing text proves nothing.
  if ((yield* new ByteSearcher(done.replacement).find(yield* encodeUtf8(sent), 0)) >= 0) return undefined;
  const places = placesOf(body, done);
  // If the difference is known, the new text must be all of the lines that were meant.
  const [best] = candidates;
  const isLong = done.needle.toString().trim().length >= minTelling;
  if (differs !== "none")
    return isLong && best !== undefined
      ? nonEmpty(places.filter((place) => place.from_line <= best.from_line && place.to_line >= best.to_line))
      : undefined;
  const isNear = ({ from_line: from, to_line: to }: Candidate) =>
    candidates.some((candidate) => from <= candidate.to_line && to >= candidate.from_line);
  const near = places.filter(isNear);
  if (near.length > 0) return near;
  return candidates.length === 0 && isLong ? places : undefined;
}

const nonEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length === 0 ? undefined : items;

/** Returns the first places of a text that occurs more than once. */
export const placesOf = (body: Buffer, matches: Matches): readonly Candidate[] =>
  candidatesAt(body, regionsOf(matches));

function regionsOf({ needle, starts, overlapping }: Matches): Region[] {
  const places = starts.length === 1 && overlapping !== undefined ? [...starts, overlapping] : starts;
  return places.slice(0, maxCandidates).map((from) => ({ from, to: from + needle.length }));
}

/** Maximum bytes of a line around a place. */
const maxLineAroundBytes = 256;

/** Like `placesOf`, but with the lines around each place that is shown whole. */
export function placesInContext(body: Buffer, matches: Matches): readonly Candidate[] {
  const regions = regionsOf(matches);
  return placesOf(body, matches).map((place, index) => {
    // A line that is not shown whole may be as long as the file, so it is not searched again.
    if (place.truncated) return place;
    const lines = linesOf(body, regions[index]!);
    const around = linesAround(body, regions[index]!, 1);
    const before = body.subarray(around.from, lines.from);
    const after = body.subarray(lines.to, around.to);
    const isShown = (line: Buffer) => line.length > 0 && line.length <= maxLineAroundBytes;
    return {
      ...place,
      ...(isShown(before) && { line_before: before.toString() }),
      ...(isShown(after) && { line_after: after.toString() }),
    };
  });
}

/** Returns the first of some matches. */
export const candidatesAt = (body: Buffer, matches: readonly Region[]): readonly Candidate[] =>
  candidatesOf(
    body,
    matches.slice(0, maxCandidates).map(({ from, to }) => ({ from, to, similarity: 1 })),
  );

type SimilarRegion = Region & { readonly similarity: number };

const candidatesOf = (body: Buffer, regions: readonly SimilarRegion[]): Candidate[] =>
  runAtOnce(locate(body, regions));

/** Bytes of a long line that are shown on both sides of a place. */
const bytesAround = 80;

function* locate(body: Buffer, regions: readonly SimilarRegion[]): Steps<Candidate[]> {
  const numbers = new LineNumbers(body);
  const candidates: Candidate[] = [];
  for (const [index, region] of regions.entries()) {
    const lines = linesOf(body, region);
    const first = numbers.of(lines.from);
    const isWhole = lines.to - lines.from <= maxTextBytes[index]!;
    // If the lines are too long, only the place and what is around it are shown.
    const shown = isWhole ? lines : partAround(body, region, lines, bytesAround);
    candidates.push({
      from_line: first,
      to_line: first + Math.max(countLines(body.subarray(lines.from, lines.to)), 1) - 1,
      similarity: region.similarity,
      text: cutToBytes(body.subarray(shown.from, shown.to), maxTextBytes[index]!),
      ...(!isWhole && { truncated: true as const, column: region.from - lines.from + 1 }),
    });
    yield;
  }
  return candidates;
}

const linesOf = (body: Buffer, region: Region): Region => linesAround(body, region, 0);
