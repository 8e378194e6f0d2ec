import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../base/scheduling/walk-slice.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import { type FirstLeftOut, nothingPassedOver, outcomes, type PassedOver } from "../walk/tally.ts";
import type { FileSink, Walk } from "../walk/walk.ts";
import { openListed } from "./listed-folder.ts";
import type { RecordJudge } from "./record-judge.ts";
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
  /** The moment when the search began. */
  readonly since: Moment;
  /** The part of the list whose stamps are read even if the files are known. */
  readonly scrubbed: ListRange;
  /** The path to start at, as in `WalkOptions.after`. */
  readonly after: string | undefined;
  /** Returns whether the path of the file at an index may match. Absent if paths are not searched. */
  readonly mayMatchPath: ((index: number) => boolean) | undefined;
}

/**
 * A walk over a list of files, without reading folders from disk. It delivers only the files that have to be
 * searched, and selects them all at once, so that they reflect a single moment.
 */
export class Replay
  implements Pick<Walk, "fill" | "passedOver" | "firstLeftOut" | "unmatchedGlobs" | "position" | "close">
{
  readonly #options: ReplayOptions;
  /** The indices of the candidates in the list, and for each the entries passed over before it. */
  readonly #candidates: number[] = [];
  readonly #before: PassedOver[] = [];
  readonly #total: PassedOver;
  readonly #leftOut: LeftOutCounts;
  /** The first candidate that each sink received. */
  readonly #firsts = new WeakMap<FileSink, number>();
  readonly #name = Buffer.alloc(256);
  #next = 0;
  #folder: { readonly index: number; readonly held: SharedFolder } | undefined;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#leftOut = new LeftOutCounts(options.list);
    this.#total = this.#select();
  }

  /** Implements `Walk.fill`. Throws `TreeChanged` if a folder has changed. */
  fill(sink: FileSink): boolean {
    const slice = createTimeSlice(sliceMilliseconds);
    const { keys, folders } = this.#options.list;
    this.#firsts.set(sink, this.#next);
    while (this.#next < this.#candidates.length) {
      if (slice.isDue) return true;
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

  /** Selects the candidates, and returns the counts of all entries that are passed over. */
  #select(): PassedOver {
    const { list, watched, judge, mayMatchPath, after } = this.#options;
    this.#forgetScrubbed();
    const passed = { ...nothingPassedOver };
    let before: PassedOver | undefined;
    const first = firstNotBefore(list, after);
    const resumed = list.files[first] !== undefined && walkedAt(list, first) === after ? first : -1;
    for (let index = first; index < list.files.length; index++) {
      const file = list.files[index]!;
      const record = file < 0 ? -1 : watched.recordOf(file);
      // The record may be newer than the state that a search saw, and say that the file got another name.
      const outcome = record < 0 || !judge.isReported(record) ? undefined : judge.outcomeOf(record);
      // Only a part of the file that ended the last page may count.
      const isCandidate = outcome === undefined || mayMatchPath?.(index) === true || index === resumed;
      if (file >= 0 && isCandidate) {
        const { excluded, ignored, denied } = this.#leftOut;
        before ??= { ...passed, excluded, ignored, denied };
        this.#candidates.push(index);
        this.#before.push(before);
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
    return { ...passed, excluded, ignored, denied };
  }
}
