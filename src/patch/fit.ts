/**
 * Finds the places where the hunks of a patch fit into a file. Nothing is guessed: a hunk without a unique
 * place is refused.
 */
import { lineFeed } from "../edits/lines.ts";
import { candidatesAt, explainMissing } from "../edits/misses.ts";
import type { Region } from "../edits/splices.ts";
import type { Steps } from "../scheduling/time-slice.ts";
import { Comparisons } from "./comparisons.ts";
import { type HunkPlace, refusePatch } from "./errors.ts";
import { HeadingFinder, type HeadingScope, narrow } from "./headings.ts";
import { HunkText } from "./hunk-text.ts";
import { LineIndex } from "./line-index.ts";
import type { LineTable } from "./line-table.ts";
import { comparedFrom, comparedTo, type Matching, matchings } from "./matching.ts";
import type { FilePatch, Hunk } from "./patch.ts";

/** A hunk, and the lines of the file that it applies to. */
export interface FittedHunk {
  readonly place: HunkPlace;
  readonly text: HunkText;
  /** The first of its lines, from 0. */
  readonly start: number;
  readonly matching: Matching;
}

/**
 * Returns whether the lines compare as the same text, so that the line number in a hunk's header may choose
 * among places.
 */
const isSameText = (matching: Matching): boolean => matching === "exact" || matching === "endings";

const linesPerStep = 8192;

/** Maximum bytes of a hunk that are compared with the file to explain a misfit. */
export const mostExplainedBytes = 64 * 1024;

/**
 * Finds the places of all hunks in one file. Throws a refusal for the first hunk that has none, or more than
 * one.
 */
export function* fitHunks(file: FilePatch, lines: LineTable, body: LineTable): Steps<FittedHunk[]> {
  const fitter = new HunkFitter(body);
  const fitted: FittedHunk[] = [];
  for (const [index, hunk] of file.hunks.entries()) {
    const place = { path: file.path, number: index + 1, lines: [hunk.first + 1, hunk.end] as const };
    const text = yield* HunkText.read(lines, hunk, file.change === "add");
    if (file.change === "add" && text.oldCount > 0) throw refusePatch.newFileHasLines(place);
    fitted.push(yield* fitter.fit(hunk, text, place));
    yield;
  }
  return fitted;
}

class HunkFitter {
  readonly #body: LineTable;
  readonly #indexes = new Map<Matching, LineIndex>();
  readonly #headings: HeadingFinder;
  readonly #comparisons = new Comparisons();
  /** The line after the last one that the previous hunk changes. */
  #changedUpTo = 0;
  /** The offset of the previous hunk's place, in lines, from the one that its header gives. */
  #drift = 0;

