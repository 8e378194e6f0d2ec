/** Lists the folders of a walk. */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { kindIn } from "../../filesystem/files/entries.ts";
import type { Files } from "../../filesystem/files/files.ts";
import type { Entry } from "../../filesystem/files/types.ts";
import { listAtOnce } from "../../filesystem/jail/backend.ts";
import { refusalOfErrno } from "../../filesystem/jail/errno.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import { type NameBytes, nameOf } from "../../filesystem/jail/name.ts";
import { isTemporaryIn } from "../../filesystem/jail/temporary.ts";
import { type IgnoreFileSet, type IgnoreFiles, ignoreFileBit } from "../ignore/ignore-files.ts";
import type { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { EntryStack } from "./entry-stack.ts";
import type { ListingCache } from "./listing-cache.ts";
import type { SharedFolder } from "./shared-folder.ts";

export interface ListingOptions {
  /** Sweeps the temporary files of each listed folder. */
  readonly files: Pick<Files, "sweepFolder">;
  /** The ignore files that apply, if any. */
  readonly ignoreFiles?: IgnoreFiles | undefined;
  /** The cache of earlier listings. */
  readonly listings?: ListingCache | undefined;
}

/** Selects the files of a folder that are kept. */
export interface NameFilter {
  /**
   * Returns whether to take the file named `bytes[from, to)`. Others are neither kept nor counted by any
   * rule. Default: all files.
   */
  mayTake?(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean;
}

/** An open folder between the start of a walk and its current folder. */
export interface WalkLevel {
  readonly held: SharedFolder;
  /**
   * Indices into the entry stack: of its first entry, of the next one to take, and after the last one to
   * take.
   */
  readonly first: number;
  next: number;
  end: number;
  /** The rules for its entries; before it is listed, those from the folders above it. */
  rules: IgnoreRules;
  /** The part of the path to start at that lies below this folder. */
  readonly after: string | undefined;
}

/** Adds the entries of folders to a stack. */
export class FolderLister {
  /** The filter for all entries listed from now on. */
  filter: NameFilter = {};
  readonly #options: ListingOptions;
  readonly #entries: EntryStack;

  constructor(options: ListingOptions, entries: EntryStack) {
    this.#options = options;
    this.#entries = entries;
  }

  /**
   * Adds the entries of the deepest folder, and makes them ready to take: without yielding if they are few,
   * else returns the remaining steps. Throws a refusal.
   */
  list(level: WalkLevel): Steps<void> | undefined {
    const entries = this.#entries;
    const { first, held } = level;
    // With such a filter, not all entries would be there to keep.
    const listings = this.filter.mayTake === undefined ? this.#options.listings : undefined;
    const known = listings?.find(held.folder, (bytes, from, to, kind) => entries.push(bytes, from, to, kind));
    const found: Found = { temporary: [], ignoreFiles: known ?? 0 };
    if (known === undefined) {
      const rest = this.#begin(held, found);
      if (rest !== undefined || !entries.sortChunk(first)) return this.#listRest(level, found, rest);
      if (found.temporary.length === 0) listings?.keep(held.folder, { entries, first }, found.ignoreFiles);
    }
    this.#endListing(level, found);
    return undefined;
  }

  #begin(held: SharedFolder, found: Found): Generator<void, void, void> | undefined {
    const { folder } = held;
    try {
      return listAtOnce(folder, (bytes, from, to, kind) =>
        this.#push(held, found, { bytes, from, to }, kind),
      );
    } catch (error) {
      throw refusalOfErrno(error, folder.requested);
    }
  }

  *#listRest(level: WalkLevel, found: Found, rest: Iterable<void> = []): Steps<void> {
    try {
      for (const _ of rest) yield;
    } catch (error) {
      throw refusalOfErrno(error, level.held.folder.requested);
    }
    yield* this.#entries.sort(level.first);
    this.#endListing(level, found);
  }

  /** Adds an entry, or notes a temporary file. */
  #push(held: SharedFolder, found: Found, name: NameBytes, kind: EntryKind | undefined): void {
    const { ignoreFiles, listings } = this.#options;
    const { bytes, from, to } = name;
    if (isTemporaryIn(bytes, from, to)) {
      const raw = nameOf(bytes.subarray(from, to));
      found.temporary.push({ name: raw.toString(), raw, kind: kind ?? "other" });
    } else {
      const known = kind ?? kindIn(held.folder, bytes.subarray(from, to));
      const isWanted = known !== "file" || this.filter.mayTake?.(held, bytes, from, to) !== false;
      if (isWanted) this.#entries.push(bytes, from, to, known);
      if (ignoreFiles !== undefined || listings !== undefined)
        found.ignoreFiles |= ignoreFileBit(name, known);
    }
  }

  /** Makes the entries ready to take. */
  #endListing(level: WalkLevel, { temporary, ignoreFiles }: Found): void {
    const { folder } = level.held;
    level.end = this.#entries.size;
    if (level.after !== undefined)
      level.next = this.#entries.firstNotBefore(firstKey(level.after), level.first);
    level.rules = this.#options.ignoreFiles?.in(folder, level.rules, ignoreFiles) ?? level.rules;
    if (temporary.length > 0) this.#options.files.sweepFolder(folder, temporary);
  }
}

/** The results of listing a folder, besides the entries to take. */
interface Found {
  readonly temporary: Entry[];
  ignoreFiles: IgnoreFileSet;
}

/** Returns the key of the first folder or file on the path. */
const firstKey = (path: string): Buffer =>
  Buffer.from(path.slice(0, path.indexOf("/") + 1) || path, "latin1");
