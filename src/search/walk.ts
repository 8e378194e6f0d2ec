/**
 * Walks the regular files below a folder lazily, in the order of the bytes of their paths. Holds one folder per level
 * open.
 */

import type { Files } from "../files/files.ts";
import { ignoreVanished } from "../files/ignore-vanished.ts";
import type { Entry } from "../files/types.ts";
import type { IgnoreFiles } from "../ignore/ignore-files.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { Jail } from "../jail/folder.ts";
import { createTimeSlice, type Steps, type TimeSlice } from "../scheduling/time-slice.ts";
import { sliceMilliseconds } from "../scheduling/walk-slice.ts";
import { EntryFilter, type EntryFilterOptions } from "./entry-filter.ts";
import { EntryStack } from "./entry-stack.ts";
import { type FileChooser, type FolderExtras, FolderLister } from "./folder-lister.ts";
import type { ListingCache } from "./listing-cache.ts";
import { SharedFolder } from "./shared-folder.ts";
import { nothingPassedOver, type PassedOver } from "./tally.ts";

/** Takes the files of a walk. */
export interface FileSink extends FileChooser {
  /** Adds the file with the name `bytes[from, to)`, after all others. False, without adding it, when it is full. */
  add(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean;
}

export interface WalkOptions extends EntryFilterOptions {
  readonly jail: Jail;
  /** Sweeps the temporary files of each folder that the walk lists. */
  readonly files: Pick<Files, "sweepFolder">;
  /** Leaves out what ignore files name. */
  readonly ignoreFiles?: IgnoreFiles | undefined;
  /** What folders held before. */
  readonly listings?: ListingCache | undefined;
  /** The one entry of the start to walk, instead of all of them. */
  readonly only?: Pick<Entry, "raw" | "kind"> | undefined;
  /** The path to start at, one character per byte (`Place.file`): the walk opens no folder that comes before it. */
  readonly after?: string | undefined;
  /** Called for each folder that is too deep to enter. */
  readonly onTooDeep: () => void;
  /** Called for each folder that cannot be read, with its path as `Place.file`. */
  readonly onUnreadable?: ((folder: string) => void) | undefined;
}

/** A walk enters no deeper folder: trees made by hand are flatter, and each level holds a descriptor. */
const maxDepth = 256;

/** Entries between two checks of the clock. A caller's globs can be slow. */
const entriesPerClockCheck = { withGlobs: 1, withoutGlobs: 256 } as const;

/** An open folder between the start and the current one. */
interface Level {
  readonly held: SharedFolder;
  /** Indices into the entry stack: of its first entry, of the next one to take, and after its last one. */
  readonly first: number;
  next: number;
  end: number;
  /** For its entries; before it is listed, those from the folders above it. */
  rules: IgnoreRules;
  /** The part below this folder of the path to start at. */
  readonly after: string | undefined;
}

export class Walk {
  readonly #options: WalkOptions;
  readonly #filter: EntryFilter;
  readonly #entries = new EntryStack();
  readonly #lister: FolderLister;
  readonly #levels: Level[] = [];
  #start: SharedFolder | undefined;
  /** The unfinished listing of the deepest folder. */
  #listing: Steps<void> | undefined;
  #slice: TimeSlice | undefined;
  #sink: FileSink | undefined;
  #passedOver = nothingPassedOver;

