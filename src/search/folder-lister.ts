import { kindIn } from "../files/entries.ts";
import type { Entry } from "../files/types.ts";
import { type IgnoreFileSet, type IgnoreFiles, ignoreFileBit } from "../ignore/ignore-files.ts";
import { listAtOnce } from "../jail/backend.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { EntryKind } from "../jail/kind.ts";
import { type NameBytes, nameOf } from "../jail/name.ts";
import { isTemporaryIn } from "../jail/temporary.ts";
import type { Steps } from "../scheduling/time-slice.ts";
import type { EntryStack } from "./entry-stack.ts";
import type { ListingCache } from "./listing-cache.ts";
import type { SharedFolder } from "./shared-folder.ts";

/** Chooses among files. */
export interface FileChooser {
  /** Whether it may take the file. A walk that is asked for nothing else keeps no other file, and does not count it. */
  mayTake?(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean;
}

/** What the listing of a folder finds besides the entries to take. */
export interface FolderExtras {
  readonly temporary: readonly Entry[];
  readonly ignoreFiles: IgnoreFileSet;
}

/** The same while it is under way. */
interface Listing extends FolderExtras {
  readonly temporary: Entry[];
  ignoreFiles: IgnoreFileSet;
}

export interface FolderListerOptions {
  /** Gets the entries, sorted. */
  readonly entries: EntryStack;
  /** Where the files go. */
  readonly sink: () => FileChooser | undefined;
  readonly ignoreFiles: IgnoreFiles | undefined;
  readonly listings: ListingCache | undefined;
}

/** Lists folders for a walk. */
export class FolderLister {
  readonly #options: FolderListerOptions;

  constructor(options: FolderListerOptions) {
    this.#options = options;
  }

  /**
   * Adds the entries of the folder, and calls `onListed`: at once if they are few, or returns the steps that are left. Throws a
   * refusal.
   */
  list(held: SharedFolder, onListed: (found: FolderExtras) => void): Steps<void> | undefined {
    const { entries, sink } = this.#options;
    const first = entries.size;
    // Where the sink chooses, not all entries are there to be kept.
    const listings = sink()?.mayTake === undefined ? this.#options.listings : undefined;
    const known = listings?.find(held.folder, (bytes, from, to, kind) => entries.push(bytes, from, to, kind));
    if (known !== undefined) {
      onListed({ temporary: [], ignoreFiles: known });
      return undefined;
    }
    const found: Listing = { temporary: [], ignoreFiles: 0 };
    const rest = this.#begin(held, found);
    const end = () => onListed(found);
    if (rest !== undefined || !entries.sortChunk(first)) return this.#listRest(held, { first, rest, end });
    if (found.temporary.length === 0) listings?.keep(held.folder, { entries, first }, found.ignoreFiles);
    end();
    return undefined;
  }

  #begin(held: SharedFolder, found: Listing): Steps<void> | undefined {
    const { folder } = held;
    try {
      return listAtOnce(folder, (bytes, from, to, kind) =>
        this.#push(held, found, { bytes, from, to }, kind),
      );
    } catch (error) {
      throw refusalOfErrno(error, folder.requested);
    }
  }

  *#listRest(held: SharedFolder, { first, rest = noSteps(), end }: Rest): Steps<void> {
    try {
      for (const _ of rest) yield;
    } catch (error) {
      throw refusalOfErrno(error, held.folder.requested);
    }
    yield* this.#options.entries.sort(first);
    end();
  }

  /** Adds an entry, or notes it. */
  #push(held: SharedFolder, found: Listing, name: NameBytes, kind: EntryKind | undefined): void {
    const { entries, sink, ignoreFiles, listings } = this.#options;
    const { bytes, from, to } = name;
    if (isTemporaryIn(bytes, from, to)) {
      const raw = nameOf(bytes.subarray(from, to));
      found.temporary.push({ name: raw.toString(), raw, kind: kind ?? "other" });
    } else {
      const known = kind ?? kindIn(held.folder, bytes.subarray(from, to));
      const isWanted = known !== "file" || sink()?.mayTake?.(held, bytes, from, to) !== false;
      if (isWanted) entries.push(bytes, from, to, known);
      if (ignoreFiles !== undefined || listings !== undefined)
        found.ignoreFiles |= ignoreFileBit(name, known);
    }
  }
}

/** A listing that takes several steps: the index of its first entry, the steps that are left, and what to do at the end. */
interface Rest {
  readonly first: number;
  readonly rest: Steps<void> | undefined;
  readonly end: () => void;
}

function* noSteps(): Steps<void> {}
