/** Names what else differs between two texts whose characters differ: line by line, and word by word. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import {
  blanksAfter,
  type ComparedTexts,
  compareEnd,
  compareGap,
  compareStart,
  compareUnits,
  type PlacedTexts,
} from "./alignment.ts";
import { compareBlanks } from "./blank-differences.ts";
import type { Differences } from "./differences.ts";
import { type FoldedCharacters, unescapeAll } from "./folded-characters.ts";
import { maxSentLines, pairLines } from "./line-pairs.ts";

/** The units from one to another, exclusive. */
interface Units {
  readonly from: number;
  readonly to: number;
}

/** Maximum pairs of words of two lines that are compared. */
const maxWordPairs = 90_000;

/** Compares each sent line with the line that it was most likely meant for. */
export function* compareChangedLines(texts: PlacedTexts, into: Differences): Steps<void> {
  const [lines, sentLines] = [linesOf(texts.found), linesOf(texts.sent)];
  yield;
  const [shown, sentShown] = [textsOf(texts.found, lines), textsOf(texts.sent, sentLines)];
  if (sentShown.length > maxSentLines(shown)) return;
  const partners = yield* pairLines(shown, sentShown);
  const matches = new Map<number, number>();
  for (const [at, partner] of partners.entries()) {
    if (partner < 0) continue;
    yield* matchUnits(texts, lines[partner]!, sentLines[at]!, matches);
    yield;
  }
  const paired = { partners, lines, sentLines, matches, matched: new Set(matches.values()) };
  for (const [at, partner] of partners.entries()) {
    if (partner >= 0) compareWithin(texts, [lines[partner]!, sentLines[at]!], paired, into);
    if (at > 0) compareBetween(texts, at, paired, into);
    yield;
  }
  compareSides(texts, matches, into);
}

/** Returns the units of each line that has some. */
function linesOf(read: FoldedCharacters): Units[] {
  const lines: Units[] = [];
  let from = 0;
  for (let at = 0; at < read.owners.length; at++) {
    const isLast = at === read.owners.length - 1;
    if (!isLast && !/[\r\n]/.test(gapAfter(read, at))) continue;
    lines.push({ from, to: at + 1 });
    from = at + 1;
  }
  return lines;
}

/** Returns the blanks after a unit, with escapes replaced if those of the text are. */
const gapAfter = (read: FoldedCharacters, unit: number): string =>
  read.unescapes ? unescapeAll(blanksAfter(read, unit)) : blanksAfter(read, unit);

const textsOf = ({ text, characters, owners }: FoldedCharacters, lines: readonly Units[]): string[] =>
  lines.map(({ from, to }) => text.slice(characters[owners[from]!]!.from, characters[owners[to - 1]!]!.to));

/** Adds the units of a line that are matched by units of the sent one, keyed by those. */
function* matchUnits(
  { found, sent }: ComparedTexts,
  line: Units,
  sentLine: Units,
  matches: Map<number, number>,
): Steps<void> {
  const addAll = (from: number, to: number, length: number) => {
    for (let at = 0; at < length; at++) matches.set(to + at, from + at);
  };
  const own = found.folded.slice(line.from, line.to);
  if (own === sent.folded.slice(sentLine.from, sentLine.to))
    return addAll(line.from, sentLine.from, own.length);
  const [words, sentWords] = [wordsOf(found, line), wordsOf(sent, sentLine)];
  if (words.length * sentWords.length > maxWordPairs) return;
  for (const [at, sentAt] of yield* commonWords(
    words.map((word) => wordText(found, word)),
    sentWords.map((word) => wordText(sent, word)),
  )) {
    const { from, to } = words[at]!;
    addAll(from, sentWords[sentAt]!.from, to - from);
  }
}

/** A word, folded and as it is. */
interface WordText {
  readonly folded: string;
  readonly exact: string;
}

const wordText = ({ text, characters, owners, folded }: FoldedCharacters, { from, to }: Units): WordText => ({
  folded: folded.slice(from, to),
  exact: text.slice(characters[owners[from]!]!.from, characters[owners[to - 1]!]!.to),
});

const wordUnit = /[\p{L}\p{N}\p{M}_]/u;

/** Returns the words of a line. Other characters are words by themselves, each with those equal to it. */
function wordsOf(read: FoldedCharacters, line: Units): Units[] {
  const words: Units[] = [];
  for (let from = line.from; from < line.to; ) {
    let to = from + 1;
    const isWord = (unit: number) => wordUnit.test(read.folded[unit]!);
    const isSame = (unit: number) => (isWord(from) ? isWord(unit) : read.folded[unit] === read.folded[from]);
    while (to < line.to && isSame(to) && blanksAfter(read, to - 1) === "") to++;
    words.push({ from, to });
    from = to;
  }
  return words;
}

/** Scores of two words that are equal, and of two that are equal when they are folded. */
const [exactScore, foldedScore] = [10, 9];

