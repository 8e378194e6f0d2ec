/** Finds the parts of a file that the `@@` lines of a hunk name. */

import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { explainMissing } from "../edits/explain-miss.ts";
import { firstAtLeast } from "./ascending.ts";
import type { Comparisons } from "./comparisons.ts";
import type { LineIndex } from "./line-index.ts";
import type { LineTable } from "./line-table.ts";
import { comparedFrom, comparedTo, type Matching } from "./matching.ts";
import { type HunkReference, refusePatch } from "./patch-errors.ts";

/**
 * A line and its section: the lines that are indented deeper, up to and including the first that is not.
 * Lines count from 0; `to` is not included.
 */
export interface HeadingScope {
  readonly from: number;
  readonly to: number;
}

/** The ways to compare a heading with lines, the strictest first. */
const headingMatchings = ["endings", "trailing-blanks", "blanks"] as const;

const headingsPerStep = 512;

/** Comparisons of numbers that take as long as comparing one beginning. */
const costOfBeginning = 8;

const linesPerStep = 65_536;

/** Maximum lines that a heading may name. */
const maxScopes = 10_000;

type Compare = (count: number) => void;

interface Searching {
  readonly indexFor: (matching: Matching) => Steps<LineIndex>;
  readonly comparisons: Comparisons;
}

export class HeadingFinder {
  readonly #body: LineTable;
  readonly #indexFor: Searching["indexFor"];
  readonly #comparisons: Comparisons;
  /** The depth of each line plus one, or 0 until it is known; `undefined` until one is needed. */
  #depths: Uint32Array | undefined;

  constructor(body: LineTable, { indexFor, comparisons }: Searching) {
    this.#body = body;
    this.#indexFor = indexFor;
    this.#comparisons = comparisons;
  }

  /** Returns the sections of the innermost heading, or `undefined` if there are no headings. */
  *find(headings: readonly string[], place: HunkReference): Steps<readonly HeadingScope[] | undefined> {
    let sections: readonly HeadingScope[] | undefined;
    for (const [at, heading] of headings.entries()) {
      if (at % headingsPerStep === headingsPerStep - 1) yield;
      const compare = (count: number) => this.#comparisons.add(count, place);
      const lines = yield* this.#linesOf(heading, sections, compare);
      if (lines.length === 0)
        throw refusePatch.headingNotFound(place, {
          heading,
          ...(yield* explainMissing(this.#body.bytes, heading)),
        });
      // A heading that occurs nearly everywhere narrows nothing.
      if (lines.length <= maxScopes) sections = yield* this.#sectionsOf(lines, compare);
    }
    return sections;
  }

  /**
   * Returns the lines that a heading names: those inside the enclosing sections, or else those after the
   * first of them.
   */
  *#linesOf(
    heading: string,
    sections: readonly HeadingScope[] | undefined,
    compare: Compare,
  ): Steps<readonly number[]> {
    const bytes = Buffer.from(heading);
    for (const matching of headingMatchings) {
      const index: LineIndex = yield* this.#indexFor(matching);
      const id = index.idOf(bytes, [0, bytes.length]);
      const pattern = Int32Array.of(id);
      compare(index.costOf(pattern));
      const lines = yield* narrow(yield* index.findAll(pattern), sections);
      if (lines.length > 0) return lines;
    }
    compare(costOfBeginning * this.#body.count);
    return yield* narrow(yield* this.#linesThatBegin(bytes), sections);
  }

  /** Returns the lines that begin with the heading, which may have been cut. */
  *#linesThatBegin(heading: Buffer): Steps<readonly number[]> {
    const { bytes } = this.#body;
    const start = comparedFrom("blanks", heading, [0, heading.length]);
    const wanted = heading.subarray(start, comparedTo("blanks", heading, [start, heading.length]));
    const lines: number[] = [];
    const steps = new LineSteps();
    for (let line = 0; line < this.#body.count && wanted.length > 0; line++) {
      const first = this.#body.startOf(line);
      const from = comparedFrom("blanks", bytes, [first, this.#body.endOf(line)]);
      if (steps.isDueAfter(from - first + wanted.length)) yield;
      if (bytes.subarray(from, from + wanted.length).equals(wanted)) lines.push(line);
    }
    return lines;
  }

  /** Returns the sections of some lines, which are in ascending order, in one pass over them. */
  *#sectionsOf(lines: readonly number[], compare: Compare): Steps<readonly HeadingScope[]> {
    const ends = new Uint32Array(lines.length);
    /** The lines whose sections have not ended, by their indices. Each is deeper than the one before it. */
    const open: number[] = [];
    const steps = new LineSteps();
    for (let next = 0, line = 0; next < lines.length || open.length > 0; line++) {
      if (open.length === 0) line = lines[next]!;
      const isEnd = line === this.#body.count;
      const depth = isEnd ? 0 : this.#depthOf(line);
      compare(1);
      while (open.length > 0 && (isEnd || depth <= this.#depthOf(lines[open.at(-1)!]!)))
        ends[open.pop()!] = Math.min(line + 1, this.#body.count);
      if (line === lines[next]) open.push(next++);
      if (steps.isDueAfter(Math.min(depth, this.#lengthOf(line)))) yield;
    }
    return lines.map((from, at) => ({ from, to: ends[at]! }));
  }

  /** Returns the bytes of blanks that a line begins with. An empty line counts as deepest. */
  #depthOf(line: number): number {
    this.#depths ??= new Uint32Array(this.#body.count);
    const known = this.#depths[line]!;
    if (known > 0) return known - 1;
    const extent = [this.#body.startOf(line), this.#body.endOf(line)] as const;
    const from = comparedFrom("blanks", this.#body.bytes, extent);
    const depth = from === extent[1] ? deepest : from - comparedFrom("endings", this.#body.bytes, extent);
    this.#depths[line] = depth + 1;
    return depth;
  }

  #lengthOf(line: number): number {
    return this.#body.endOf(line) - this.#body.startOf(line);
  }
}

/** The depth of a line without text. */
const deepest = 2 ** 32 - 2;

/**
 * Returns the lines in one of the sections, or else those after the first line of the first section. Both
 * lists are in ascending order.
 */
export function* narrow(
  lines: readonly number[],
  sections: readonly HeadingScope[] | undefined,
): Steps<readonly number[]> {
  if (sections === undefined) return lines;
  const inside: number[] = [];
  for (let at = 0, end = 0, line = 0; line < lines.length; line++) {
    for (; at < sections.length && sections[at]!.from <= lines[line]!; at++)
      end = Math.max(end, sections[at]!.to);
    if (lines[line]! < end) inside.push(lines[line]!);
    if (line % linesPerStep === linesPerStep - 1) yield;
  }
  const from = sections[0]?.from ?? Number.POSITIVE_INFINITY;
  return inside.length > 0 ? inside : lines.slice(firstAtLeast(lines, from + 1));
}
