/** Pairs the lines of a text with the lines of a file that it was most likely meant for. */
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** Maximum pairs of lines that are compared. */
const maxPairs = 40_000;

/** Pairs, and lines, that are compared in one step. */
const [pairsPerStep, looksPerStep] = [512, 128];

/** Returns the number of sent lines that can be compared with some lines of a file. */
export const maxSentLines = (lines: readonly string[]): number =>
  Math.floor(maxPairs / (lines.length + 1)) - 1;

/** Minimum similarity of two lines that count as one line that was changed. */
const minLikeness = 0.5;

const equalScore = 1000;
const foldedScore = 900;
const maxLikeScore = 600;

/**
 * Returns for each line of `sent` the index of its line among `lines`, or -1. The pairs keep the order of
 * both and are as alike as possible: equal, equal but for blanks, or similar without regard to case. Without
 * room to compare all lines, each is paired with the line at its own index.
 */
export function* pairLines(lines: readonly string[], sent: readonly string[]): Steps<number[]> {
  const width = lines.length + 1;
  if (sent.length > maxSentLines(lines)) return sent.map((_, at) => (at < lines.length ? at : -1));
  const looks = yield* looksOf(lines);
  const sentLooks = yield* looksOf(sent);
  const scores = new Float64Array(width * (sent.length + 1));
  const scoreOf = (line: number, at: number): number => {
    if (lines[line] === sent[at]) return equalScore;
    const likeness = likenessOf(looks[line]!, sentLooks[at]!);
    return likeness === 1 ? foldedScore : likeness >= minLikeness ? likeness * maxLikeScore : 0;
  };
  const pairScores = new Float64Array(lines.length * sent.length);
  for (let at = sent.length - 1; at >= 0; at--)
    for (let line = lines.length - 1; line >= 0; line--) {
      if ((at * width + line) % pairsPerStep === 0) yield;
      const pair = scoreOf(line, at);
      pairScores[at * lines.length + line] = pair;
      const both = pair === 0 ? 0 : pair + scores[(at + 1) * width + line + 1]!;
      scores[at * width + line] = Math.max(
        both,
        scores[(at + 1) * width + line]!,
        scores[at * width + line + 1]!,
      );
    }
  const partners: number[] = [];
  let line = 0;
  for (let at = 0; at < sent.length; at++) {
    while (line < lines.length && scores[at * width + line] === scores[at * width + line + 1]) line++;
    const isPaired =
      line < lines.length &&
      pairScores[at * lines.length + line]! > 0 &&
      scores[at * width + line] ===
        pairScores[at * lines.length + line]! + scores[(at + 1) * width + line + 1]!;
    partners.push(isPaired ? line++ : -1);
  }
  return partners;
}

/** A line without its blanks, and its pairs of characters in lower case. */
interface Look {
  readonly text: string;
  readonly bigrams: ReadonlySet<string>;
}

/** Maximum UTF-16 units of a line that are compared, and of one that may be equal but for blanks. */
const [maxUnits, maxLineUnits] = [200, 4096];

function* looksOf(lines: readonly string[]): Steps<Look[]> {
  const looks: Look[] = [];
  for (const line of lines) if (looks.push(lookOf(line)) % looksPerStep === 0) yield;
  return looks;
}

function lookOf(line: string): Look {
  const text = line.slice(0, maxLineUnits).replace(/\s+/g, "");
  const units = text.slice(0, maxUnits).toLowerCase();
  return {
    text,
    bigrams: new Set(
      Array.from({ length: Math.max(0, units.length - 1) }, (_, at) => units.slice(at, at + 2)),
    ),
  };
}

/** Maximum likeness of lines that differ. */
const maxUnequal = 0.99;

/** Maximum units of a line with too few pairs of characters to be compared by them. */
const maxShortUnits = 3;

/**
 * Returns the share of common pairs of characters (Sørensen–Dice coefficient), 1 if the lines are equal. A
 * short line resembles those that contain it.
 */
function likenessOf(a: Look, b: Look): number {
  if (a.text === b.text) return 1;
  const sizes = a.bigrams.size + b.bigrams.size;
  const isShort = Math.min(a.text.length, b.text.length) <= maxShortUnits;
  if (isShort && a.text !== "" && b.text !== "" && (a.text.includes(b.text) || b.text.includes(a.text)))
    return minLikeness;
  if (isShort && a.text.toLowerCase() === b.text.toLowerCase()) return maxUnequal;
  if (sizes === 0) return 0;
  let common = 0;
  for (const bigram of a.bigrams) if (b.bigrams.has(bigram)) common++;
  return Math.min((2 * common) / sizes, maxUnequal);
}
