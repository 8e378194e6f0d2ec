/**
 * Lets threads search the paths in later parts of a walk while this thread walks the first part. The whole keeps the order of the
 * walk: each part is a range of it, and what was found in a range is taken once the walk is there. A range that a thread has not
 * searched to its end by then is stopped, and the walk goes on in it, or splits it again.
 */
import type { Files } from "../files/files.ts";
import type { Jail, PostedFolder } from "../jail/folder.ts";
import type { Pool, PoolJob } from "../threads/pool.ts";
import type { SearchAnswerBuilder } from "./answer.ts";
import {
  type FoundInRange,
  nothingInRange,
  type PathRangeJob,
  type RangeRules,
  rangeStates,
  type TemporaryFiles,
} from "./path-range.ts";
import { postFilter } from "./posted-filter.ts";
import type { SharedFolder } from "./shared-folder.ts";
import type { SearchOptions } from "./state.ts";
import type { SearchJob, ThreadReply } from "./thread.ts";
import { Walk, type WalkOptions } from "./walk.ts";

/** Time slices that this thread walks alone: most searches are over by then, and start no thread. */
const slicesAlone = 4;
/** Most paths that a thread finds in a range, which wait until the walk is there. */
const mostPaths = 4096;
/** Paths that are added between two checks of the clock. */
const pathsPerClockCheck = 64;
/** Milliseconds after which the job of a search that is over is cancelled, if no thread has begun it. */
const grace = 200;

/** What can be posted of a search. */
interface PostedSearch {
  readonly start: PostedFolder;
  readonly rules: RangeRules;
}

export interface RangesOptions
  extends Pick<SearchOptions, "request" | "deadline" | "slice" | "folder" | "state"> {
  readonly walk: WalkOptions & { readonly jail: Jail };
  readonly answer: SearchAnswerBuilder;
}

/** The ranges of one search. */
export class RangesAhead {
  readonly #options: RangesOptions;
  readonly #pool: Pool<SearchJob, ThreadReply>;
  readonly #posted: PostedSearch;
  /** The nearest last. */
  readonly #ranges: PathRange[] = [];
  /** Where the range ends that this thread walks. */
  #before: string | undefined;
  #slices = 0;
  #isCut = false;
  #walk: Walk | undefined;

  private constructor(options: RangesOptions, pool: Pool<SearchJob, ThreadReply>, posted: PostedSearch) {
    this.#options = options;
    this.#pool = pool;
    this.#posted = posted;
  }

  /** Undefined where the walk cannot be split, or threads would not make it faster. */
  static open(options: RangesOptions): RangesAhead | undefined {
    const { pool, rangesAhead = 0 } = options.state;
    const { jail, ignoreFiles, only } = options.walk;
    if (pool === undefined || rangesAhead === 0 || ignoreFiles !== undefined || only !== undefined)
      return undefined;
    const start = options.folder.folder.post?.();
    const filter = postFilter(options.walk);
    const deny = jail.postedRules;
    if (start === undefined || filter === undefined || deny === undefined) return undefined;
    return new RangesAhead(options, pool, { start, rules: { deny, filter } });
  }

