/**
 * The regular files below a folder, in the order of the bytes of their paths, folder by folder and lazily: of the
 * folders on the way one per level is held open.
 */

import type { Files } from "../files/files.ts";
import type { Entry } from "../files/types.ts";
import type { GlobSet } from "../globs/glob-set.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { nameOf } from "../jail/name.ts";
import { isTemporaryIn } from "../jail/temporary.ts";
import { createTimeSlice, type Steps, type TimeSlice } from "../scheduling/time-slice.ts";
import { EntryStack } from "./entry-stack.ts";
import { ignoreVanished } from "./ignore-vanished.ts";
import { SharedFolder } from "./shared-folder.ts";

/** Which paths are wanted; a `GlobSet` is one. */
export type PathFilter = Pick<GlobSet, "matches">;

/** Where a walk puts the files that it comes to. */
export interface FileSink {
  /** Adds the file whose name is `bytes[from, to)`, behind all others. False, and not added, when it takes no more. */
  add(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean;
}

export interface WalkOptions {
  readonly jail: Jail;
  /** Removes the temporary files that it meets and that nobody uses any more. */
  readonly files: Pick<Files, "sweepFolder">;
  readonly include: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  /** The one entry of the start that is meant, instead of all of them. */
  readonly only?: Pick<Entry, "raw" | "kind"> | undefined;
  /** Told of folders that lie too deep to be entered. */
  readonly onTooDeep: () => void;
}

/** Folders this deep are not entered: no tree that people made is, and each level holds a descriptor. */
const maxDepth = 256;

/** Longest that a walk goes on, in milliseconds, before it lets others have a turn. */
const sliceMilliseconds = 5;

/** Entries after which it looks at the clock. A caller's globs can be slow. */
const entriesPerClockCheck = { withGlobs: 1, withoutGlobs: 256 } as const;

/** A folder on the way. */
interface Level {
  readonly held: SharedFolder;
  /** The place of its first entry among all, and of the first that was not taken yet, and the one behind its last. */
  readonly first: number;
  next: number;
  end: number;
}

export class Walk {
  readonly #options: WalkOptions;
  readonly #entries = new EntryStack();
  readonly #levels: Level[] = [];
  #start: SharedFolder | undefined;
  /** The listing of the deepest folder, which is under way. */
  #listing: Steps<void> | undefined;
  #slice: TimeSlice | undefined;

  /** `start` is held until it was walked, or the walk is closed. */
  constructor(start: SharedFolder, options: WalkOptions) {
    this.#options = options;
    this.#start = start.hold();
  }

  /**
   * Adds the next files to the sink until it is full, or for so long that others have to have their turn. False when
   * there are no more. Throws a refusal when the start cannot be listed.
   */
  fill(sink: FileSink): boolean {
    this.#slice = createTimeSlice(sliceMilliseconds);
    this.#begin();
    for (;;) {
      if (!this.#listOn()) return true;
      const level = this.#levels.at(-1);
      if (level === undefined) return false;
      if (this.#isOverdue() || !this.#takeFiles(level, sink)) return true;
      if (level.next < level.end) this.#enter(level);
      else this.#leave();
    }
  }

  /** Lets go of the folders on the way. */
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
    const level = this.#descend(start);
    if (only === undefined) this.#listing = this.#list(level);
    else {
      const name = Buffer.from(only.raw);
      this.#entries.push(name, 0, name.length, only.kind);
      level.end = this.#entries.size;
    }
  }

  /** Takes the wanted files up to the next folder or the end; false when the sink is full or the time is over. */
  #takeFiles(level: Level, sink: FileSink): boolean {
    const { jail } = this.#options;
    const { held } = level;
    const entries = this.#entries;
    const perLook = this.#hasGlobs ? entriesPerClockCheck.withGlobs : entriesPerClockCheck.withoutGlobs;
    for (; level.next < level.end; level.next++) {
      if (level.next % perLook === 0 && this.#isOverdue()) return false;
      const kind = entries.kind(level.next);
      if (kind !== "file" && kind !== "dir") continue;
      const [from, to] = [entries.start(level.next), entries.end(level.next)];
      if (jail.deniesBytesIn(held.folder, entries.bytes, from, to)) continue;
      if (kind === "dir") return true;
      if (this.#isWanted(held, from, to) && !sink.add(held, entries.bytes, from, to)) return false;
    }
    return true;
  }

  #isWanted(held: SharedFolder, from: number, to: number): boolean {
    if (!this.#hasGlobs) return true;
    const { include, exclude } = this.#options;
    const path = held.prefix + this.#entries.bytes.toString("utf8", from, to);
    return (include === undefined || include.matches(path)) && !(exclude?.matches(path) ?? false);
  }

  /** Enters the folder that comes next in the one that is held, unless it is gone or too deep. */
  #enter(level: Level): void {
    const entries = this.#entries;
    const name = nameOf(entries.bytes.subarray(entries.start(level.next), entries.end(level.next)));
    level.next++;
    if (this.#levels.length > maxDepth) {
      this.#options.onTooDeep();
      return;
    }
    const child = ignoreVanished(() => level.held.folder.child(name));
    if (child === undefined) return;
    this.#listing = this.#list(this.#descend(new SharedFolder(child)));
  }

  /**
   * Goes on with the listing of the deepest folder; false when the time is over before that is complete. A folder that is
   * gone has no entries, but the start must be there.
   */
  #listOn(): boolean {
    const listing = this.#listing;
    if (listing === undefined) return true;
    const isStart = this.#levels.length === 1;
    for (;;) {
      const isMore = isStart ? !listing.next().done : ignoreVanished(() => !listing.next().done);
      if (isMore && this.#isOverdue()) return false;
      if (isMore) continue;
      this.#listing = undefined;
      return true;
    }
  }

  /** Makes the folder the deepest on the way. */
  #descend(held: SharedFolder): Level {
    const first = this.#entries.size;
    const level = { held, first, next: first, end: first };
    this.#levels.push(level);
    return level;
  }

  #leave(): void {
    const level = this.#levels.pop();
    if (level === undefined) return;
    this.#entries.drop(level.first);
    level.held.release();
  }

  get #hasGlobs(): boolean {
    return this.#options.include !== undefined || this.#options.exclude !== undefined;
  }

  #isOverdue(): boolean {
    return this.#slice?.isDue === true;
  }

  /** Adds the entries of the deepest folder. Throws a refusal. */
  *#list(level: Level): Steps<void> {
    const { folder } = level.held;
    const entries = this.#entries;
    const temporary: Entry[] = [];
    try {
      yield* folder.list((bytes, from, to, kind) => {
        if (isTemporaryIn(bytes, from, to)) {
          const raw = nameOf(bytes.subarray(from, to));
          temporary.push({ name: raw.toString(), raw, kind: kind ?? "other" });
        } else entries.push(bytes, from, to, kind ?? kindIn(folder, bytes.subarray(from, to)));
      });
    } catch (error) {
      throw refusalOfErrno(error, folder.asked);
    }
    yield* entries.sort(level.first);
    level.end = entries.size;
    this.#options.files.sweepFolder(folder, temporary);
  }
}

/** For file systems that do not tell kinds when a folder is read. */
const kindIn = (folder: Folder, name: Buffer): EntryKind =>
  ignoreVanished(() => kindOf(folder.lstat(nameOf(name)))) ?? "other";
