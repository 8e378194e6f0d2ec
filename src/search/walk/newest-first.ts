/** The files of a walk by time of modification, the last modified first. */

import { itemsPerStep, mergeSort } from "../../base/scheduling/merge-sort.ts";
import { createTimeSlice, type Steps } from "../../base/scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../base/scheduling/walk-slice.ts";
import { ignoreVanished } from "../../filesystem/files/ignore-vanished.ts";
import { errnoOf } from "../../filesystem/jail/errno.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import { nameOf } from "../../filesystem/jail/name.ts";
import { SharedFolder } from "./shared-folder.ts";
import type { FirstLeftOut, PassedOver } from "./tally.ts";
import type { FileSink, Walk } from "./walk.ts";

interface TimedFile {
  /**
   * The key of its time and its path relative to the start of the walk, which orders the files and names a
   * place (`Place.file`).
   */
  readonly key: string;
  /** Its folder relative to the base, and the key without the name. */
  readonly folder: string;
  readonly walked: string;
  readonly name: Buffer;
}

interface Options {
  readonly jail: Pick<Jail, "reopenFolder" | "deniesBytesIn">;
  /** The key to start at. */
  readonly after: string | undefined;
}

const timeDigits = 14;

/** The characters of a key before the path. */
export const timeKeyBytes = timeDigits + 1;

/** Returns a text that sorts earlier for a later time. All times before 1970 give the same text. */
function timeKey(milliseconds: number): string {
  const microseconds = Math.max(0, Math.floor(milliseconds * 1000));
  return `${(Number.MAX_SAFE_INTEGER - microseconds).toString(16).padStart(timeDigits, "0")}/`;
}

/** Takes all files from a walk before it delivers the first one. */
export class NewestFirst
  implements Pick<Walk, "fill" | "passedOver" | "firstLeftOut" | "unmatchedGlobs" | "position" | "close">
{
  readonly #walk: Walk;
  readonly #options: Options;
  readonly #files: TimedFile[] = [];
  #longestKey = 0;
  #sorting: Steps<TimedFile[]> | undefined;
  #sorted: TimedFile[] | undefined;
  #next = 0;
  #folder: { readonly path: string; readonly shared: SharedFolder } | undefined;

  constructor(walk: Walk, options: Options) {
    this.#walk = walk;
    this.#options = options;
  }

  /** Implements `Walk.fill`, after the walk is complete. */
  fill(sink: FileSink): boolean {
    const slice = createTimeSlice(sliceMilliseconds);
    if (this.#sorted === undefined && !this.#collect(() => slice.isDue)) return true;
    const files = this.#sorted!;
    for (; this.#next < files.length; this.#next++) {
      if (slice.isDue) return true;
      if (!this.#hand(files[this.#next]!, sink)) return true;
    }
    return false;
  }

  get passedOver(): PassedOver {
    return this.#walk.passedOver;
  }

  get firstLeftOut(): FirstLeftOut {
    return this.#walk.firstLeftOut;
  }

  get unmatchedGlobs(): Walk["unmatchedGlobs"] {
    return this.#walk.unmatchedGlobs;
  }

  get position(): string | undefined {
    return this.#sorted === undefined ? (this.#options.after ?? "") : this.#sorted[this.#next]?.key;
  }

  close(): void {
    this.#walk.close();
    this.#folder?.shared.release();
    this.#folder = undefined;
    this.#sorted = [];
  }

  /** Continues the walk, and then the sorting of its files. Returns false if the time is up first. */
  #collect(isDue: () => boolean): boolean {
    if (this.#sorting === undefined) {
      if (this.#walk.fill({ add: (...file) => this.#add(...file) })) return false;
      this.#sorting = mergeSort(
        this.#files,
        (one, other) => one.key < other.key,
        itemsPerStep(this.#longestKey),
      );
    }
    for (;;) {
      const step = this.#sorting.next();
      if (step.done === true) {
        this.#sorted = step.value;
        break;
      }
      if (isDue()) return false;
    }
    const { after } = this.#options;
    this.#next = after === undefined ? 0 : firstNotBefore(this.#sorted, after);
    return true;
  }

  #add(shared: SharedFolder, bytes: Buffer, from: number, to: number): boolean {
    const name = Buffer.from(bytes.subarray(from, to));
    const stats = ignoreVanished(() => shared.folder.lstat(nameOf(name)));
    if (stats === undefined) return true;
    const walked = timeKey(stats.mtimeMs) + shared.walked;
    const key = walked + name.toString("latin1");
    this.#longestKey = Math.max(this.#longestKey, key.length);
    this.#files.push({ key, folder: shared.folder.path, walked, name });
    return true;
  }

  /** Passes a file to the sink. Returns false if the sink is full. */
  #hand({ folder, walked, name }: TimedFile, sink: FileSink): boolean {
    const base = this.#open(folder);
    if (base === undefined || this.#options.jail.deniesBytesIn(base.folder, name, 0, name.length))
      return true;
    const shared = new SharedFolder(base.folder, () => base.release(), walked);
    base.hold();
    const isTaken = sink.add(shared, name, 0, name.length);
    shared.release();
    return isTaken;
  }

  #open(path: string): SharedFolder | undefined {
    if (this.#folder?.path === path) return this.#folder.shared;
    this.#folder?.shared.release();
    this.#folder = undefined;
    const folder = this.#reopen(path);
    if (folder === undefined) return undefined;
    this.#folder = { path, shared: new SharedFolder(folder) };
    return this.#folder.shared;
  }

  /** Opens a folder again. Returns `undefined` if it is gone, or if a link now leads elsewhere. */
  #reopen(path: string): Folder | undefined {
    try {
      const folder = this.#options.jail.reopenFolder(path);
      if (folder.path === path) return folder;
      folder.close();
      return undefined;
    } catch (error) {
      // Other errors are a lack of descriptors or memory.
      if (errnoOf(error) === undefined) return undefined;
      throw error;
    }
  }
}

/** Returns the index of the first file, in order, whose key does not sort before this one. */
function firstNotBefore(files: readonly TimedFile[], key: string): number {
  let [low, high] = [0, files.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (files[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
