/**
 * Finds the places where a text missing from a file was most likely meant to be. They are never used to
 * change anything.
 */
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import { findClosest } from "./character-distance.ts";
import { type FoldedText, foldText } from "./folded-text.ts";
import { lineEnd, lineStart } from "./line-window.ts";
import { bomLength } from "./lines.ts";
import { compareTexts, findLikePlaces } from "./shingles.ts";
import type { Region } from "./splices.ts";

/** A part of a file that resembles the missing text. */
export interface NearMatch extends Region {
  /**
   * The similarity, above 0 and below 1: a Tversky index of shingles, in which parts that the file lacks
   * count more than parts that it has in addition, and blanks, quotes and escapes count little; or the share
   * of equal characters, if that is higher.
   */
  readonly similarity: number;
}

/** Maximum near matches that are reported. */
const maxMatches = 3;

/** Maximum places that are compared with the text. */
const maxPlaces = 12;

/** Minimum similarity that is worth showing; Python's `get_close_matches` wants 0.6. */
const minSimilarity = 0.5;

/** Maximum bytes of a file that are searched. */
const maxSearchedBytes = 32 * 1024 * 1024;

/** Minimum similarity of a place whose lines are not used to fit other places. */
const surelySimilar = 0.9;

/** Maximum bytes of compared texts; only the beginnings of longer ones are compared. */
const maxComparedBytes = 256 * 1024;

/** Maximum bytes of a text whose place is fitted; a longer one is compared where it was found. */
const maxFittedBytes = 32 * 1024;

/** Maximum bytes of a place beyond twice the size of the text. */
const maxLineBytes = 1024;

/** Maximum rounds of fitting a place to the text. */
const maxRounds = 8;

/** Maximum places of the first line that are compared in addition, and minimum bytes of such a line. */
const maxAnchors = 4;
const minAnchorBytes = 8;

/** The text that was sent. */
interface Sent {
  readonly raw: Buffer;
  readonly folded: Uint8Array;
  /** Its first and its last line, folded, if it has several. */
  readonly ends: readonly [Uint8Array, Uint8Array] | undefined;
}

/** Returns the parts of `body` that resemble `text` most, best first. */
export function* findNearMatches(body: Buffer, text: Buffer): Steps<NearMatch[]> {
  const searched = body.subarray(bomLength(body), maxSearchedBytes);
  const whole = yield* foldText(searched);
  const sent = { raw: text, folded: (yield* foldText(text)).bytes, ends: endsOf(text) };
  const places = yield* findLikePlaces(whole.bytes, sent.folded, maxPlaces);
  const found: NearMatch[] = [];
  for (const start of [...places.map((place) => place.start), ...(yield* anchorsOf(whole, sent))]) {
    const taken = found.filter(({ similarity }) => similarity >= surelySimilar);
    const region = yield* fit(searched, regionOf(searched, whole, { start, sent }), { ...sent, taken });
    const likeness = yield* likenessOf(searched, region, sent);
    found.push({ ...region, similarity: Math.max(likeness, yield* shareOf(searched, region, text)) });
    yield;
  }
  found.sort((a, b) => b.similarity - a.similarity || a.from - b.from);
  const isFound = () => found.some(({ similarity }) => similarity >= minSimilarity);
  if (!isFound()) found.push(...(yield* sameButForCase(searched, text)));
  if (!isFound()) found.push(...(yield* closestTo(searched, text)));
  const matches = found.filter(
    (match, at) =>
      match.similarity >= minSimilarity && !found.slice(0, at).some((better) => overlap(better, match)),
  );
  return matches.slice(0, maxMatches).map(({ from, to, similarity }) => ({
    from: from + bomLength(body),
    to: to + bomLength(body),
    similarity: Math.min(Math.round(similarity * 1000) / 1000, 0.999),
  }));
}

/** Maximum bytes of a file that is searched again without regard to case. */
const maxFoldedBytes = 1024 * 1024;

/**
 * Returns the first place that differs from the text in the case of ASCII letters alone. A short text has too
 * few shingles in common with it.
 */
function* sameButForCase(body: Buffer, text: Buffer): Steps<NearMatch[]> {
  if (body.length > maxFoldedBytes || text.length === 0 || text.length > body.length) return [];
  const searched = lowerCase(body);
  yield;
  const searcher = new ByteSearcher(lowerCase(text));
  yield;
  const from = yield* searcher.find(searched, 0);
  if (from < 0) return [];
  let differing = 0;
  for (let at = 0; at < text.length; at++) if (text[at] !== body[from + at]) differing++;
  const similarity = Math.max(minSimilarity, 1 - differing / text.length);
  return [{ from, to: from + text.length, similarity }];
}

/** Returns the bytes with ASCII letters in lower case. */
function lowerCase(bytes: Buffer): Buffer {
  const lower = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    lower[at] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
  }
  return lower;
}

/** Minimum and maximum bytes of a text whose characters are compared. */
const [minClosestBytes, maxClosestBytes] = [4, 64];

/** Maximum bytes of a file whose characters are compared. */
const maxCloseBytes = 256 * 1024;

/** Returns the maximum differing bytes of a short text: a quarter, but at least one. */
const maxEditsFor = (bytes: number): number => Math.max(1, Math.floor(bytes / 4));

/** Returns the part of a file that differs from a short text in few characters. */
function* closestTo(body: Buffer, text: Buffer): Steps<NearMatch[]> {
  const { length } = text;
  if (length < minClosestBytes || length > maxClosestBytes || body.length > maxCloseBytes) return [];
  const { edits, ...place } = yield* findClosest(body, text);
  return edits > maxEditsFor(length) ? [] : [{ ...place, similarity: 1 - edits / length }];
}

