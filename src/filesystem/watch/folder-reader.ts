/**
 * Opens and lists the folders of a watched tree, each by its path from the base in one step that follows no
 * link.
 */
import { closeSync, constants } from "node:fs";
import { chunk, mergeSort } from "../../base/scheduling/merge-sort.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { isCasefolded } from "../jail/casefold-flag.ts";
import type { OnDirent } from "../jail/dirents.ts";
import { errnoOf } from "../jail/errno.ts";
import type { EntryKind } from "../jail/kind.ts";
import { namingOfBase } from "../jail/name-comparison.ts";
import { O_PATH, openAt, openBeneath, readDirents } from "../jail/openat.ts";
import { endOffsetOn } from "../jail/pseudo.ts";
import { type Links, linksAt, statAt } from "../jail/statx.ts";
import { isTemporaryIn } from "../jail/temporary.ts";
import type { MountTable } from "./mount-table.ts";
import { partsOf } from "./path-parts.ts";
import type { UnwatchedReason } from "./watched-tree.ts";

/** The entries of a folder, sorted by their keys (`WatchedFolder.keys`). */
export interface Listing {
  readonly keys: readonly string[];
  readonly kinds: readonly EntryKind[];
}

/** A folder opened for listing. The caller closes the descriptor. */
export interface OpenedFolder {
  readonly descriptor: number;
  readonly inode: bigint;
}

/**
 * Types of file systems (linux/magic.h) that list the entries of the moment when the listing begins: ext4,
 * XFS and tmpfs. Btrfs lists those of the moment when the folder was opened, which is before it was watched.
 */
const listingCurrentEntries: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x01021994]);

export class FolderReader {
  readonly #base: number;
  readonly #endOffset: bigint | undefined;
  readonly #mayFold: boolean;
  readonly #listsCurrentEntries: boolean;
  readonly #mounts: MountTable;

  /** Reads below the base that `descriptor` holds, on a file system of this type. */
  constructor(descriptor: number, { type, mounts }: { readonly type: number; readonly mounts: MountTable }) {
    this.#mounts = mounts;
    this.#base = descriptor;
    this.#endOffset = endOffsetOn(type);
    this.#mayFold = namingOfBase({ type, isCasefolded: () => false }).isFlagged;
    this.#listsCurrentEntries = listingCurrentEntries.has(type);
  }

  /**
   * Opens the folder at this path from the base, one character per byte. Returns a reason if it cannot be
   * watched, or "gone" if it does not exist.
   */
  open(path: string): OpenedFolder | UnwatchedReason | "gone" {
    if (this.#mounts.hasFileIn(path)) return "mount";
    const descriptor = this.#openPath(path);
    if (descriptor === undefined) return this.#reasonAgainst(path);
    // Unlike opening the folder, this needs the permission to enter it.
    const own = linksAt(descriptor, ".");
    const reason =
      own === undefined || own === "missing" ? "unreadable" : this.#reasonAgainstNames(descriptor);
    if (reason === undefined) return { descriptor, inode: (own as Links).inode };
    closeSync(descriptor);
    return reason;
  }

  /**
   * Lists an opened folder, without temporary files. Returns `undefined` on failure, for example if the
   * folder has just been removed.
   */
  *list(folder: number): Steps<Listing | undefined> {
    if (this.#listsCurrentEntries) return yield* this.#listOpened(folder);
    const descriptor = openBeneath(folder, ".", "list");
    if (descriptor === undefined) return undefined;
    try {
      return yield* this.#listOpened(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  *#listOpened(descriptor: number): Steps<Listing | undefined> {
    const keys: string[] = [];
    const kinds = new Map<string, EntryKind>();
    const onDirent: OnDirent = (bytes, start, end, kind) => {
      if (isTemporaryIn(bytes, start, end)) return;
      const name = bytes.toString("latin1", start, end);
      const known = kind ?? kindAt(descriptor, name);
      const key = known === "dir" ? `${name}/` : name;
      keys.push(key);
      kinds.set(key, known);
    };
    for (let from: "start" | "next" = "start"; ; from = "next") {
      const read = this.#read({ descriptor, from, endOffset: this.#endOffset }, onDirent);
      if (read === undefined) return undefined;
      if (read === "end") break;
      yield;
    }
    // The code units of these strings are the bytes.
    const sorted = keys.length <= chunk ? keys.sort() : yield* mergeSort(keys, isBefore);
    const sortedKinds: EntryKind[] = [];
    for (const key of sorted) if (sortedKinds.push(kinds.get(key)!) % chunk === 0) yield;
    return { keys: sorted, kinds: sortedKinds };
  }

  #read(...reading: Parameters<typeof readDirents>): ReturnType<typeof readDirents> {
    try {
      return readDirents(...reading);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return undefined;
    }
  }

  #openPath(path: string): number | undefined {
    let folder = this.#base;
    for (const part of partsOf(path)) {
      const next = openBeneath(folder, Buffer.from(part, "latin1"), "list");
      if (folder !== this.#base) closeSync(folder);
      if (next === undefined) return undefined;
      folder = next;
    }
    return folder;
  }

  #reasonAgainstNames(descriptor: number): UnwatchedReason | undefined {
    return this.#mayFold && isCasefolded(descriptor) ? "folding" : undefined;
  }

  #reasonAgainst(path: string): UnwatchedReason | "gone" {
    const slash = path.lastIndexOf("/");
    const parent = this.#openPath(path.slice(0, Math.max(slash, 0)));
    if (parent === undefined) return "gone";
    const name = Buffer.from(path.slice(slash + 1), "latin1");
    try {
      closeSync(openAt(parent, name, O_PATH | constants.O_DIRECTORY));
      const own = openBeneath(parent, name, "folder");
      if (own === undefined) return "mount";
      closeSync(own);
      return "unreadable";
    } catch (error) {
      return unreadableErrors.has(errnoOf(error) ?? "") ? "unreadable" : "gone";
    } finally {
      closeSync(parent);
    }
  }
}

const isBefore = (one: string, other: string): boolean => one < other;

const unreadableErrors: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Returns the kind of an entry, or "other" if it is gone: an event will report that. */
const kindAt = (folder: number, name: string): EntryKind =>
  statAt(folder, Buffer.from(name, "latin1"))?.kind ?? "other";
