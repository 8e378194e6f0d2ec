/**
 * Explains why a text was not replaced: the place where it was most likely meant to be, and the difference.
 */
import type { Steps } from "../scheduling/time-slice.ts";
import { type Difference, differenceBetween } from "./differences.ts";
import { withoutLineNumbers } from "./line-numbers.ts";
import { LineNumbers, linesAround } from "./line-window.ts";
import { countLines } from "./lines.ts";
import { findNearMatches } from "./near-matches.ts";
import type { Region } from "./splices.ts";
import type { Matches } from "./str-replace.ts";
import { cutToBytes } from "./text.ts";

/** Some lines of a file that a text may have been meant for. */
export interface Candidate {
  readonly from_line: number;
  /** The number of the last line, inclusive. */
  readonly to_line: number;
  /** The similarity from 0 to 1 (Sørensen–Dice coefficient). */
  readonly similarity: number;
  /** The unchanged text of the lines. */
  readonly text: string;
  /** Whether `text` is only the start of them. */
  readonly truncated?: true;
}

/** The reason why a text was not replaced. */
export interface Miss {
  /** At most three candidates, the likeliest first. */
  readonly candidates: readonly Candidate[];
  /** The difference between the first of them and the text. */
  readonly differs: Difference;
}

/** A line of the file, and the line sent in its place. */
export interface LinePair {
  readonly number: number;
  readonly line: string;
  readonly sent: string;
}

export interface ExplainedMiss extends Miss {
  /** The first line that differs. */
  readonly pair: LinePair | undefined;
  /** Whether the sent text contains line numbers, which the file lacks. */
  readonly isNumbered: boolean;
}

/** Maximum places that are reported. */
const mostCandidates = 3;

/** Maximum bytes of the lines of the first candidate, and of each other. */
const mostTextBytes = [2048, 1024, 1024];

/** Explains a text that is not in the file. */
export function* explainMissing(body: Buffer, sent: string): Steps<ExplainedMiss> {
  const bare = withoutLineNumbers(sent);
  const near = yield* findNearMatches(body, Buffer.from(bare ?? sent));
  const candidates = candidatesOf(body, near);
  const [best] = near;
  const isNumbered = bare !== undefined && best !== undefined;
  if (best === undefined || isNumbered) return { candidates, differs: "none", pair: undefined, isNumbered };
  const text = textOf(body, linesOf(body, best));
  const number = candidates[0]!.from_line;
  return {
    candidates,
    differs: differenceBetween(text, sent),
    pair: firstUnequal(text, { sent, number }),
    isNumbered,
  };
}

/** Minimum characters of a text that hardly occurs by chance. */
const fewestTelling = 8;

/**
 * Returns the places of the replacement text if it stands where the missing one was most likely meant to be.
 * If nothing resembles the missing text, any place counts, unless the replacement is short. Returns
 * `undefined` otherwise.
 */
export function placesOfDone(
  body: Buffer,
  done: Matches,
  { candidates, differs }: Miss,
  sent: string,
): readonly Candidate[] | undefined {
  // A part of the missing text proves nothing, nor does any text if the difference is known.
  if (done.count === 0 || differs !== "none" || sent.includes(done.replacement.toString())) return undefined;
  const places = placesOf(body, done);
  const isNear = ({ from_line: from, to_line: to }: Candidate) =>
    candidates.some((candidate) => from <= candidate.to_line && to >= candidate.from_line);
  const near = places.filter(isNear);
  if (near.length > 0) return near;
  const isLong = done.needle.toString().trim().length >= fewestTelling;
  return candidates.length === 0 && isLong ? places : undefined;
}

/** Returns the first places of a text that occurs more than once. */
export function placesOf(body: Buffer, { needle, starts, overlapping }: Matches): readonly Candidate[] {
  const places = starts.length === 1 && overlapping !== undefined ? [...starts, overlapping] : starts;
  return candidatesAt(
    body,
    places.slice(0, mostCandidates).map((from) => ({ from, to: from + needle.length })),
  );
}

/** Returns the first of some matches. */
export const candidatesAt = (body: Buffer, matches: readonly Region[]): readonly Candidate[] =>
  candidatesOf(
    body,
    matches.slice(0, mostCandidates).map(({ from, to }) => ({ from, to, similarity: 1 })),
  );

/** Compares line by line. The sent text may begin and end within a line. */
function firstUnequal(
  text: string,
  { sent, number }: { sent: string; number: number },
): LinePair | undefined {
  const [lines, others] = [text.split("\n"), sent.split("\n")];
  const at = others.findIndex((other, index) => {
    const line = lines[index] ?? "";
    if (index > 0) return index < others.length - 1 ? line !== other : !line.startsWith(other);
    return others.length === 1 ? !line.includes(other) : !line.endsWith(other);
  });
  const line = lines[at];
  return line === undefined ? undefined : { number: number + at, line, sent: others[at]! };
}

function candidatesOf(body: Buffer, regions: readonly (Region & { similarity: number })[]): Candidate[] {
  const numbers = new LineNumbers(body);
  return regions.map((region, index) => {
    const lines = linesOf(body, region);
    const first = numbers.of(lines.from);
    const isWhole = lines.to - lines.from <= mostTextBytes[index]!;
    // If the lines are too long, only the part that resembles the text is shown.
    const shown = isWhole ? lines : { from: region.from, to: lines.to };
    return {
      from_line: first,
      to_line: first + Math.max(countLines(body.subarray(lines.from, lines.to)), 1) - 1,
      similarity: region.similarity,
      text: cutToBytes(body.subarray(shown.from, shown.to), mostTextBytes[index]!),
      ...(!isWhole && { truncated: true as const }),
    };
  });
}

const linesOf = (body: Buffer, region: Region): Region => linesAround(body, region, 0);

/** Maximum bytes of compared texts. */
const mostComparedBytes = 128 * 1024;

const textOf = (body: Buffer, { from, to }: Region): string =>
  body.toString("utf8", from, Math.min(to, from + mostComparedBytes));
