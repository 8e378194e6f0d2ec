/** Where a text that a file does not hold was most likely meant to be. Nothing is ever changed because of it. */
import { runAtOnce, type Steps } from "../scheduling/time-slice.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import { type FoldedText, foldText } from "./folded-text.ts";
import { lineEnd, lineStart } from "./line-window.ts";
import { bomLength } from "./lines.ts";
import { compareTexts, findLikePlaces } from "./shingles.ts";
import type { Region } from "./splices.ts";

/** A part of a file that is like the text that was looked for. */
export interface NearMatch extends Region {
  /**
   * How alike they are, above 0 and below 1: a Tversky index of shingles, in which what the text has and the file lacks
   * counts more than the reverse, and blanks, quotes and escapes count little.
   */
  readonly similarity: number;
}

/** Near matches that are reported. */
const mostMatches = 3;

/** Places that are compared with the text. */
const mostPlaces = 12;

/** What is less alike is not worth showing; Python's `get_close_matches` wants 0.6. */
const leastSimilarity = 0.5;

/** Longest part of a file that is searched. */
const mostSearchedBytes = 32 * 1024 * 1024;

/** No other place is fitted to the text by lines of one that is so similar. */
const surelySimilar = 0.9;

/** Of longer texts only the beginnings are compared. */
const mostComparedBytes = 256 * 1024;

/** A longer text is compared where it was found, without trying to fit the lines around. */
const mostFittedBytes = 32 * 1024;

/** A place may be longer than the text by as much again and this. */
const mostLineBytes = 1024;

/** How often a place is fitted to the text. */
const mostRounds = 8;

/** Places where the first line is that are compared besides, and the bytes that such a line has at least. */
const mostAnchors = 4;
const leastAnchorBytes = 8;

/** The text that was looked for. */
interface Sent {
  readonly raw: Buffer;
  readonly folded: Uint8Array;
  /** Its first and its last line, folded, where it has several. */
  readonly ends: readonly [Uint8Array, Uint8Array] | undefined;
}

/** The parts of `body` that are most like `text`, best first. */
export function* findNearMatches(body: Buffer, text: Buffer): Steps<NearMatch[]> {
  const searched = body.subarray(bomLength(body), mostSearchedBytes);
  const whole = yield* foldText(searched);
  const sent = { raw: text, folded: (yield* foldText(text)).bytes, ends: endsOf(text) };
  const places = yield* findLikePlaces(whole.bytes, sent.folded, mostPlaces);
  const found: NearMatch[] = [];
  for (const start of [...places.map((place) => place.start), ...anchorsOf(whole, sent)]) {
    const taken = found.filter(({ similarity }) => similarity >= surelySimilar);
    const region = yield* fit(searched, regionOf(searched, whole, { start, sent }), { ...sent, taken });
    found.push({ ...region, similarity: likenessOf(searched, region, sent) });
    yield;
  }
  found.sort((a, b) => b.similarity - a.similarity || a.from - b.from);
  const matches = found.filter(
    (match, at) =>
      match.similarity >= leastSimilarity && !found.slice(0, at).some((better) => overlap(better, match)),
  );
  return matches.slice(0, mostMatches).map(({ from, to, similarity }) => ({
    from: from + bomLength(body),
    to: to + bomLength(body),
    similarity: Math.min(Math.round(similarity * 1000) / 1000, 0.999),
  }));
}

const overlap = (one: Region, other: Region): boolean => one.from < other.to && other.from < one.to;

/**
 * Where the first line of the text is: the lines behind it may have been left out, and then no place as long is like it.
 */
function anchorsOf({ bytes }: FoldedText, { ends }: Sent): number[] {
  const anchors: number[] = [];
  if (ends === undefined || ends[0].length < leastAnchorBytes) return anchors;
  const searcher = new ByteSearcher(Buffer.from(ends[0]));
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (
    let at = searcher.find(body, 0);
    at >= 0 && anchors.length < mostAnchors;
    at = searcher.find(body, at + 1)
  )
    anchors.push(at);
  return anchors;
}

