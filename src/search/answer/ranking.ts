/** The paths that match a query fuzzily, best first (coder §16). */
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { itemsPerStep, mergeSort } from "../../base/scheduling/merge-sort.ts";
import { runInSlices, type Steps, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { FuzzyPattern } from "../matchers/fuzzy.ts";
import { isRankedAfter, type Place, type RankedPlace } from "../place.ts";
import type { SearchRequest } from "../request.ts";
import type { SharedFolder } from "../walk/shared-folder.ts";
import type { FirstLeftOut, PassedOver } from "../walk/tally.ts";
import { type FileSink, Walk, type WalkOptions } from "../walk/walk.ts";
import type { SearchAnswerBuilder } from "./answer.ts";
import type { ResultPage } from "./result-page.ts";

interface RankedPath {
  readonly path: string;
  readonly place: RankedPlace;
}

interface Ranking {
  readonly paths: readonly RankedPath[];
  /** Whether all paths were seen before the search had to end. */
  readonly isWhole: boolean;
  /** The number of files that were seen. */
  readonly files: number;
  /** The number of folders that could not be read. */
  readonly unreadable: number;
  /** The files and folders that the walk left out. */
  readonly passedOver: PassedOver;
  readonly firstLeftOut: FirstLeftOut;
}

interface RankingOptions {
  readonly request: SearchRequest;
  readonly folder: SharedFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep">;
  readonly onTooDeep: () => void;
  readonly slice: TimeSlice;
  readonly deadline: Deadline;
  /** Returns whether the worker is shutting down. */
  readonly isClosed: () => boolean;
}

/** Minimum bytes of a match in an answer. */
const bytesOfMatch = '{"path":"a"},'.length;

/**
 * Adds the ranked paths after the start of the page to the answer. Returns false if the page has to end
 * before all paths are known, because a rank is relative to all of them. Throws a refusal for the start.
 */
export async function addRankedPaths(
  answer: SearchAnswerBuilder,
  page: ResultPage | undefined,
  options: RankingOptions,
): Promise<boolean> {
  const after = options.request.page?.after;
  if (answer.wantsPaths && (after === undefined || after.rank !== undefined)) {
    const ranking = await rankPaths(options, after);
    if (!ranking.isWhole) answer.cut();
    if (!ranking.isWhole && page !== undefined) return false;
    for (const { path, place } of ranking.paths) {
      if (options.slice.isDue) await options.slice.yieldIfDue();
      answer.add(path, { index: 0, isInPath: true, lines: [], count: 0 });
      if (answer.lastAdded !== undefined) page?.noteRanked(place);
    }
    if (answer.stoppedBy === undefined) page?.endRanked();
    if (!answer.wantsContent) page?.countRanked(ranking);
  }
  answer.endPaths();
  return true;
}

/** Returns the best paths after `after`, one more than an answer can hold. Throws a refusal for the start. */
async function rankPaths(
  { request, folder, walk: options, onTooDeep, slice, deadline, isClosed }: RankingOptions,
  after: Place | undefined,
): Promise<Ranking> {
  const most = Math.min(request.maxMatches, Math.floor(request.maxAnswerBytes / bytesOfMatch)) + 1;
  const best = new BestPaths(new FuzzyPattern(request.query.pattern), most, after);
  let unreadable = 0;
  const walk = new Walk(folder, {
    ...options,
    onTooDeep,
    onUnreadable: () => {
      unreadable++;
    },
  });
  let isWhole = true;
  try {
    while (isWhole && walk.fill(best)) {
      if (best.isFull) await runInSlices(best.drop(), slice);
      await slice.yieldIfDue();
      isWhole = deadline.left > 0 && !isClosed();
    }
  } finally {
    walk.close();
  }
  const { passedOver, firstLeftOut } = walk;
  const paths = await runInSlices(best.take(), slice);
  return { paths, isWhole, files: best.files, unreadable, passedOver, firstLeftOut };
}

/** Characters of paths, times those of the query, that are compared in one step. */
const comparedPerStep = 256 * 1024;

/** The characters of the query that a character of a path is worth whatever the query. */
const ownComparisons = 16;

/** Collects the best paths of a walk. */
export class BestPaths implements FileSink {
  files = 0;
  readonly #pattern: FuzzyPattern;
  readonly #most: number;
  readonly #after: RankedPlace | undefined;
  /** The paths so far, at most twice as many as are useful. */
  #paths: RankedPath[] = [];
  /** The length of the longest path. */
  #longest = 0;
  /** The comparisons of this step. */
  #compared = 0;

  constructor(pattern: FuzzyPattern, most: number, after: Place | undefined) {
    this.#pattern = pattern;
    this.#most = most;
    this.#after = after?.rank === undefined ? undefined : { ...after, rank: after.rank };
  }

  /** Whether paths have to be dropped before one is added. */
  get isFull(): boolean {
    return this.#paths.length >= 2 * this.#most;
  }

  /** Adds a file if it matches, unless the step is over. */
  add(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean {
    if (this.isFull) return false;
    if (this.#compared >= comparedPerStep) {
      this.#compared = 0;
      return false;
    }
    this.files++;
    const path = folder.prefix + bytes.toString("utf8", from, to);
    const rank = this.#pattern.score(path);
    this.#compared += path.length * (ownComparisons + (rank === undefined ? 0 : this.#pattern.length));
    if (rank === undefined) return true;
    const file = folder.walked + bytes.toString("latin1", from, to);
    const place = { file, rank, line: 0, column: 0 };
    if (this.#after !== undefined && !isRankedAfter(place, this.#after)) return true;
    this.#longest = Math.max(this.#longest, file.length);
    this.#paths.push({ path, place });
    return true;
  }

  /** Drops all but the best paths. */
  *drop(): Steps<void> {
    this.#paths = yield* this.take();
  }

  /** Returns the best paths, in order. */
  *take(): Steps<RankedPath[]> {
    const isBefore = (one: RankedPath, other: RankedPath) => isRankedAfter(other.place, one.place);
    return (yield* mergeSort(this.#paths, isBefore, itemsPerStep(this.#longest))).slice(0, this.#most);
  }
}
