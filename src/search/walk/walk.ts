/**
 * Walks the regular files below a folder lazily, in the order of the bytes of their paths. Holds one folder
 * per level open.
 */

import { createTimeSlice, type Steps, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../base/scheduling/walk-slice.ts";
import { ignoreVanished } from "../../filesystem/files/ignore-vanished.ts";
import type { Entry } from "../../filesystem/files/types.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import { entriesPerClockCheck } from "../ignore/ignore-file.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { UnmatchedGlob } from "../ignore/path-globs.ts";
import { EntryFilter, type EntryFilterOptions } from "./entry-filter.ts";
import { EntryStack } from "./entry-stack.ts";
import { FolderLister, type ListingOptions, type NameFilter, type WalkLevel } from "./folder-lister.ts";
import { SharedFolder } from "./shared-folder.ts";
import { type FirstLeftOut, nothingPassedOver, type PassedOver } from "./tally.ts";

/** Takes the files of a walk. */
export interface FileSink extends NameFilter {
  /**
   * Adds the file named `bytes[from, to)` after all others. Returns false, without adding it, if the sink is
   * full.
   */
  add(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean;
}

export interface WalkOptions extends EntryFilterOptions, ListingOptions {
  readonly jail: Pick<Jail, "deniesBytesIn">;
  /** The only entry of the start to walk, instead of all of them. */
  readonly only?: Pick<Entry, "raw" | "kind"> | undefined;
  /**
   * The path to start at, one character per byte (`Place.file`). The walk opens no folder that comes before
   * it.
   */
  readonly after?: string | undefined;
  /** Called for each folder that is too deep to enter. */
  readonly onTooDeep: () => void;
  /** Called for each folder that cannot be read, with its path as in `Place.file`. */
  readonly onUnreadable?: ((folder: string) => void) | undefined;
}

/**
 * Maximum depth of folders that a walk enters. Trees made by hand are flatter, and each level holds a
 * descriptor.
 */
const maxDepth = 256;

export class Walk {
  readonly #options: WalkOptions;
  readonly #filter: EntryFilter;
  readonly #entries = new EntryStack();
  readonly #levels: WalkLevel[] = [];
  readonly #lister: FolderLister;
  #start: SharedFolder | undefined;
  #rulesAbove: Steps<IgnoreRules> | undefined;
  /** The unfinished listing of the deepest folder. */
  #listing: Steps<void> | undefined;
  #slice: TimeSlice | undefined;
  #passedOver = nothingPassedOver;

  /** Holds `start` until the walk has left it, or is closed. */
  constructor(start: SharedFolder, options: WalkOptions) {
    this.#options = options;
    this.#lister = new FolderLister(options, this.#entries);
    this.#filter = new EntryFilter(options, start.folder);
    this.#start = start.hold();
  }

  /**
   * Adds the next files to the sink until it is full or the time slice is used up. Returns false at the end.
   * Throws a refusal if the start cannot be listed.
   */
  fill(sink: FileSink): boolean {
    this.#slice = createTimeSlice(sliceMilliseconds);
    this.#lister.filter = sink;
    if (!this.#begin()) return true;
    for (;;) {
      if (!this.#continueListing()) return true;
      const level = this.#levels.at(-1);
      if (level === undefined) return false;
      if (!this.#takeFiles(level, sink)) return true;
      if (level.next >= level.end) this.#leave();
      else if (this.#isOverdue()) return true;
      else this.#enter(level);
    }
  }

  /** Returns the counts of entries passed over so far. */
  get passedOver(): PassedOver {
    const { excluded, ignored, denied } = this.#filter;
    if (this.#passedOver.excluded !== excluded || this.#passedOver.denied !== denied)
      this.#passedOver = { ...nothingPassedOver, excluded, ignored, denied };
    return this.#passedOver;
  }

  get firstLeftOut(): FirstLeftOut {
    return this.#filter.firstLeftOut;
  }

  /** Returns the globs of the caller that have matched nothing so far. */
  get unmatchedGlobs(): readonly UnmatchedGlob[] {
    return this.#filter.unmatchedGlobs;
  }

  /**
   * Returns the path of the entry to take next, or of the folder being listed, as in `Place.file`, or
   * `undefined` at the end.
   */
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

  /** Releases all folders that the walk holds. */
  close(): void {
    this.#listing?.return();
    this.#listing = undefined;
    this.#rulesAbove?.return(IgnoreRules.none);
    this.#start?.release();
    this.#start = undefined;
    while (this.#levels.length > 0) this.#leave();
  }

  /** Begins with the start of the walk. Returns false if the slice is used up before. */
  #begin(): boolean {
    const { only } = this.#options;
    const start = this.#start;
    if (start === undefined) return true;
    const rules = this.#continueRulesAbove(start.folder);
    if (rules === undefined) return false;
    this.#start = undefined;
    const level = this.#descend({ held: start, rules, after: this.#options.after });
    if (only === undefined) this.#listing = this.#lister.list(level);
    else {
      const name = Buffer.from(only.raw);
      this.#entries.push(name, 0, name.length, only.kind);
      level.end = this.#entries.size;
    }
    return true;
  }

  /** Continues to find the rules above the start. Returns `undefined` if the slice is used up before. */
  #continueRulesAbove(start: Folder): IgnoreRules | undefined {
    this.#rulesAbove ??= rulesAbove(start, this.#options);
    for (;;) {
      const { done, value } = this.#rulesAbove.next();
      if (done) return value;
      if (this.#isOverdue()) return undefined;
    }
  }

  /**
   * Adds the selected files up to the next folder or the end. Returns false if the sink is full or the slice
   * is used up.
   */
  #takeFiles(level: WalkLevel, sink: FileSink): boolean {
    const { jail } = this.#options;
    const { held } = level;
    const entries = this.#entries;
    // A caller's globs can be slow.
    const perCheck = this.#filter.comparesPaths
      ? 1
      : entriesPerClockCheck(level.rules.cost + this.#filter.cost);
    for (; level.next < level.end; level.next++) {
      if (level.next % perCheck === 0 && this.#isOverdue()) return false;
      const kind = entries.kind(level.next);
      if (kind !== "file" && kind !== "dir") continue;
      const name = { bytes: entries.bytes, from: entries.start(level.next), to: entries.end(level.next) };
      if (jail.deniesBytesIn(held.folder, name.bytes, name.from, name.to))
        this.#filter.noteDenied(held.folder, name, kind === "dir");
      else if (kind === "dir") {
        if (this.#filter.entersFolder(held.folder, name, level.rules)) return true;
      } else if (this.#filter.wantsFile(held.folder, name, level.rules)) {
        if (!sink.add(held, name.bytes, name.from, name.to)) return false;
      }
    }
    return true;
  }

  /** Enters the next entry, a folder, unless it is gone or too deep. */
  #enter(level: WalkLevel): void {
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
    const inner = this.#descend({
      held: new SharedFolder(child, undefined, walked),
      rules: level.rules,
      after: pathBelow(key, level.after),
    });
    this.#listing = ignoreVanished(
      () => this.#lister.list(inner),
      () => this.#options.onUnreadable?.(walked),
    );
  }

  /**
   * Continues the listing of the deepest folder. Returns false if the slice is used up before its end. A
   * folder that is gone counts as empty, but the start must exist.
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
  #descend({ held, rules, after }: Pick<WalkLevel, "held" | "rules" | "after">): WalkLevel {
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
}

/** Returns the rules from above the start of a walk. The globs follow its path too. */
function* rulesAbove(start: Folder, { ignoreFiles, globs }: WalkOptions): Steps<IgnoreRules> {
  const rules = ignoreFiles === undefined ? IgnoreRules.none : yield* ignoreFiles.above(start);
  if (globs !== undefined) yield* globs.follow(start.path);
  return rules;
}

/** Returns the part of `path` below the folder at `key`, or `undefined` if it leads elsewhere. */
const pathBelow = (key: string, path: string | undefined): string | undefined =>
  path?.startsWith(key) ? path.slice(key.length) : undefined;
