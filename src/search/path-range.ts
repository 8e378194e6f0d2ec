/** A search of the paths in a part of a walk, in a thread. */

import type { Entry } from "../files/types.ts";
import { compileGlobSet } from "../globs/glob-set.ts";
import { type DenyRules, denyRules } from "../jail/deny.ts";
import { adoptFolder } from "../jail/descriptor-folder.ts";
import type { PostedDenyRules, PostedFolder } from "../jail/folder.ts";
import type { EntryFilterOptions } from "./entry-filter.ts";
import { PathLiteral } from "./path-literal.ts";
import { filterOf, type PostedFilter } from "./posted-filter.ts";
import type { Query } from "./query-compiler.ts";
import { SharedFolder } from "./shared-folder.ts";
import { type FileSink, Walk } from "./walk.ts";

/** Whether a thread has begun with a range, and whether it is to stop. Begun or stopped at first, never both. */
export const rangeStates = { posted: 0, begun: 1, stopped: 2 } as const;

/** Milliseconds after which a thread stops by itself: it has other jobs, and the pool would take it for stuck. */
const longest = 100;

/** Decides which entries a walk takes. */
export interface RangeRules {
  readonly deny: PostedDenyRules;
  readonly filter: PostedFilter;
}

/** A range, as a message to a thread. */
export interface PathRangeJob {
  readonly what: "paths";
  /** Held open until the reply. */
  readonly start: PostedFolder;
  readonly rules: RangeRules;
  readonly query: Pick<Query, "pattern" | "ignoreCase">;
  /** See `WalkOptions`. */
  readonly after: string;
  readonly before: string | undefined;
  /** Most paths to find. */
  readonly maxPaths: number;
  /** One of `rangeStates`. */
  readonly state: Int32Array;
}

export interface FoundInRange {
  /** The paths that match, in order, each followed by a NUL. */
  readonly paths: string;
  /** A folder was too deep to enter. */
  readonly isTooDeep: boolean;
  /** What may be left of killed processes: the temporary files that were found, by folder. */
  readonly temporary: readonly TemporaryFiles[];
  /** The path to go on at, in the form of `WalkOptions.after`; undefined when the range was searched to its end. */
  readonly stoppedAt: string | undefined;
}

export interface TemporaryFiles {
  /** The path of the folder, from the base. */
  readonly folder: string;
  readonly entries: readonly Entry[];
}

/** Of a range in which nothing was searched. */
export const nothingInRange = (after: string): FoundInRange => ({
  paths: "",
  isTooDeep: false,
  temporary: [],
  stoppedAt: after,
});

/**
 * Creates the function that searches ranges. What it cannot search it leaves to the caller, who meets the reason: then it has
 * found nothing.
 */
export function createRangeSearch(): (job: PathRangeJob) => FoundInRange {
  let known: { readonly key: string; readonly rules: CompiledRules } | undefined;
  const rulesOf = (posted: RangeRules): CompiledRules => {
    const key = JSON.stringify(posted);
    if (known?.key !== key) known = { key, rules: compileRules(posted) };
    return known.rules;
  };
  return (job) => {
    const { posted, begun } = rangeStates;
    if (Atomics.compareExchange(job.state, 0, posted, begun) !== posted) return nothingInRange(job.after);
    try {
      return searchRange(job, rulesOf(job.rules));
    } catch {
      return nothingInRange(job.after);
    }
  };
}

interface CompiledRules {
  readonly deny: DenyRules;
  readonly filter: EntryFilterOptions;
}

const compileRules = ({ deny, filter }: RangeRules): CompiledRules => ({
  deny: denyRules(compileGlobSet(deny.globs, Number.POSITIVE_INFINITY), deny.folds),
  filter: filterOf(filter),
});

/** Throws a refusal, or the errno error of a lack of resources. */
function searchRange(job: PathRangeJob, { deny, filter }: CompiledRules): FoundInRange {
  const { after, before, state } = job;
  const sink = new RangeSink(job);
  const ends = performance.now() + longest;
  const mustStop = () =>
    sink.isFull || performance.now() >= ends || Atomics.load(state, 0) === rangeStates.stopped;
  const temporary: TemporaryFiles[] = [];
  let isTooDeep = false;
  using folder = adoptFolder(job.start);
  const start = new SharedFolder(folder);
  const walk = new Walk(start, {
    ...filter,
    jail: deny,
    // A thread does not know which changes are under way.
    files: { sweepFolder: ({ path }, entries) => temporary.push({ folder: path, entries }) },
    after,
    before,
    onTooDeep: () => {
      isTooDeep = true;
    },
  });
  try {
    while (walk.fill(sink))
      if (mustStop()) return { paths: sink.paths, isTooDeep, temporary, stoppedAt: placeIn(walk, after) };
    return { paths: sink.paths, isTooDeep, temporary, stoppedAt: undefined };
  } finally {
    walk.close();
    start.release();
  }
}

/** Where the walk is, which may still be on its way to where it starts. */
function placeIn({ position }: Walk, after: string): string | undefined {
  return position === undefined || position > after ? position : after;
}

/** Collects the paths that match. */
class RangeSink implements FileSink {
  paths = "";
  readonly #literal: PathLiteral;
  #left: number;

  constructor({ query, maxPaths }: PathRangeJob) {
    this.#literal = new PathLiteral(query);
    this.#left = maxPaths;
  }

  get isFull(): boolean {
    return this.#left === 0;
  }

  mayTake(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean {
    return this.#literal.matches(folder, bytes, from, to);
  }

  /** The walk keeps what may match alone. */
  add(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean {
    if (this.isFull) return false;
    this.paths += `${folder.prefix + bytes.toString("utf8", from, to)}\0`;
    this.#left--;
    return true;
  }
}
