/**
 * Finds the places where the hunks of a patch fit into a file. Nothing is guessed: a hunk without a unique
 * place is refused.
 */

import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type Candidate, candidatesAt, explainMissing } from "../edits/explain-miss.ts";
import { lineFeed, surveyLines } from "../edits/lines.ts";
import type { Region } from "../edits/splices.ts";
import { firstAtLeast } from "./ascending.ts";
import { Comparisons } from "./comparisons.ts";
import { HeadingFinder, type HeadingScope, narrow } from "./headings.ts";
import { HunkText, type LineList } from "./hunk-text.ts";
import { findShift, type Shift } from "./indentation.ts";
import { LineIndex } from "./line-index.ts";
import { carriageReturn, type LineTable, tabulateLines } from "./line-table.ts";
import { comparedFrom, comparedTo, type Matching, matchings } from "./matching.ts";
import type { FilePatch, Hunk } from "./patch.ts";
import { type HunkReference, refusePatch } from "./patch-errors.ts";
import { foldTypography } from "./typography.ts";

/** A hunk, and the lines of the file that it applies to. */
export interface FittedHunk {
  readonly place: HunkReference;
  readonly text: HunkText;
  /** The first of its lines, from 0. */
  readonly start: number;
  readonly matching: Matching;
  /** The difference in indentation, if the hunk fits only with it. */
  readonly shift: Shift | undefined;
  /** The number of lines from the place that its header gives to this one; 0 without a header. */
  readonly offset: number;
  /** Whether more than its lines limits its place: a line after `@@`, or the end of the file. */
  readonly isNarrowed: boolean;
}

/** A hunk, and the first lines of other places where it fits, from 0. */
export interface PlacedHunk extends FittedHunk {
  readonly alsoAt: readonly number[];
}

/**
 * Returns whether the lines compare as the same text, so that the line number in a hunk's header may choose
 * among places.
 */
const isSameText = (matching: Matching): boolean => matching === "exact" || matching === "endings";

/** Maximum lines between a place and the one that the header gives, if the hunk fits elsewhere too. */
const maxDistance = 20;

/** Maximum other places that are named for each hunk. */
const maxOtherPlaces = 3;

/** Maximum bytes of a file whose other places are found. */
const maxNotedBytes = 1024 * 1024;

/** Maximum hunks whose other places are named. */
const maxNotedHunks = 20;

/** Maximum line comparisons to find other places of hunks that have one. */
const maxNoteComparisons = 2 ** 22;

/** Maximum bytes of a hunk that are compared with the file to explain a misfit. */
export const maxExplainedBytes = 64 * 1024;

/**
 * Finds the places of all hunks in one file. Throws a refusal for the first hunk that has none, or more than
 * one.
 */
export function* fitHunks(file: FilePatch, lines: LineTable, body: LineTable): Steps<PlacedHunk[]> {
  const fitter = new HunkFitter(file, lines, body);
  const fitted: FittedHunk[] = [];
  for (const [index, hunk] of file.hunks.entries()) {
    const place = { path: file.path, number: index + 1, lines: [hunk.first + 1, hunk.end] as const };
    const text = yield* HunkText.read(lines, hunk, file.change === "add");
    if (file.change === "add" && text.oldCount > 0) throw refusePatch.newFileHasLines(place);
    fitted.push(yield* fitter.fit(hunk, text, place));
    yield;
  }
  return yield* fitter.withOtherPlaces(fitted);
}

class HunkFitter {
  readonly #file: FilePatch;
  readonly #lines: LineTable;
  readonly #body: LineTable;
  readonly #indexes = new Map<Matching, LineIndex>();
  readonly #headings: HeadingFinder;
  readonly #comparisons = new Comparisons();
  /** The line after the last one that the previous hunk changes. */
  #changedUpTo = 0;
  /** The offset of the previous hunk's place, in lines, from the one that its header gives. */
  #drift = 0;
  /** The file with plain characters for typographic ones; `undefined` until it is needed. */
  #plainIndex: LineIndex | undefined;

