import { createTimeSlice, type Steps } from "../../base/scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../base/scheduling/walk-slice.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import { type FirstLeftOut, nothingPassedOver, outcomes, type PassedOver } from "../walk/tally.ts";
import type { FileSink, Walk } from "../walk/walk.ts";
import type { FileResult, QueryResults } from "./kept-results.ts";
import { openListed } from "./listed-folder.ts";
import type { RecordJudge } from "./record-judge.ts";
import { SearchedFiles } from "./searched-files.ts";
import { firstNotBefore, LeftOutCounts, type WalkList, walkedAt } from "./walk-list.ts";
import type { Moment, WatchedFiles } from "./watched-files.ts";

/** A half-open range of list entries. */
export interface ListRange {
  readonly from: number;
  readonly to: number;
}

export interface ReplayOptions {
  readonly list: WalkList;
  readonly jail: Pick<Jail, "reopenFolder">;
  readonly watched: Pick<WatchedFiles, "recordOf" | "confirm" | "forget">;
  readonly judge: RecordJudge;
  /** The results of earlier searches with this query. */
  readonly results: Pick<QueryResults, "matchesIn">;
  /** The moment when the search began. */
  readonly since: Moment;
  /** The part of the list whose stamps are read even if the files are known. */
  readonly scrubbed: ListRange;
  /** The path to start at, as in `WalkOptions.after`. */
  readonly after: string | undefined;
  /** Returns whether the path of the file at an index may match. Absent if paths are not searched. */
  readonly mayMatchPath: ((index: number) => boolean) | undefined;
}

/** The entries that one step of `Replay.select` judges. A path has up to some thousand bytes. */
const entriesPerStep = 512;
/** Maximum files that `Replay.takeSearched` takes at once, so that the search can yield between them. */
const maxSearched = 256;

/**
 * A walk over a list of files, without reading folders from disk. It delivers only the files that have to be
 * searched.
 */
