/** How a pending tree differs from the disk: entries that have other names there than now, and new ones. */
import type { EntryKind } from "../jail/kind.ts";
import type { EntryVersion, Expected, StagedCopy, StagedFile, StagedFolder, StagedLink } from "./steps.ts";

/** A file, link or special file that lies on disk, and has another name or mode in the pending tree. */
export interface DiskEntry {
  readonly type: "disk";
  readonly kind: Exclude<EntryKind, "dir">;
  /** Its path on disk, where it stays until the transaction is carried out. */
  readonly origin: string;
  readonly version: EntryVersion;
  /** The permission bits that it is to have, where those change. */
  readonly mode?: number | undefined;
}

/** A file that is not on disk yet. */
export interface NewFile {
  readonly type: "file";
  readonly staged: StagedFile;
  /** Bytes that it has. */
  readonly size: number;
}

/** A link that is not on disk yet. */
export interface NewLink {
  readonly type: "symlink";
  readonly staged: StagedLink;
}

/** A folder of the pending tree, and what is different in it. */
export class PendingEntries {
  readonly type = "dir";
  /** The folder on disk that has its other entries; undefined for a new one. */
  origin: string | undefined;
  /** What it was on disk, once it has moved or got another mode. */
  version: EntryVersion | undefined;
  /** Of a new folder, or of the copy of one: what is staged. */
  staged: StagedFolder | StagedCopy | undefined;
  /** Its other entries are to be copies of those at `origin`. */
  isCopy = false;
  /** The permission bits that it is to have, where those are not the ones on disk. */
  mode: number | undefined;
  /** By name; undefined for a name that nothing has any more. */
  readonly changed = new Map<string, PendingEntry | undefined>();

  constructor(origin: string | undefined) {
    this.origin = origin;
  }

  /** It is a new folder now, in which everything is changed. */
  becomeNew(staged: StagedFolder, mode: number | undefined): void {
    this.origin = undefined;
    this.isCopy = false;
    this.staged = staged;
    this.mode = mode;
  }

  /** It is a copy of its origin now. */
  becomeCopy(staged: StagedCopy, mode: number | undefined): void {
    this.isCopy = true;
    this.staged = staged;
    this.mode = mode;
  }
}

export type PendingEntry = DiskEntry | NewFile | NewLink | PendingEntries;

/** What a step on a changed entry must find. */
export function expectedOf(entry: PendingEntry): Expected {
  if (entry.type === "disk") return entry.version;
  if (entry.staged !== undefined) return { staged: entry.staged };
  return (entry as PendingEntries).version!;
}

/** The kind of a changed entry. */
export const kindOfPending = (entry: PendingEntry): EntryKind =>
  entry.type === "disk" ? entry.kind : entry.type;