/** Minimum share of equal characters that counts as the similarity of a place. */
const minEqualShare = 0.75;

/** Maximum bytes of a text and of a place whose characters are compared. */
const maxSharedBytes = 512;

/**
 * Returns the similarity of a place by its characters, if it is high. One wrong character in each line
 * changes many runs of bytes.
 */
function* shareOf(body: Buffer, { from, to }: Region, raw: Buffer): Steps<number> {
  if (raw.length > maxSharedBytes || to - from > maxSharedBytes) return 0;
  const { edits } = yield* findClosest(body.subarray(from, to), raw);
  const share = 1 - edits / Math.max(raw.length, 1);
  return share < minEqualShare ? 0 : share;
}

const overlap = (one: Region, other: Region): boolean => one.from < other.to && other.from < one.to;

/**
 * Returns the places of the text's first line. Later lines may have been left out, and then no place of full
 * length is similar.
 */
function* anchorsOf({ bytes }: FoldedText, { ends }: Sent): Steps<number[]> {
  const anchors: number[] = [];
  if (ends === undefined || ends[0].length < minAnchorBytes) return anchors;
  const searcher = new ByteSearcher(Buffer.from(ends[0]));
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let from = 0; anchors.length < maxAnchors; ) {
    const at = yield* searcher.find(body, from);
    if (at < 0) break;
    anchors.push(at);
    from = at + 1;
  }
  return anchors;
}

function endsOf(text: Buffer): Sent["ends"] {
  const [first, last] = [text.indexOf(0x0a) + 1, lineStart(text, text.length - 1)];
  if (first === 0 || last < first) return undefined;
  const lineFrom = (start: number, end: number) =>
    foldAll(text.subarray(start, Math.min(end, start + maxEndBytes)));
  return [lineFrom(0, first), lineFrom(last, text.length)];
}

/** Maximum bytes of an end line, whose beginning is enough to recognize it. */
const maxEndBytes = 4096;

const foldAll = (text: Buffer): Uint8Array => runAtOnce(foldText(text)).bytes;

/** Maximum blanks on each side of a place that belong to it. */
const maxBlankBytes = 64 * 1024;

/**
 * Returns the bytes of the file for a place in the folded text, including surrounding blanks if the sent text
 * has some.
 */
function regionOf(body: Buffer, whole: FoldedText, { start, sent }: { start: number; sent: Sent }): Region {
  const end = Math.min(start + sent.folded.length, whole.bytes.length);
  let [from, to] = [whole.offsetOf(start), whole.offsetOf(end - 1) + 1];
  // This skips the rest of a multi-byte character.
  while (to < body.length && (body[to]! & 0xc0) === 0x80) to++;
  const [first, last] = [sent.raw[0], sent.raw.at(-1)];
  const [lowest, highest] = [Math.max(0, from - maxBlankBytes), Math.min(body.length, to + maxBlankBytes)];
  if (isBlank(first)) while (from > lowest && isBlank(body[from - 1])) from--;
  if (isBlank(last) || last === lineFeed) while (to < highest && isBlank(body[to])) to++;
  if (last === lineFeed && body[to] === 0x0d) to++;
  if (last === lineFeed && body[to] === lineFeed) to++;
  return { from, to };
}

const lineFeed = 0x0a;

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/**
 * Computes `NearMatch.similarity`. If the text has several lines, its first and last lines should be the ends
 * of the region.
 */
function* likenessOf(body: Buffer, { from, to }: Region, { raw, folded, ends }: Sent): Steps<number> {
  const text = body.subarray(from, Math.min(to, from + maxComparedBytes));
  const ofBlanks = compareTexts(raw.subarray(0, maxComparedBytes), text).coverage;
  yield;
  const { bytes } = yield* foldText(text);
  yield;
  const ofText = compareTexts(folded.subarray(0, maxComparedBytes), bytes).coverage;
  if (ends === undefined) return 0.9 * ofText + 0.1 * ofBlanks;
  const others = endsOf(text);
  const ofEnds =
    others === undefined
      ? 0
      : ends.reduce((sum, end, at) => sum + compareTexts(end, others[at]!).similarity / 2, 0);
  return 0.75 * ofText + 0.15 * ofEnds + 0.1 * ofBlanks;
}

/**
 * Returns the region, its ends moved by some lines as long as that covers more of the text, since either may
 * lack a line.
 */
function* fit(
  body: Buffer,
  region: Region,
  sent: Sent & { readonly taken: readonly Region[] },
): Steps<Region> {
  if (sent.raw.length > maxFittedBytes) return region;
  // If only blanks and the like differ, the place is right.
  const { bytes } = yield* foldText(body.subarray(region.from, region.to));
  if (Buffer.compare(sent.folded, bytes) === 0) return region;
  let best = region;
  let likeness = yield* likenessOf(body, region, sent);
  for (let round = 0; round < maxRounds; round++) {
    const before = best;
    for (const moved of movesOf(body, best)) {
      if (moved.to - moved.from > 2 * sent.raw.length + maxLineBytes) continue;
      if (sent.taken.some((other) => overlap(other, moved))) continue;
      const other = yield* likenessOf(body, moved, sent);
      if (other > likeness) [best, likeness] = [moved, other];
    }
    if (best === before) break;
    yield;
  }
  return best;
}

/** Returns other starts and ends: up to three more lines, one less, or the partial line completed. */
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