  constructor(file: FilePatch, lines: LineTable, body: LineTable) {
    this.#file = file;
    this.#lines = lines;
    this.#body = body;
    this.#headings = new HeadingFinder(body, {
      indexFor: (matching) => this.#indexFor(matching),
      comparisons: this.#comparisons,
    });
  }

  *fit(hunk: Hunk, text: HunkText, place: HunkReference): Steps<FittedHunk> {
    const sections = yield* this.#headings.find(hunk.headings, place);
    const narrowed = { place, sections };
    const found =
      text.oldCount === 0
        ? { text, ...this.#insertion(hunk, text, narrowed) }
        : ((yield* this.#fitOf(hunk, text, narrowed)) ?? (yield* this.#explain(hunk, text, narrowed)));
    yield* this.#requireNew(found, narrowed);
    this.#changedUpTo = found.start + found.text.oldCount - found.text.trailing;
    const offset = hunk.header === undefined ? 0 : found.start - hunk.header.old.linesBefore;
    if (hunk.header !== undefined) this.#drift = offset;
    const isNarrowed = sections !== undefined || hunk.isAtEnd;
    return { place, shift: undefined, offset, isNarrowed, ...found };
  }

  /**
   * Adds to each hunk the other places where it fits, unless other hunks stand there. In a large file, and
   * after some such hunks or comparisons, hunks get none.
   */
  *withOtherPlaces(hunks: readonly FittedHunk[]): Steps<PlacedHunk[]> {
    const placed: PlacedHunk[] = [];
    const mostNoted = this.#body.bytes.length <= maxNotedBytes ? maxNotedHunks : 0;
    const taken = mostNoted === 0 ? new Uint32Array(1) : takenLines(hunks, this.#body.count);
    let [noted, comparisons] = [0, 0];
    for (const hunk of hunks) {
      const { text, matching } = hunk;
      const compared = isSameText(matching) ? "endings" : matching;
      const index = noted < mostNoted && mayRecur(hunk) ? yield* this.#indexFor(compared) : undefined;
      const pattern = index && (yield* this.#numbersOf(text.oldLines, index));
      if (pattern) comparisons += index!.costOf(pattern);
      const isSearched = pattern && comparisons <= maxNoteComparisons;
      const starts = isSearched ? yield* index!.findAll(pattern) : [];
      const alsoAt: number[] = [];
      for (const start of starts) {
        if (taken[start + text.oldCount] === taken[start]) alsoAt.push(start);
        if (alsoAt.length === maxOtherPlaces) break;
      }
      if (alsoAt.length > 0) noted++;
      placed.push({ ...hunk, alsoAt });
      yield;
    }
    return placed;
  }

  /**
   * Finds the place of a hunk. If it fits nowhere and ends with an empty line, it may fit at the end of the
   * file without that.
   */
  *#fitOf(hunk: Hunk, text: HunkText, narrowed: Narrowed): Steps<(Found & { text: HunkText }) | undefined> {
    const found = yield* this.#placeOf(hunk, text, narrowed);
    if (found !== undefined) return { text, ...found };
    if (hunk.header !== undefined || !text.hasBlankEnd || text.oldCount < 2) return undefined;
    const shorter = { ...hunk, end: hunk.end - 1, isAtEnd: true };
    const rest = yield* HunkText.read(this.#lines, shorter, false);
    const end = yield* this.#placeOf(shorter, rest, narrowed);
    return end && { text: rest, ...end };
  }

  /** Finds the place of a hunk. Returns `undefined` if it fits nowhere. */
  *#placeOf(hunk: Hunk, text: HunkText, narrowed: Narrowed): Steps<Found | undefined> {
    const { place, sections } = narrowed;
    // Nearly all hunks fit at the line that their header gives, and then no index is needed.
    if (hunk.header !== undefined && sections === undefined)
      for (const matching of matchings.filter(isSameText)) {
        const start = yield* this.#statedPlace(hunk, text, matching);
        if (start !== undefined) return { start, matching };
      }
    // Without line numbers and CRLF, the hunk does not say which line ends it means.
    const ignoresEnds = hunk.header === undefined && !text.hasReturns;
    for (const matching of ignoresEnds ? matchings.slice(1) : matchings) {
      const found = yield* this.#findAll(text.oldLines, yield* this.#indexFor(matching), place);
      const all =
        matching === "exact" && hunk.header === undefined ? yield* this.#withOpenEnd(text, found) : found;
      const chosen = yield* this.#chooseAmong(all, { hunk, text, matching, narrowed });
      if (chosen === undefined) continue;
      if (matching === "blanks") return yield* this.#shifted(text, chosen, place);
      const isExact = matching === "endings" && (yield* this.#isAt(text, chosen, "exact"));
      return { start: chosen, matching: isExact ? "exact" : found.includes(chosen) ? matching : "endings" };
    }
    return yield* this.#plainPlace(hunk, text, narrowed);
  }

  /**
   * Returns the place that the header gives, if the hunk fits there. A hunk with fewer unchanged lines after
   * its changes than before them was at the end of its file: git relies on that if no line follows them, and
   * patch always.
   */
  *#statedPlace({ header, isCounted }: Hunk, text: HunkText, matching: Matching): Steps<number | undefined> {
    const end = this.#body.count - text.oldCount;
    const wasAtEnd = isCounted && text.leading > text.trailing;
    const isEndFirst = wasAtEnd && (text.trailing === 0 || this.#drift !== 0);
    if (isEndFirst && (yield* this.#isAt(text, end, matching))) return end;
    const stated = header!.old.linesBefore + this.#drift;
    if (yield* this.#isAt(text, stated, matching)) return stated;
    return wasAtEnd && (yield* this.#isAt(text, end, matching)) ? end : undefined;
  }

  /** Chooses the place of a hunk. Throws a refusal if there are several. */
  *#chooseAmong(
    all: readonly number[],
    { hunk, text, matching, narrowed: { place, sections } }: Choosing,
  ): Steps<number | undefined> {
    const inside = yield* narrow(all, sections);
    const starts = hunk.isAtEnd ? this.#endAmong(inside, text) : inside;
    const stated = hunk.header === undefined ? undefined : hunk.header.old.linesBefore + this.#drift;
    const isExactText = matching !== "blanks" && matching !== "typography";
    const start = isExactText
      ? this.#choose(starts, isSameText(matching) ? stated : undefined)
      : starts.length > 1
        ? "several"
        : starts[0];
    if (start !== "several") return start;
    throw refusePatch.ambiguousHunk(place, {
      count: starts.length,
      matching,
      candidates: candidatesAt(
        this.#body.bytes,
        starts.slice(0, 3).map((at) => this.#regionOf(text, at)),
      ),
    });
  }

  /** Returns the place of a hunk that is indented differently. Throws a refusal if no shift explains it. */
  *#shifted(text: HunkText, start: number, place: HunkReference): Steps<Found> {
    const shift = yield* findShift(text, this.#body, start);
    if (shift !== undefined) return { start, matching: "blanks", shift };
    const candidates = candidatesAt(this.#body.bytes, [this.#regionOf(text, start)]);
    throw refusePatch.unevenIndentation(place, candidates);
  }

  /** Finds a hunk that differs only in typographic characters, and in blanks at the ends of lines. */
  *#plainPlace(hunk: Hunk, text: HunkText, narrowed: Narrowed): Steps<Found | undefined> {
    const bytes = yield* foldTypography(yield* joinLines(text.oldLines));
    if (bytes === undefined) return undefined;
    this.#plainIndex ??= yield* this.#indexPlain();
    const table = yield* tabulateLines(bytes);
    if (table.count !== text.oldCount) return undefined;
    const extentOf = (line: number) => ({ from: table.startOf(line), to: table.endOf(line) });
    const starts = yield* this.#findAll(
      { count: table.count, bytes, extentOf },
      this.#plainIndex,
      narrowed.place,
    );
    const matching = "typography";
    const start = yield* this.#chooseAmong(starts, { hunk, text, matching, narrowed });
    return start === undefined ? undefined : { start, matching };
  }

  *#indexPlain(): Steps<LineIndex> {
    const plain = (yield* foldTypography(this.#body.bytes)) ?? Buffer.alloc(0);
    return yield* LineIndex.build(yield* tabulateLines(plain), "trailing-blanks");
  }

  /**
   * Returns the places, plus the end of a file whose last line has no ending, if the hunk fits there: without
   * line numbers, the hunk cannot say which one it means, and that place is as good as the others.
   */
  *#withOpenEnd(text: HunkText, starts: readonly number[]): Steps<readonly number[]> {
    const last = this.#body.count - text.oldCount;
    if (starts.length === 0 || starts.includes(last) || this.#body.bytes.at(-1) === lineFeed) return starts;
    return (yield* this.#isAt(text, last, "endings")) ? [...starts, last] : starts;
  }

  /** Places a hunk that adds lines and shows none of the file. */
  #insertion(hunk: Hunk, text: HunkText, { place, sections }: Narrowed): Found {
    const { count } = this.#body;
    if (count === 0) return { start: 0, matching: "exact" };
    const matching = this.#endingsOf(hunk, text);
    if (hunk.isAtEnd) return { start: count, matching: "endings" };
    if (sections !== undefined) {
      const starts = sections.map(({ from }) => from + 1);
      const start = this.#choose(starts, undefined);
      if (typeof start === "number") return { start, matching: "endings" };
      throw refusePatch.hunkWithoutContext(place);
    }
    const { header, isCounted } = hunk;
    if (header === undefined && this.#file.names === undefined) return { start: count, matching: "endings" };
    const start = isCounted && header?.old.count === 0 ? header.old.linesBefore + this.#drift : -1;
    if (start < 0 || start > count) throw refusePatch.hunkWithoutContext(place);
    // Without a time, lines at the top of a file look like a new file.
    const { change, names } = this.#file;
    const isOfEmptyFile = change === "update" && this.#file.mayBeMissing === true && names?.isDated !== true;
    if (isOfEmptyFile) throw refusePatch.notEmptyBefore(place, count);
    return { start, matching };
  }

  /** Decides whether lines that nothing surrounds end as in the patch, or as in the file. */
  #endingsOf({ first }: Hunk, text: HunkText): Matching {
    const isCrlf = (bytes: Buffer, end: number) =>
      bytes[end - 2] === carriageReturn && bytes[end - 1] === lineFeed;
    if (isCrlf(this.#lines.bytes, this.#lines.startOf(first))) return "endings";
    const isCrlfAdded = text.count > 0 && isCrlf(text.bytes, text.extentOf(0).to);
    return isCrlfAdded || surveyLines(this.#body.bytes, []).ending === "\n" ? "exact" : "endings";
  }

  /** Returns the place at the end of the file, if it is one of these, which are in ascending order. */
  #endAmong(starts: readonly number[], text: HunkText): readonly number[] {
    const last = starts.at(-1);
    return last !== undefined && last + text.oldCount === this.#body.count ? [last] : [];
  }

  /**
   * Chooses the only place; or, of several, the one that the header's line number picks; or the only one
   * after the previous hunk, since hunks stand in the order of the file. Places are in ascending order.
   */
  #choose(starts: readonly number[], stated: number | undefined): number | "several" | undefined {
    if (starts.length <= 1) return starts[0];
    const nearest = stated === undefined ? undefined : clearlyNearest(starts, stated);
    // Numbers that lead back before the previous hunk were not counted.
    if (nearest !== undefined && (nearest >= this.#changedUpTo || nearest === stated)) return nearest;
    return firstAtLeast(starts, this.#changedUpTo) === starts.length - 1 ? starts.at(-1) : "several";
  }

  *#findAll(lines: LineList, index: LineIndex, place: HunkReference): Steps<number[]> {
    const pattern = yield* this.#numbersOf(lines, index);
    if (pattern === undefined) return [];
    this.#comparisons.add(index.costOf(pattern), place);
    return yield* index.findAll(pattern);
  }

  /** Returns the numbers of lines in an index, or `undefined` if it lacks one. */
  *#numbersOf(lines: LineList, index: LineIndex): Steps<Int32Array | undefined> {
    const numbers = new Int32Array(lines.count);
    const steps = new LineSteps();
    for (let at = 0; at < numbers.length; at++) {
      const { from, to } = lines.extentOf(at);
      if (steps.isDueAfter(to - from)) yield;
      numbers[at] = index.idOf(lines.bytes, [from, to]);
      if (numbers[at]! < 0) return undefined;
    }
    return numbers;
  }

  *#isAt(text: HunkText, start: number, matching: Matching): Steps<boolean> {
    return yield* this.#hasLines(text.oldLines, start, matching);
  }

  *#hasLines({ count, bytes, extentOf }: LineList, start: number, matching: Matching): Steps<boolean> {
    if (start < 0 || start + count > this.#body.count) return false;
    const steps = new LineSteps();
    for (let at = 0; at < count; at++) {
      const { from, to } = extentOf(at);
      if (steps.isDueAfter(to - from)) yield;
      const extent = [this.#body.startOf(start + at), this.#body.endOf(start + at)] as const;
      const line = comparedPart(matching, this.#body.bytes, extent);
      if (!line.equals(comparedPart(matching, bytes, [from, to]))) return false;
    }
    return true;
  }

  *#indexFor(matching: Matching): Steps<LineIndex> {
    const known = this.#indexes.get(matching) ?? (yield* LineIndex.build(this.#body, matching));
    this.#indexes.set(matching, known);
    return known;
  }

  #regionOf(text: HunkText, start: number): Region {
    return { from: this.#body.startOf(start), to: this.#body.startOf(start + text.oldCount) };
  }

  /**
   * Refuses a hunk that only adds lines after others, before the end of the file, or before others, if those
   * lines are there already: it would fit each time that it is sent.
   */
  *#requireNew({ text, start }: Pick<FittedHunk, "text" | "start">, { place }: Narrowed): Steps<void> {
    const { leading, trailing, oldCount, newCount } = text;
    const isAppended = leading > 0 && leading === oldCount && start + oldCount < this.#body.count;
    const isPrepended = trailing > 0 && trailing === oldCount;
    if (!(isAppended || isPrepended) || !isTelling(text)) return;
    const newLines = yield* text.newLines();
    const newStart = isAppended ? start : start + oldCount - newCount;
    if (yield* this.#hasLines(newLines, newStart, "trailing-blanks"))
      throw refusePatch.alreadyApplied(place, this.#candidatesFor(newLines, [newStart]));
  }

  #candidatesFor({ count }: LineList, starts: readonly number[]): readonly Candidate[] {
    return candidatesAt(
      this.#body.bytes,
      starts.map((start) => ({ from: this.#body.startOf(start), to: this.#body.startOf(start + count) })),
    );
  }

  /**
   * Throws a refusal that says why the hunk fits nowhere: it fits only elsewhere, it was applied before,
   * something resembles it, or nothing does.
   */
  *#explain(hunk: Hunk, text: HunkText, { place, sections }: Narrowed): Steps<never> {
    if (hunk.isAtEnd || sections !== undefined) {
      const [start] = yield* this.#findAll(text.oldLines, yield* this.#indexFor("blanks"), place);
      const candidates =
        start === undefined ? [] : candidatesAt(this.#body.bytes, [this.#regionOf(text, start)]);
      if (start !== undefined) throw refusePatch.misplacedHunk(place, { isAtEnd: hunk.isAtEnd, candidates });
    }
    const newLines = yield* text.newLines();
    if (newLines.count > 0 && (isTelling(text) || isTellingWithin(text, newLines))) {
      const starts = yield* this.#findAll(newLines, yield* this.#indexFor("trailing-blanks"), place);
      if (starts.length > 0)
        throw refusePatch.alreadyApplied(place, this.#candidatesFor(newLines, starts.slice(0, 3)));
    }
    const sent = text.oldText(maxExplainedBytes).toString();
    throw refusePatch.hunkNotFound(place, yield* explainMissing(this.#body.bytes, sent));
  }
}

/** Minimum bytes of added lines that hardly stand in a file by chance. */
const minTellingBytes = 8;

/**
 * Returns whether a file that has the new lines of the hunk was most likely changed by it. If the hunk only
 * removes lines, it must show lines on both sides.
 */
const isTelling = (text: HunkText): boolean =>
  text.addedBytes === 0 ? text.leading > 0 && text.trailing > 0 : text.addedBytes > minTellingBytes;

/** Minimum bytes of added lines and the unchanged ones around them, which hardly stand so by chance. */
const minSurroundedBytes = 16;

/** Like `isTelling`, for a hunk that adds few bytes between unchanged lines, and does not fit. */
function isTellingWithin({ leading, trailing }: HunkText, { count, extentOf }: LineList): boolean {
  if (leading === 0 || trailing === 0) return false;
  for (let [line, bytes] = [0, 0]; line < count; line++) {
    const { from, to } = extentOf(line);
    bytes += to - from;
    if (bytes >= minSurroundedBytes) return true;
  }
  return false;
}

/** Returns the lines in one text. */
function* joinLines({ count, bytes, extentOf }: LineList): Steps<Buffer> {
  if (count === 0) return Buffer.alloc(0);
  const joined = Buffer.allocUnsafe(extentOf(count - 1).to - extentOf(0).from);
  const steps = new LineSteps();
  let length = 0;
  for (let at = 0; at < count; at++) {
    const { from, to } = extentOf(at);
    length += bytes.copy(joined, length, from, to);
    if (steps.isDueAfter(to - from)) yield;
  }
  return joined.subarray(0, length);
}

interface Found {
  readonly start: number;
  readonly matching: Matching;
  readonly shift?: Shift;
}

interface Choosing {
  readonly hunk: Hunk;
  readonly text: HunkText;
  readonly matching: Matching;
  readonly narrowed: Narrowed;
}

interface Narrowed {
  readonly place: HunkReference;
  readonly sections: readonly HeadingScope[] | undefined;
}

const comparedPart = (matching: Matching, bytes: Buffer, extent: readonly [number, number]): Buffer => {
  const from = comparedFrom(matching, bytes, extent);
  return bytes.subarray(from, comparedTo(matching, bytes, [from, extent[1]]));
};

/** Returns the place nearest to `stated` if it is near, and every other more than twice as far. */
function clearlyNearest(starts: readonly number[], stated: number): number | undefined {
  const after = firstAtLeast(starts, stated);
  const distanceOf = (index: number) => Math.abs((starts[index] ?? Number.POSITIVE_INFINITY) - stated);
  const nearest = distanceOf(after - 1) <= distanceOf(after) ? after - 1 : after;
  const distance = distanceOf(nearest);
  if (distance > maxDistance) return undefined;
  return Math.min(distanceOf(nearest - 1), distanceOf(nearest + 1)) > 2 * distance
    ? starts[nearest]
    : undefined;
}

/**
 * Returns whether a hunk that has a place may fit elsewhere too. One that differs from the file in more than
 * trailing blanks would have been refused.
 */
const mayRecur = ({ text, matching, isNarrowed }: FittedHunk): boolean =>
  text.oldCount > 0 && !isNarrowed && matching !== "blanks" && matching !== "typography";

/** Returns for each line of the file, and its end, how many of the lines before it some hunk shows. */
function takenLines(hunks: readonly FittedHunk[], count: number): Uint32Array {
  const isTaken = new Uint8Array(count);
  for (const { start, text } of hunks) isTaken.fill(1, start, start + text.oldCount);
  const taken = new Uint32Array(count + 1);
  for (let line = 0; line < count; line++) taken[line + 1] = taken[line]! + isTaken[line]!;
  return taken;
}
