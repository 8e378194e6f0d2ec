/** Explains why a text was not replaced: where it was most likely meant to be, and what keeps it from being there. */
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
  /** Inclusive. */
  readonly to_line: number;
  /** How alike they are, from 0 to 1 (Sørensen–Dice coefficient). */
  readonly similarity: number;
  /** The lines, as they are. */
  readonly text: string;
  /** Whether `text` is only the start of them. */
  readonly truncated?: true;
}

/** Why a text was not replaced. */
export interface Miss {
  /** At most three, the likeliest first. */
  readonly candidates: readonly Candidate[];
  /** What keeps the first of them from being the text. */
  readonly differs: Difference;
}

/** A line of the file, and what was sent in its place. */
export interface LinePair {
  readonly number: number;
  readonly line: string;
  readonly sent: string;
}

export interface ExplainedMiss extends Miss {
  /** The first line that differs. */
  readonly pair: LinePair | undefined;
  /** Whether what was sent has line numbers in it, which the file has not. */
  readonly isNumbered: boolean;
}

/** Places that are reported. */
const mostCandidates = 3;

/** Bytes of the lines of the first candidate and of each other. */
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

/** Fewest characters of a text that stands nowhere by chance. */
const fewestTelling = 8;

/**
 * The places of the text that was to replace a missing one, if it stands where that was most likely meant to be. If
 * nothing is like the missing one, any place counts of a text that is not short. Undefined otherwise.
 */
export function placesOfDone(
  body: Buffer,
  done: Matches,
  { candidates, differs }: Miss,
  sent: string,
): readonly Candidate[] | undefined {
  // A part of the missing text says nothing, nor does any text where the difference is known.
  if (done.count === 0 || differs !== "none" || sent.includes(done.replacement.toString())) return undefined;
  const places = placesOf(body, done);
  const isNear = ({ from_line: from, to_line: to }: Candidate) =>
    candidates.some((candidate) => from <= candidate.to_line && to >= candidate.from_line);
  const near = places.filter(isNear);
  if (near.length > 0) return near;
  const isLong = done.needle.toString().trim().length >= fewestTelling;
  return candidates.length === 0 && isLong ? places : undefined;
}

/** The first places of a text that is there more than once. */
export function placesOf(body: Buffer, { needle, starts, overlapping }: Matches): readonly Candidate[] {
  const places = starts.length === 1 && overlapping !== undefined ? [...starts, overlapping] : starts;
  return candidatesAt(
    body,
    places.slice(0, mostCandidates).map((from) => ({ from, to: from + needle.length })),
  );
}

/** The first of some matches. */
export const candidatesAt = (body: Buffer, matches: readonly Region[]): readonly Candidate[] =>
  candidatesOf(
    body,
    matches.slice(0, mostCandidates).map(({ from, to }) => ({ from, to, similarity: 1 })),
  );

/** Compares line by line. What was sent may begin within a line, and end within one. */
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
    // Of lines that are too long the part is shown that is like the text.
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

/** A text that is compared; longer ones are not. */
const mostComparedBytes = 128 * 1024;

const textOf = (body: Buffer, { from, to }: Region): string =>
  body.toString("utf8", from, Math.min(to, from + mostComparedBytes));
