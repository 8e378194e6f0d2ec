import type { Jail } from "../../jail/folder.ts";
import { createTimeSlice } from "../../scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../scheduling/walk-slice.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import { type FirstLeftOut, nothingPassedOver, outcomes, type PassedOver } from "../walk/tally.ts";
import type { FileSink, Walk } from "../walk/walk.ts";
import { openListed } from "./listed-folder.ts";
import type { RecordJudge } from "./record-judge.ts";
import { firstNotBefore, LeftOutCounts, type WalkList, walkedAt } from "./walk-list.ts";
import type { Moment, WatchedFiles } from "./watched-files.ts";

/** Entries of a list from an index up to another. */
export interface ListRange {
  readonly from: number;
  readonly to: number;
}

export interface ReplayOptions {
  readonly list: WalkList;
  readonly jail: Pick<Jail, "reopenFolder">;
  readonly watched: Pick<WatchedFiles, "recordOf" | "confirm" | "forget">;
  readonly judge: RecordJudge;
  /** When the search began. */
  readonly since: Moment;
  /** The part of the list, from an index up to another, whose stamps it asks for whatever is known of them. */
  readonly scrubbed: ListRange;
  /** See `WalkOptions.after`. */
  readonly after: string | undefined;
  /** Whether the path of the file at an index may match; undefined where paths are not searched. */
  readonly mayMatchPath: ((index: number) => boolean) | undefined;
}

/**
 * A walk over a list of files that the disk is not asked for: it hands on only the files that have to be looked at. Which these
 * are, it decides at once, and so as of one moment.
 */
export class Replay
  implements Pick<Walk, "fill" | "passedOver" | "firstLeftOut" | "unmatchedGlobs" | "position" | "close">
{
  readonly #options: ReplayOptions;
  /** Indices in the list, and for each what was passed over before it. */
  readonly #candidates: number[] = [];
  readonly #before: PassedOver[] = [];
  readonly #total: PassedOver;
  readonly #leftOut: LeftOutCounts;
  /** For each sink the first candidate that went there. */
  readonly #firsts = new WeakMap<FileSink, number>();
  readonly #name = Buffer.alloc(256);
  #next = 0;
  #folder: { readonly index: number; readonly held: SharedFolder } | undefined;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#leftOut = new LeftOutCounts(options.list);
    this.#total = this.#select();
  }

  /** As `Walk.fill`. Throws `TreeChanged` where a folder is no longer what it was. */
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

  /** The files that went to the sink, by their indices there, have the stamps of these records. */
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

  /** Also of the part that lies before this page: the next search that comes there asks for the stamps. */
  #forgetScrubbed(): void {
    const { list, watched, scrubbed } = this.#options;
    for (const file of list.files.slice(scrubbed.from, scrubbed.to)) if (file >= 0) watched.forget(file);
  }

  /** Finds the candidates, and returns what is passed over in all. */
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
      // The record of a file may be newer than what a search has seen of it, and say that it got another name.
      const outcome = record < 0 || !judge.isReported(record) ? undefined : judge.outcomeOf(record);
      // Of the file that the last page ended in, not all may count.
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