function endsOf(text: Buffer): Sent["ends"] {
  const [first, last] = [text.indexOf(0x0a) + 1, lineStart(text, text.length - 1)];
  if (first === 0 || last < first) return undefined;
  const lineFrom = (start: number, end: number) =>
    foldAll(text.subarray(start, Math.min(end, start + mostEndBytes)));
  return [lineFrom(0, first), lineFrom(last, text.length)];
}

/** Of a longer line the beginning is enough to know it by. */
const mostEndBytes = 4096;

const foldAll = (text: Buffer): Uint8Array => runAtOnce(foldText(text)).bytes;

/** The bytes that a place of the folded text stands for, with the blanks around where the text that was sent has some. */
function regionOf(body: Buffer, whole: FoldedText, { start, sent }: { start: number; sent: Sent }): Region {
  const end = Math.min(start + sent.folded.length, whole.bytes.length);
  let [from, to] = [whole.offsetOf(start), whole.offsetOf(end - 1) + 1];
  // The rest of a character of several bytes.
  while (to < body.length && (body[to]! & 0xc0) === 0x80) to++;
  if (isBlank(sent.raw[0])) while (from > 0 && isBlank(body[from - 1])) from--;
  const last = sent.raw.at(-1);
  if (isBlank(last) || last === lineFeed) while (to < body.length && isBlank(body[to])) to++;
  if (last === lineFeed && body[to] === 0x0d) to++;
  if (last === lineFeed && body[to] === lineFeed) to++;
  return { from, to };
}

const lineFeed = 0x0a;

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/** See `NearMatch.similarity`. Where the text has several lines, the first and the last should be where they are in it. */
function likenessOf(body: Buffer, { from, to }: Region, { raw, folded, ends }: Sent): number {
  const text = body.subarray(from, Math.min(to, from + mostComparedBytes));
  const ofBlanks = compareTexts(raw.subarray(0, mostComparedBytes), text).coverage;
  const ofText = compareTexts(folded.subarray(0, mostComparedBytes), foldAll(text)).coverage;
  if (ends === undefined) return 0.9 * ofText + 0.1 * ofBlanks;
  const others = endsOf(text);
  const ofEnds =
    others === undefined
      ? 0
      : ends.reduce((sum, end, at) => sum + compareTexts(end, others[at]!).similarity / 2, 0);
  return 0.75 * ofText + 0.15 * ofEnds + 0.1 * ofBlanks;
}

/** The region, moved by some lines at both ends for as long as it covers more of the text then: either may lack a line. */
function* fit(
  body: Buffer,
  region: Region,
  sent: Sent & { readonly taken: readonly Region[] },
): Steps<Region> {
  if (sent.raw.length > mostFittedBytes) return region;
  // Where nothing but blanks and the like differ, the place is right.
  if (Buffer.compare(sent.folded, foldAll(body.subarray(region.from, region.to))) === 0) return region;
  let best = region;
  let likeness = likenessOf(body, region, sent);
  for (let round = 0; round < mostRounds; round++) {
    const before = best;
    for (const moved of movesOf(body, best)) {
      if (moved.to - moved.from > 2 * sent.raw.length + mostLineBytes) continue;
      if (sent.taken.some((other) => overlap(other, moved))) continue;
      const other = likenessOf(body, moved, sent);
      if (other > likeness) [best, likeness] = [moved, other];
    }
    if (best === before) break;
    yield;
  }
  return best;
}

/** Other starts and ends: up to three lines more, one less, and the line that is begun made whole. */
function movesOf(body: Buffer, { from, to }: Region): Region[] {
  const moves: Region[] = [
    { from: lineEnd(body, from), to },
    { from, to: lineStart(body, Math.max(0, to - 1)) },
    { from, to: lineEnd(body, to) - 1 },
  ];
  let [start, end] = [from, to];
  for (let lines = 0; lines < 3; lines++) {
    start = lineStart(body, Math.max(0, start - 1));
    end = lineEnd(body, end);
    moves.push({ from: start, to }, { from, to: end });
  }
  return moves.filter((move) => move.from < move.to && (move.from !== from || move.to !== to));
}