/** Returns the indexes of the words in the longest common sequence, those of equal words first. */
function* commonWords(
  words: readonly WordText[],
  sent: readonly WordText[],
): Steps<(readonly [number, number])[]> {
  const width = words.length + 1;
  const scores = new Uint32Array(width * (sent.length + 1));
  const scoreOf = (at: number, sentAt: number): number => {
    const [own, other] = [words[at]!, sent[sentAt]!];
    if (own.exact === other.exact) return exactScore;
    return own.folded === other.folded ? foldedScore : 0;
  };
  for (let sentAt = sent.length - 1; sentAt >= 0; sentAt--) {
    for (let at = words.length - 1; at >= 0; at--) {
      const score = scoreOf(at, sentAt);
      const both = score === 0 ? 0 : score + scores[(sentAt + 1) * width + at + 1]!;
      const cell = sentAt * width + at;
      scores[cell] = Math.max(both, scores[cell + width]!, scores[cell + 1]!);
    }
    yield;
  }
  const common: (readonly [number, number])[] = [];
  for (let [at, sentAt] = [0, 0]; at < words.length && sentAt < sent.length; ) {
    const cell = sentAt * width + at;
    if (scores[cell] === scores[cell + 1]) at++;
    else if (scores[cell] === scores[cell + width]) sentAt++;
    else common.push([at++, sentAt++]);
  }
  return common;
}

interface PairedLines {
  /** For each sent line, the index of its line in the file, or -1. */
  readonly partners: readonly number[];
  readonly lines: readonly Units[];
  readonly sentLines: readonly Units[];
  /** The units of the file, keyed by those sent in their place. */
  readonly matches: ReadonlyMap<number, number>;
  /** The units of the file that are matched, to find those that are not. */
  readonly matched: ReadonlySet<number>;
}

/**
 * Compares the matched characters of a line, and the blanks between those that follow each other in both
 * lines, and on both sides of words that replace others.
 */
function compareWithin(
  texts: ComparedTexts,
  [line, { from, to }]: readonly [Units, Units],
  { matches, matched }: PairedLines,
  into: Differences,
): void {
  const isReplaced = (unit: number) => unit >= line.from && unit < line.to && !matched.has(unit);
  for (let unit = from; unit < to; unit++) {
    const own = matches.get(unit);
    if (own !== undefined) compareUnits(texts, [own, unit], into);
    if (unit + 1 === to) return;
    const next = matches.get(unit + 1);
    if (own !== undefined && (next === undefined ? isReplaced(own + 1) : next === own + 1))
      compareGap(texts, [own, unit], into);
    if (own === undefined && next !== undefined && isReplaced(next - 1))
      compareGap(texts, [next - 1, unit], into);
  }
}

const inside = { side: "inside", startsLine: false, endsLine: false, isOuter: false } as const;

/** Compares the blanks at the starts of the lines after two units. */
function compareIndents(
  { found, sent }: ComparedTexts,
  [unit, sentUnit]: readonly [number, number],
  into: Differences,
): void {
  const indent = (blanks: string) => ({ text: blanks.slice(lastBreak(blanks) + 1), unescapes: false });
  const [own, other] = [indent(gapAfter(found, unit)), indent(gapAfter(sent, sentUnit))];
  compareBlanks(own, other, { ...inside, startsLine: true }, into);
}

const lastBreak = (blanks: string): number => Math.max(blanks.lastIndexOf("\n"), blanks.lastIndexOf("\r"));

/** Compares the blanks and the line ends after two units. */
function compareTrailing(
  { found, sent }: ComparedTexts,
  [unit, sentUnit]: readonly [number, number],
  into: Differences,
): void {
  const [own, other] = [gapAfter(found, unit), gapAfter(sent, sentUnit)].map(
    (blanks) => blanks.match(/^[^\r\n]*(?:\r\n|\r|\n)?/)![0],
  );
  if (!/[\r\n]$/.test(own!) || !/[\r\n]$/.test(other!)) return;
  compareBlanks({ text: own!, unescapes: false }, { text: other!, unescapes: false }, inside, into);
}

/** Compares the blanks before a sent line, if the ends of the lines around them have partners. */
function compareBetween(texts: ComparedTexts, at: number, paired: PairedLines, into: Differences): void {
  const { partners, lines, sentLines } = paired;
  const [before, after] = [partners[at - 1]!, partners[at]!];
  const unit = sentLines[at]!.from;
  const [endsAlike, startsAlike] = [hasLikeEnds(at - 1, "last", paired), hasLikeEnds(at, "first", paired)];
  if (endsAlike && startsAlike && before === after - 1) {
    compareGap(texts, [lines[before]!.to - 1, unit - 1], into);
    return;
  }
  if (startsAlike) compareIndents(texts, [lines[after]!.from - 1, unit - 1], into);
  if (endsAlike) compareTrailing(texts, [lines[before]!.to - 1, unit - 1], into);
}

/** Returns whether the first characters of a sent line and its partner match, or the last ones. */
function hasLikeEnds(
  at: number,
  side: "first" | "last",
  { partners, lines, sentLines, matches }: PairedLines,
): boolean {
  const [line, sentLine] = [lines[partners[at]!], sentLines[at]!];
  if (line === undefined) return false;
  return side === "first"
    ? matches.get(sentLine.from) === line.from
    : matches.get(sentLine.to - 1) === line.to - 1;
}

/** Compares the blanks before the first sent line and after the last one. */
function compareSides(texts: PlacedTexts, matches: ReadonlyMap<number, number>, into: Differences): void {
  const last = texts.sent.owners.length - 1;
  const [start, end] = [matches.get(0), matches.get(last)];
  if (start !== undefined && blanksAfter(texts.sent, -1) !== "") compareStart(texts, start, into);
  if (end !== undefined && blanksAfter(texts.sent, last) !== "") compareEnd(texts, end, into);
}