export class Replay
  implements Pick<Walk, "fill" | "passedOver" | "firstLeftOut" | "unmatchedGlobs" | "position" | "close">
{
  readonly #options: ReplayOptions;
  /** The indices of the candidates in the list, and for each the entries passed over before it. */
  readonly #candidates: number[] = [];
  readonly #before: PassedOver[] = [];
  /** The record of each candidate that is unchanged since it was recorded, or -1. */
  readonly #records: number[] = [];
  /** The result in each candidate that need not be read, because an earlier search has found it. */
  readonly #results: (FileResult | undefined)[] = [];
  #total: PassedOver = nothingPassedOver;
  readonly #leftOut: LeftOutCounts;
  /** The first candidate that each sink received. */
  readonly #firsts = new WeakMap<FileSink, number>();
  readonly #name = Buffer.alloc(256);
  #next = 0;
  #folder: { readonly index: number; readonly held: SharedFolder } | undefined;

  private constructor(options: ReplayOptions) {
    this.#options = options;
    this.#leftOut = new LeftOutCounts(options.list);
  }

  /** Selects the files of a list that have to be searched. The list must stay valid until the last step. */
  static *select(options: ReplayOptions): Steps<Replay> {
    const replay = new Replay(options);
    yield* replay.#select();
    return replay;
  }

  /**
   * Takes the next candidates, up to a maximum, whose results are known. Returns `undefined` if the next one
   * has to be searched.
   */
  takeSearched(): SearchedFiles | undefined {
    const from = this.#next;
    const end = Math.min(from + maxSearched, this.#candidates.length);
    while (this.#next < end && this.#results[this.#next] !== undefined) this.#next++;
    if (this.#next === from) return undefined;
    return new SearchedFiles({
      list: this.#options.list,
      entries: this.#candidates.slice(from, this.#next),
      results: this.#results.slice(from, this.#next) as FileResult[],
      passedOver: this.#before.slice(from, this.#next),
    });
  }

  /**
   * Implements `Walk.fill`. Ends before candidates that `takeSearched` may take next. Throws `TreeChanged` if
   * a folder has changed.
   */
  fill(sink: FileSink): boolean {
    const slice = createTimeSlice(sliceMilliseconds);
    const { keys, folders } = this.#options.list;
    const from = this.#next;
    this.#firsts.set(sink, from);
    while (this.#next < this.#candidates.length) {
      if (slice.isDue) return true;
      if (this.#next > from && this.#results[this.#next] !== undefined) return true;
      const index = this.#candidates[this.#next]!;
      const held = this.#enter(folders[index]!);
      const key = keys[index]!;
      this.#name.write(key, 0, key.length, "latin1");
      if (!sink.add(held, this.#name, 0, key.length)) return true;
      this.#next++;
    }
    return false;
  }

  get passedOver(): PassedOver {
    return this.#before[this.#next] ?? this.#total;
  }

  get firstLeftOut(): FirstLeftOut {
    return this.#leftOut;
  }

  get unmatchedGlobs(): WalkList["unmatchedGlobs"] {
    return this.#options.list.unmatchedGlobs;
  }

  get position(): string | undefined {
    const index = this.#candidates[this.#next];
    return index === undefined ? undefined : walkedAt(this.#options.list, index);
  }

  /** Returns the record of each file of the sink that is unchanged since it was recorded, or -1. */
  recordsIn(sink: FileSink, count: number): Int32Array {
    const first = this.#firsts.get(sink)!;
    return Int32Array.from(this.#records.slice(first, first + count));
  }

  /** Notes that files of the sink, given by their indices there, have the stamps of these records. */
  confirm(sink: FileSink, known: Int32Array | readonly number[]): void {
    const { list, watched, judge, since } = this.#options;
    const first = this.#firsts.get(sink)!;
    for (let at = 0; at < known.length; at += 2) {
      const [index, record] = [known[at]!, known[at + 1]!];
      if (judge.isReported(record))
        watched.confirm(list.files[this.#candidates[first + index]!]!, record, since);
    }
  }

  close(): void {
    this.#folder?.held.release();
    this.#folder = undefined;
    this.#next = this.#candidates.length;
  }

  #enter(index: number): SharedFolder {
    if (this.#folder?.index === index) return this.#folder.held;
    this.#folder?.held.release();
    this.#folder = undefined;
    const place = this.#options.list.places[index]!;
    const held = new SharedFolder(openListed(this.#options.jail, place), undefined, place.walked);
    this.#folder = { index, held };
    return held;
  }

  /**
   * Forgets the records of the scrubbed part, also before this page: the next search that gets there reads
   * the stamps.
   */
  #forgetScrubbed(): void {
    const { list, watched, scrubbed } = this.#options;
    for (const file of list.files.slice(scrubbed.from, scrubbed.to)) if (file >= 0) watched.forget(file);
  }

  /** Selects the candidates, and counts all entries that are passed over. */
  *#select(): Steps<void> {
    const { list, watched, judge, mayMatchPath, after, results } = this.#options;
    this.#forgetScrubbed();
    const passed = { ...nothingPassedOver };
    let before: PassedOver | undefined;
    const first = firstNotBefore(list, after);
    const resumed = list.files[first] !== undefined && walkedAt(list, first) === after ? first : -1;
    for (let index = first; index < list.files.length; index++) {
      if (index % entriesPerStep === 0) yield;
      const file = list.files[index]!;
      const record = file < 0 ? -1 : watched.recordOf(file);
      // The record may be newer than the state that a search saw, and say that the file got another name.
      const isKnown = record >= 0 && judge.isReported(record);
      const outcome = isKnown ? judge.outcomeOf(record) : undefined;
      // Only a part of the file that ended the last page may count.
      const mayCount = mayMatchPath?.(index) === true || index === resumed;
      const isCandidate = outcome === undefined || mayCount;
      if (file >= 0 && isCandidate) {
        const { excluded, ignored, denied } = this.#leftOut;
        before ??= { ...passed, excluded, ignored, denied };
        this.#candidates.push(index);
        this.#before.push(before);
        this.#records.push(isKnown ? record : -1);
        this.#results.push(isKnown && !mayCount ? results.matchesIn(record) : undefined);
        continue;
      }
      before = undefined;
      if (outcome === undefined) this.#leftOut.count(index);
      else if (outcome === outcomes.tooLarge) passed.tooLarge++;
      else if (outcome === outcomes.binary) passed.binary++;
      else {
        passed.files++;
        passed.bytes += outcome;
      }
    }
    const { excluded, ignored, denied } = this.#leftOut;
    this.#total = { ...passed, excluded, ignored, denied };
  }
}