  /** Holds `start` until the walk has left it, or is closed. */
  constructor(start: SharedFolder, options: WalkOptions) {
    this.#options = options;
    this.#filter = new EntryFilter(options, start.folder);
    const { ignoreFiles, listings } = options;
    this.#lister = new FolderLister({
      entries: this.#entries,
      sink: () => this.#sink,
      ignoreFiles,
      listings,
    });
    this.#start = start.hold();
  }

  /**
   * Adds the next files to the sink until it is full or the time slice is used up. False when there are no more. Throws
   * a refusal when the start cannot be listed.
   */
  fill(sink: FileSink): boolean {
    this.#slice = createTimeSlice(sliceMilliseconds);
    this.#sink = sink;
    this.#begin();
    for (;;) {
      if (!this.#continueListing()) return true;
      const level = this.#levels.at(-1);
      if (level === undefined) return false;
      if (this.#isOverdue() || !this.#takeFiles(level, sink)) return true;
      if (level.next < level.end) this.#enter(level);
      else this.#leave();
    }
  }

  /** What it has passed over so far. */
  get passedOver(): PassedOver {
    const { excluded } = this.#filter;
    if (this.#passedOver.excluded !== excluded) this.#passedOver = { ...nothingPassedOver, excluded };
    return this.#passedOver;
  }

  /** Path of the entry to take next, or of the folder being listed, as `Place.file`; undefined at the end. */
  get position(): string | undefined {
    if (this.#start !== undefined) return "";
    const isListing = this.#listing !== undefined;
    const level = this.#levels.findLast(
      (one, index) => one.next < one.end || (isListing && index === this.#levels.length - 1),
    );
    if (level === undefined) return undefined;
    return (
      level.held.walked + (level.next < level.end ? this.#entries.keyOf(level.next).toString("latin1") : "")
    );
  }

  /** Releases the folders that it holds. */
  close(): void {
    this.#listing?.return();
    this.#listing = undefined;
    this.#start?.release();
    this.#start = undefined;
    while (this.#levels.length > 0) this.#leave();
  }

  #begin(): void {
    const { only } = this.#options;
    const start = this.#start;
    if (start === undefined) return;
    this.#start = undefined;
    const rules = this.#options.ignoreFiles?.above(start.folder) ?? IgnoreRules.none;
    const level = this.#descend(start, rules, this.#options.after);
    if (only === undefined) this.#listing = this.#list(level);
    else {
      const name = Buffer.from(only.raw);
      this.#entries.push(name, 0, name.length, only.kind);
      level.end = this.#entries.size;
    }
  }

  /** Adds the selected files up to the next folder or the end; false when the sink is full or the slice is used up. */
  #takeFiles(level: Level, sink: FileSink): boolean {
    const { jail } = this.#options;
    const { held } = level;
    const entries = this.#entries;
    const isSlow = this.#filter.comparesPaths || level.rules !== IgnoreRules.none;
    const perCheck = isSlow ? entriesPerClockCheck.withGlobs : entriesPerClockCheck.withoutGlobs;
    for (; level.next < level.end; level.next++) {
      if (level.next % perCheck === 0 && this.#isOverdue()) return false;
      const kind = entries.kind(level.next);
      if (kind !== "file" && kind !== "dir") continue;
      const name = { bytes: entries.bytes, from: entries.start(level.next), to: entries.end(level.next) };
      if (jail.deniesBytesIn(held.folder, name.bytes, name.from, name.to)) continue;
      if (kind === "dir") {
        if (this.#filter.entersFolder(held.folder, name, level.rules)) return true;
      } else if (this.#filter.wantsFile(held.folder, name, level.rules)) {
        if (!sink.add(held, name.bytes, name.from, name.to)) return false;
      }
    }
    return true;
  }

  /** Enters the next entry, a folder, unless it is gone or too deep. */
  #enter(level: Level): void {
    const { name, key } = this.#entries.folderAt(level.next++);
    const walked = level.held.walked + key;
    if (this.#levels.length > maxDepth) {
      this.#options.onTooDeep();
      return;
    }
    const child = ignoreVanished(
      () => level.held.folder.child(name),
      () => this.#options.onUnreadable?.(walked),
    );
    if (child === undefined) return;
    const after = level.after?.startsWith(key) ? level.after.slice(key.length) : undefined;
    const held = new SharedFolder(child, undefined, walked);
    const inner = this.#descend(held, level.rules.below(name.toString()), after);
    this.#listing = ignoreVanished(
      () => this.#list(inner),
      () => this.#options.onUnreadable?.(walked),
    );
  }

  /**
   * Continues the listing of the deepest folder; false when the slice is used up before its end. A folder that is gone
   * counts as empty, but the start must be there.
   */
  #continueListing(): boolean {
    const listing = this.#listing;
    if (listing === undefined) return true;
    const isStart = this.#levels.length === 1;
    const onUnreadable = () => this.#options.onUnreadable?.(this.#levels.at(-1)!.held.walked);
    for (;;) {
      const isMore = isStart
        ? !listing.next().done
        : ignoreVanished(() => !listing.next().done, onUnreadable);
      if (isMore && this.#isOverdue()) return false;
      if (isMore) continue;
      this.#listing = undefined;
      return true;
    }
  }

  /** Makes the folder the deepest level. */
  #descend(held: SharedFolder, rules: IgnoreRules, after: string | undefined): Level {
    const first = this.#entries.size;
    const level = { held, first, next: first, end: first, rules, after };
    this.#levels.push(level);
    return level;
  }

  #leave(): void {
    const level = this.#levels.pop();
    if (level === undefined) return;
    this.#entries.drop(level.first);
    level.held.release();
  }

  #isOverdue(): boolean {
    return this.#slice?.isDue === true;
  }

  /** Adds the entries of the deepest folder: at once if they are few, or returns the steps that are left. Throws a refusal. */
  #list(level: Level): Steps<void> | undefined {
    return this.#lister.list(level.held, (found) => this.#endListing(level, found));
  }

  /** Makes the entries ready to take. */
  #endListing(level: Level, { temporary, ignoreFiles }: FolderExtras): void {
    const { folder } = level.held;
    const entries = this.#entries;
    level.end = entries.size;
    if (level.after !== undefined) level.next = entries.firstNotBefore(firstKey(level.after), level.first);
    level.rules = this.#options.ignoreFiles?.in(folder, level.rules, ignoreFiles) ?? level.rules;
    if (temporary.length > 0) this.#options.files.sweepFolder(folder, temporary);
  }
}

/** The key in a folder of the entry that the path leads to. */
const firstKey = (path: string): Buffer =>
  Buffer.from(path.slice(0, path.indexOf("/") + 1) || path, "latin1");