  /** Posts a later part of the walk to a thread, if one has nothing to do. To be called after each time slice. */
  post(walk: Walk): void {
    if (++this.#slices <= slicesAlone) return;
    const { rangesAhead = 0 } = this.#options.state;
    if (this.#ranges.filter((range) => !range.isSettled).length >= rangesAhead) return;
    const after = walk.split();
    if (after === undefined) return;
    const before = this.#before;
    const { folder, request } = this.#options;
    const { query, maxMatches } = request;
    const maxPaths = Math.min(mostPaths, maxMatches + 1);
    const job = { ...this.#posted, what: "paths", query, after, before, maxPaths } as const;
    this.#ranges.push(new PathRange(job, folder, this.#pool));
    this.#before = after;
  }

  /** Whether the deadline passed before a thread had stopped. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * Adds to the answer what threads have found after the range that was walked, and returns a walk of the next range that they
   * have not searched to its end; undefined when there is none, or when the answer is full or the deadline has passed. It closes
   * the walk that it returned before.
   */
  async continue(): Promise<Walk | undefined> {
    const { answer, deadline, walk, folder } = this.#options;
    while (!answer.isFull) {
      const range = this.#ranges.pop();
      const found = await range?.finish(deadline.signal);
      if (range === undefined) return undefined;
      if (found === undefined) {
        this.#isCut = true;
        return undefined;
      }
      await this.#add(found);
      if (found.stoppedAt === undefined) continue;
      this.#before = range.before;
      this.#walk?.close();
      this.#walk = new Walk(folder, { ...walk, after: found.stoppedAt, before: range.before });
      return this.#walk;
    }
    return undefined;
  }

  async #add({ paths, isTooDeep, temporary }: FoundInRange): Promise<void> {
    const { answer, walk, slice } = this.#options;
    for (const [index, path] of paths.split("\0").slice(0, -1).entries()) {
      if (answer.isFull) break;
      answer.addPath(path);
      if (index % pathsPerClockCheck === 0 && slice.isDue) await slice.yieldIfDue();
    }
    if (isTooDeep) walk.onTooDeep();
    for (const one of temporary) sweep(walk, one);
  }

  /** Stops the threads, and closes the walk that it returned. */
  end(): void {
    this.#walk?.close();
    for (const range of this.#ranges.splice(0)) range.end();
  }
}

/** A part of a walk, from one path up to another, that a thread searches. */
class PathRange {
  readonly before: string | undefined;
  readonly #after: string;
  readonly #state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #running: PoolJob<ThreadReply> | undefined;
  readonly #settled: Promise<FoundInRange>;
  #isSettled = false;
  #hasBegun = false;

  /** Holds the folder until no thread uses it. */
  constructor(job: Omit<PathRangeJob, "state">, folder: SharedFolder, pool: Pool<SearchJob, ThreadReply>) {
    this.before = job.before;
    this.#after = job.after;
    try {
      this.#running = pool.run({ ...job, state: this.#state });
    } catch {
      // No thread can start.
    }
    folder.hold();
    const settle = (found: FoundInRange) => {
      this.#isSettled = true;
      folder.release();
      return found;
    };
    const nothing = nothingInRange(job.after);
    this.#settled = Promise.resolve(this.#running?.reply ?? nothing).then(
      (found) => settle(found as FoundInRange),
      () => settle(nothing),
    );
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Stops the thread, and resolves with what it has found; with nothing if it has not begun, undefined when the signal aborts. */
  async finish(signal: AbortSignal): Promise<FoundInRange | undefined> {
    this.#stop();
    if (!this.#hasBegun && !this.#isSettled) return nothingInRange(this.#after);
    if (this.#isSettled || !signal.aborted) {
      const aborted = new Promise<undefined>((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
      });
      const found = await Promise.race([this.#settled, aborted]);
      if (found !== undefined) return found;
    }
    this.end();
    return undefined;
  }

  /** Stops the thread. The pool would end one that has begun in the middle, and the folders that it holds would stay open. */
  end(): void {
    this.#stop();
    if (this.#isSettled || this.#hasBegun) return;
    const timer = setTimeout(() => this.#running?.cancel(), grace);
    void this.#settled.then(() => clearTimeout(timer));
  }

  #stop(): void {
    const before = Atomics.exchange(this.#state, 0, rangeStates.stopped);
    if (before === rangeStates.begun) this.#hasBegun = true;
  }
}

/** A sweep need not succeed: the next walk finds the same files. */
function sweep(
  { jail, files }: { readonly jail: Jail; readonly files: Pick<Files, "sweepFolder"> },
  { folder: path, entries }: TemporaryFiles,
): void {
  try {
    using folder = jail.reopenFolder(path);
    // Names of ours are text.
    files.sweepFolder(
      folder,
      entries.filter(({ raw }) => typeof raw === "string"),
    );
  } catch {
    // The folder is gone.
  }
}