  constructor(body: LineTable) {
    this.#body = body;
    this.#headings = new HeadingFinder(body, {
      indexFor: (matching) => this.#indexFor(matching),
      comparisons: this.#comparisons,
    });
  }

  *fit(hunk: Hunk, text: HunkText, place: HunkPlace): Steps<FittedHunk> {
    const sections = yield* this.#headings.find(hunk.headings, place);
    const found =
      text.oldCount === 0
        ? this.#insertion(hunk, sections, place)
        : ((yield* this.#placeOf(hunk, text, { place, sections })) ??
          (yield* this.#explain(hunk, text, { place, sections })));
    this.#changedUpTo = found.start + text.oldCount - text.trailing;
    if (hunk.linesBefore !== undefined) this.#drift = found.start - hunk.linesBefore;
    return { place, text, ...found };
  }

  /** Finds the place of a hunk. Returns `undefined` if it fits nowhere. */
  *#placeOf(hunk: Hunk, text: HunkText, { place, sections }: Narrowed): Steps<Found | undefined> {
    const stated = hunk.linesBefore === undefined ? undefined : hunk.linesBefore + this.#drift;
    for (const matching of matchings) {
      // Nearly all hunks fit at the line that their header gives, and then no index is needed.
      if (
        stated !== undefined &&
        sections === undefined &&
        isSameText(matching) &&
        (yield* this.#isAt(text, stated, matching))
      )
        return { start: stated, matching };
      const found = yield* this.#findAll(text, yield* this.#indexFor(matching), place);
      const all =
        matching === "exact" && stated === undefined ? yield* this.#withOpenEnd(text, found) : found;
      const starts = narrow(all, sections).filter((start) => this.#isAllowed(hunk, text, start));
      const start = this.#choose(starts, isSameText(matching) ? stated : undefined);
      if (start === undefined) continue;
      if (start === "several")
        throw refusePatch.ambiguousHunk(place, {
          count: starts.length,
          candidates: candidatesAt(
            this.#body.bytes,
            starts.slice(0, 3).map((at) => this.#regionOf(text, at)),
          ),
        });
      return { start, matching: found.includes(start) ? matching : "endings" };
    }
    return undefined;
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
  #insertion({ isAtEnd }: Hunk, sections: readonly HeadingScope[] | undefined, place: HunkPlace): Found {
    const matching = this.#body.count === 0 ? "exact" : "endings";
    if (isAtEnd || this.#body.count === 0) return { start: this.#body.count, matching };
    const starts = (sections ?? []).map(({ from }) => from + 1);
    const start = this.#choose(starts, undefined);
    if (typeof start === "number") return { start, matching };
    throw refusePatch.hunkWithoutContext(place);
  }

  #isAllowed({ isAtEnd }: Hunk, text: HunkText, start: number): boolean {
    return !isAtEnd || start + text.oldCount === this.#body.count;
  }

  /**
   * Chooses the only place; or, of several, the one that the header's line number picks; or the only one
   * after the previous hunk, since hunks stand in the order of the file.
   */
  #choose(starts: readonly number[], stated: number | undefined): number | "several" | undefined {
    if (starts.length <= 1) return starts[0];
    const nearest = stated === undefined ? undefined : clearlyNearest(starts, stated);
    if (nearest !== undefined) return nearest;
    const behind = starts.filter((start) => start >= this.#changedUpTo);
    return behind.length === 1 ? behind[0] : "several";
  }

  *#findAll(text: HunkText, index: LineIndex, place: HunkPlace): Steps<number[]> {
    const pattern = new Int32Array(text.oldCount);
    for (let at = 0; at < pattern.length; at++) {
      if (at % linesPerStep === linesPerStep - 1) yield;
      const { from, to } = text.oldExtentOf(at);
      pattern[at] = index.idOf(text.bytes, [from, to]);
      if (pattern[at]! < 0) return [];
    }
    return yield* index.findAll(pattern, (count) => this.#comparisons.add(count, place));
  }

  *#isAt(text: HunkText, start: number, matching: Matching): Steps<boolean> {
    if (start < 0 || start + text.oldCount > this.#body.count) return false;
    for (let at = 0; at < text.oldCount; at++) {
      if (at % linesPerStep === linesPerStep - 1) yield;
      const { from, to } = text.oldExtentOf(at);
      const extent = [this.#body.startOf(start + at), this.#body.endOf(start + at)] as const;
      const line = comparedPart(matching, this.#body.bytes, extent);
      if (!line.equals(comparedPart(matching, text.bytes, [from, to]))) return false;
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
   * Throws a refusal that says why the hunk fits nowhere: it fits only elsewhere, something resembles it, or
   * nothing does.
   */
  *#explain(hunk: Hunk, text: HunkText, { place, sections }: Narrowed): Steps<never> {
    if (hunk.isAtEnd || sections !== undefined) {
      const [start] = yield* this.#findAll(text, yield* this.#indexFor("blanks"), place);
      const candidates =
        start === undefined ? [] : candidatesAt(this.#body.bytes, [this.#regionOf(text, start)]);
      if (start !== undefined) throw refusePatch.misplacedHunk(place, { isAtEnd: hunk.isAtEnd, candidates });
    }
    const sent = text.oldText(mostExplainedBytes).toString();
    throw refusePatch.hunkNotFound(place, yield* explainMissing(this.#body.bytes, sent));
  }
}

interface Found {
  readonly start: number;
  readonly matching: Matching;
}

interface Narrowed {
  readonly place: HunkPlace;
  readonly sections: readonly HeadingScope[] | undefined;
}

const comparedPart = (matching: Matching, bytes: Buffer, extent: readonly [number, number]): Buffer => {
  const from = comparedFrom(matching, bytes, extent);
  return bytes.subarray(from, comparedTo(matching, bytes, [from, extent[1]]));
};

/** Returns the place nearest to `stated`, if the next one is more than twice as far. */
function clearlyNearest(starts: readonly number[], stated: number): number | undefined {
  let nearest = starts[0]!;
  for (const start of starts) if (Math.abs(start - stated) < Math.abs(nearest - stated)) nearest = start;
  const distance = 2 * Math.abs(nearest - stated);
  return starts.every((start) => start === nearest || Math.abs(start - stated) > distance)
    ? nearest
    : undefined;
}
