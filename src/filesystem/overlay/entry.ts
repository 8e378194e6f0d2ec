/** The differences between a planned tree and the disk: entries with other names, and new ones. */

import type {
  EntryVersion,
  Expected,
  StagedCopy,
  StagedFile,
  StagedFolder,
  StagedLink,
} from "../disk/steps.ts";
import type { EntryKind } from "../jail/kind.ts";

/** A file, link or special file on disk, with another name or mode in the planned tree. */
export interface DiskEntry {
  readonly type: "disk";
  readonly kind: Exclude<EntryKind, "dir">;
  /** Its path on disk, where it stays until the transaction is carried out. */
  readonly origin: string;
  readonly version: EntryVersion;
  /** The new permission bits, if they change. */
  readonly mode?: number | undefined;
}

/** A file that is not on disk yet. */
export interface NewFile {
  readonly type: "file";
  readonly staged: StagedFile;
  readonly size: number;
}

/** A link that is not on disk yet. */
export interface NewLink {
  readonly type: "symlink";
  readonly staged: StagedLink;
}

/** A folder of the planned tree, and its changed entries. */
export class PlannedEntries {
  readonly type = "dir";
  /** The path on disk of the folder with its other entries, or `undefined` for a new folder. */
  origin: string | undefined;
  /** Its version on disk, once it has moved or got another mode. */
  version: EntryVersion | undefined;
  /** The staged folder, for a new folder or the copy of one. */
  staged: StagedFolder | StagedCopy | undefined;
  /** Whether its other entries are to be copies of those at `origin`. */
  isCopy = false;
  /** The permission bits to set, unless they are those on disk. */
  mode: number | undefined;
  /** The changed entries by name, or `undefined` for a name that is now free. */
  readonly changed = new Map<string, PlannedEntry | undefined>();

  constructor(origin: string | undefined) {
    this.origin = origin;
  }

  /** Turns it into a new folder, in which everything is changed. */
  becomeNew(staged: StagedFolder, mode: number | undefined): void {
    this.origin = undefined;
    this.isCopy = false;
    this.staged = staged;
    this.mode = mode;
  }

  /** Turns it into a copy of its origin. */
  becomeCopy(staged: StagedCopy, mode: number | undefined): void {
    this.isCopy = true;
    this.staged = staged;
    this.mode = mode;
  }
}

export type PlannedEntry = DiskEntry | NewFile | NewLink | PlannedEntries;

/** Returns the entry that a step on a changed entry must find. */
export function expectedOf(entry: PlannedEntry): Expected {
  if (entry.type === "disk") return entry.version;
  if (entry.staged !== undefined) return { staged: entry.staged };
  return (entry as PlannedEntries).version!;
}

/** Returns the kind of a changed entry. */
export const kindOfPlanned = (entry: PlannedEntry): EntryKind =>
  entry.type === "disk" ? entry.kind : entry.type;
