import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../base/scheduling/walk-slice.ts";
import type { PathFolder } from "../matchers/path-literal.ts";
import { type FirstLeftOut, nothingPassedOver, type PassedOver } from "../walk/tally.ts";
import type { Walk } from "../walk/walk.ts";
import { firstNotBefore, LeftOutCounts, type WalkList, walkedAt } from "./walk-list.ts";

/** Takes the paths of files, like `FileSink`. */
export interface PathTaker {
  add(folder: PathFolder & { readonly walked: string }, bytes: Buffer, from: number, to: number): boolean;
}

/** The number of entries between two checks of the clock. */
const entriesPerClockCheck = 256;
/** Maximum bytes of a name on Linux. */
const maxNameLength = 255;

/** A walk over the paths of a list, for searches of paths alone. Opens no folder. */
export class ListedPaths
  implements Pick<Walk, "passedOver" | "firstLeftOut" | "unmatchedGlobs" | "position" | "close">
{
  readonly #list: WalkList;
  readonly #name = Buffer.alloc(maxNameLength);
  #next: number;
  readonly #leftOut: LeftOutCounts;
  #place: { readonly index: number; readonly prefix: string; readonly walked: string } | undefined;

  /** Starts at `after`, as described at `WalkOptions.after`. */
  constructor(list: WalkList, after: string | undefined) {
    this.#list = list;
    this.#leftOut = new LeftOutCounts(list);
    this.#next = firstNotBefore(list, after);
  }

  /** Implements `Walk.fill`: adds paths until the sink is full. */
  fill(sink: PathTaker): boolean {
    const { files, keys } = this.#list;
    const slice = createTimeSlice(sliceMilliseconds);
    for (; this.#next < files.length; this.#next++) {
      if (this.#next % entriesPerClockCheck === 0 && slice.isDue) return true;
      const key = keys[this.#next]!;
      if (files[this.#next]! < 0) this.#leftOut.count(this.#next);
      else if (!sink.add(this.#folderOf(this.#next), this.#name, 0, this.#name.write(key, 0, "latin1")))
        return true;
    }
    return false;
  }

  get passedOver(): PassedOver {
    const { excluded, ignored, denied } = this.#leftOut;
    return { ...nothingPassedOver, excluded, ignored, denied };
  }

  get firstLeftOut(): FirstLeftOut {
    return this.#leftOut;
  }

  get unmatchedGlobs(): WalkList["unmatchedGlobs"] {
    return this.#list.unmatchedGlobs;
  }

  get position(): string | undefined {
    return this.#next < this.#list.files.length ? walkedAt(this.#list, this.#next) : undefined;
  }

  close(): void {
    this.#next = this.#list.files.length;
  }

  /** Returns the folder of an entry, as one object for consecutive files of a folder. */
  #folderOf(entry: number): PathFolder & { readonly walked: string } {
    const index = this.#list.folders[entry]!;
    if (this.#place?.index !== index) {
      const { path, walked } = this.#list.places[index]!;
      this.#place = { index, prefix: path === "" ? "" : `${path}/`, walked };
    }
    return this.#place!;
  }
}
