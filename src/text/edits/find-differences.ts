/** Compares a text that is not in a file with the place that it was most likely meant for. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type ComparedPlace, type ComparedTexts, compareAligned } from "./alignment.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import { Differences } from "./differences.ts";
import { escapeSequence, type FoldedCharacters, foldCharacters } from "./folded-characters.ts";
import { compareChangedLines } from "./line-differences.ts";

/** Maximum length of compared texts, in UTF-16 units. */
const maxComparedUnits = 64 * 1024;

/** Maximum places of a folded text that are compared. */
const maxOccurrences = 8;

/**
 * Finds the kinds of difference between `sent` and a place in the file. They are empty if the texts are too
 * long to be compared, or have nothing but blanks.
 */
export function* findDifferences(place: ComparedPlace, sent: string): Steps<Differences> {
  const none = new Differences();
  if (Math.max(place.text.length, sent.length) > maxComparedUnits) return none;
  const withEnds = (text: string) => (place.ignoresEnds ? text.replaceAll("\r\n", "\n") : text);
  const unmarked = place.isMarked ? sent.replace(/^\ufeff/, "") : sent;
  const readings = yield* readAll(withEnds(place.text), withEnds(unmarked));
  if (readings[0]!.sent.folded === "") return none;
  for (const reading of readings) {
    const found = yield* compareEqual(place, reading);
    if (found !== undefined) return found;
  }
  const differences = new Differences();
  differences.add("text");
  yield* compareChangedLines({ place, ...(yield* likeliest(readings)) }, differences);
  return differences;
}

/** Reads both texts literally, and then with the escapes of one of them, or of both, replaced. */
function* readAll(text: string, sent: string): Steps<readonly ComparedTexts[]> {
  const own = yield* readBoth(text);
  const other = yield* readBoth(sent);
  return [
    { found: own.literal, sent: other.literal },
    ...(other.unescaped === undefined ? [] : [{ found: own.literal, sent: other.unescaped }]),
    ...(own.unescaped === undefined ? [] : [{ found: own.unescaped, sent: other.literal }]),
    ...(own.unescaped === undefined || other.unescaped === undefined
      ? []
      : [{ found: own.unescaped, sent: other.unescaped }]),
  ];
}

function* readBoth(text: string): Steps<{ literal: FoldedCharacters; unescaped?: FoldedCharacters }> {
  const literal = yield* foldCharacters(text, false);
  return text.search(escapeSequence) < 0
    ? { literal }
    : { literal, unescaped: yield* foldCharacters(text, true) };
}

/** Compares a text with the places that equal it when folded. Returns the fewest differences. */
function* compareEqual(place: ComparedPlace, { found, sent }: ComparedTexts): Steps<Differences | undefined> {
  if (sent.folded === "") return undefined;
  const body = Buffer.from(found.folded, "utf16le");
  const searcher = new ByteSearcher(Buffer.from(sent.folded, "utf16le"));
  let best: Differences | undefined;
  for (let from = 0, count = 0; count < maxOccurrences; ) {
    const at = yield* searcher.find(body, from);
    if (at < 0) break;
    from = at + 1;
    if (at % 2 !== 0) continue;
    count++;
    const differences = new Differences();
    yield* compareAligned({ place, found, sent }, at / 2, differences);
    if (best === undefined || differences.size < best.size) best = differences;
  }
  return best;
}

/** Returns the reading that has most pairs of folded units in common, and replaces the fewest escapes. */
function* likeliest(readings: readonly ComparedTexts[]): Steps<ComparedTexts> {
  let [best, most] = [readings[0]!, -1];
  if (readings.length === 1) return best;
  for (const reading of readings) {
    const share = shareOf(reading.found.folded, reading.sent.folded);
    yield;
    if (share > most) [best, most] = [reading, share];
  }
  return best;
}

/** Returns the share of the pairs of units that are common to both texts. */
function shareOf(found: string, sent: string): number {
  const counts = new Map<string, number>();
  for (let at = 1; at < found.length; at++) {
    const pair = found.slice(at - 1, at + 1);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  let common = 0;
  for (let at = 1; at < sent.length; at++) {
    const pair = sent.slice(at - 1, at + 1);
    const left = counts.get(pair) ?? 0;
    if (left > 0) common++;
    counts.set(pair, left - 1);
  }
  return common / Math.max(sent.length - 1, 1);
}
