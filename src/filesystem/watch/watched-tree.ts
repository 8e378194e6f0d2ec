/**
 * The tree below a folder, as the kernel reports it. Names are mirrored in memory, and changes are read from
 * the kernel's queue (inotify(7)) rather than searched for. The kernel queues an event inside the system call
 * that makes a change, so a drained queue has reported every change whose call had returned.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** An entry: the number of a file, a folder, or the kind of anything else. */
export type WatchedEntry = number | WatchedFolder | "symlink" | "other";

/** A folder of the tree, as of the last drain. */
export interface WatchedFolder {
  /** `undefined` if this is the base, or a folder that has left the tree. */
  readonly parent: WatchedFolder | undefined;
  /** The name, one character per byte; "" for the base. */
  readonly name: string;
  /**
   * The sorted names of its entries, one character per byte, folders with a trailing "/". A walk of all
   * folders therefore meets files in the byte order of their paths. Temporary files are left out.
   */
  readonly keys: readonly string[];
  /** The entries with these names. */
  readonly entries: readonly WatchedEntry[];
  /** `undefined` until the folder is listed. */
  readonly inode: bigint | undefined;
  /**
   * The reason why the contents of the folder are unknown, so that its files must always be read; `undefined`
   * if it is watched.
   */
  readonly unwatched: UnwatchedReason | undefined;
  /** The version of the tree (`WatchedTree.version`) when `entries` or `unwatched` last changed. */
  readonly changedAt: number;
}

/**
 * The reason why a folder is not watched: something is mounted there, it may not be read or entered, it
 * compares names in its own way, or it is too deep.
 */
export type UnwatchedReason = "mount" | "unreadable" | "folding" | "depth";

/** The reason why the tree is incomplete. */
export type IncompleteReason =
  /** The tree has not been built yet. */
  | "unlisted"
  /** The kernel's queue overflowed (max_queued_events). A build helps. */
  | "overflow"
  /** Something was mounted or unmounted below the base. A build helps. */
  | "mounts"
  /** Folders moved faster than they could be listed. A build helps. */
  | "busy"
  /**
   * The system refuses further watches (max_user_watches, max_user_instances) or memory. A later build may
   * help.
   */
  | "limit"
  /** The base folder was removed, or its file system was unmounted. */
  | "base-gone";

/** The state of the tree after a drain or a build. */
export type WatchState =
  | { readonly isComplete: true }
  | { readonly isComplete: false; readonly reason: IncompleteReason };

/** Receives the findings of drains and builds while they run. */
export interface TreeListener {
  /** Reports a new file. Its number may have belonged to an earlier file. */
  onAdded?(file: number): void;
  onRemoved?(file: number): void;
  /**
   * Reports that the content, permissions or identity of a file may have changed since the last drain.
   * Whatever was read before this call proves nothing, even if it is stored only afterwards.
   */
  onDirty?(file: number): void;
  /** Like `onDirty`, but for all files of the tree. */
  onAllDirty?(): void;
  /**
   * Reports a new name of a file with several names. Content read under one of them may be changed under
   * another without an event for the first.
   */
  onLinked?(inode: bigint): void;
  /**
   * Reports that a file may have changed without an `onDirty`: under a name that it had only briefly, between
   * two drains or in a folder that was not watched yet.
   */
  onUnseenWrite?(): void;
  /**
   * Reports each change from the kernel, in order, except that a move out of the tree comes once the queue is
   * empty, or before another entry takes the name. A created or moved folder stands for everything in it:
   * changes inside it before a drain has found it are not reported. Nor are changes after an overflow, until
   * the tree is rebuilt. It returns "long" if the step shall end with this change.
   */
  onChange?: ((change: TreeChange) => unknown) | undefined;
}

/** A change, as the kernel reported it. */
export interface TreeChange {
  readonly kind: "created" | "removed" | "moved" | "modified" | "attributes";
  readonly isFolder: boolean;
  /** The path from the base, as bytes. For "moved", the new path. */
  readonly path: Buffer;
  /** The old path of a move. A move into the tree is "created", one out of it "removed". */
  readonly from?: Buffer;
  /** For "created": the entry was moved here from outside the tree, perhaps over an existing one. */
  readonly isMovedIn?: boolean;
  /** For "removed": the entry was moved out of the tree, with everything in it. */
  readonly isMovedOut?: boolean;
  /**
   * For "modified": a writer closed the file. Whether anything was written, through a mapping, is unknown.
   */
  readonly isOnlyClosed?: boolean;
}

export interface WatchedTree {
  readonly base: WatchedFolder;
  /**
   * Counts changes of names, of kinds of entries, and of what is known. A list of files stays valid while it
   * is unchanged.
   */
  readonly version: number;
  /** A bound that exceeds the numbers of all files. */
  readonly fileEnd: number;
  readonly files: number;
  readonly folders: number;
  /** The number of folders with unknown contents. */
  readonly unwatchedFolders: number;
  /** The state after the last drain or build. */
  readonly state: WatchState;
  /**
   * Lists all folders, watching each one first, and completes the tree: for the first time, and after an
   * incomplete drain. Files that are still there keep their numbers, except after a "limit". Runs in time
   * slices, beside drains, which are incomplete until it ends.
   */
  build(): Promise<WatchState>;
  /**
   * Applies every change whose system call had returned before this call. Does nothing while the tree is
   * incomplete; `build` repairs that.
   */
  drain(): Promise<WatchState>;
  /** Whether a drain is reading the kernel's queue in steps, so that the disk is ahead of the reports. */
  readonly hasUnreadEvents: boolean;
  /**
   * Reports the changes that a drain would, in one step, and does not apply them. Called before a call makes
   * a change, which listeners distinguish from earlier ones of other programs.
   */
  readEvents(): void;
  /** Like `readEvents`, but in steps, between which other calls may run. */
  readEventsInSteps(): Steps<void>;
  /**
   * Yields the files of the folder and those below it, in the byte order of their paths, without unwatched
   * folders.
   */
  filesBelow(folder: WatchedFolder): Generator<WatchedFile, void, void>;
  /**
   * Reports each name that appears in a folder elsewhere or disappears from it, in the order of all events: a
   * drain has reported every earlier change of the tree before. Returns a function that ends it, or
   * `undefined` if the folder cannot be watched.
   */
  watchBeside(folder: string, onName: OnName): (() => void) | undefined;
  close(): void;
}

/** Receives a name and whether it is there, or `undefined` once the watch has ended. */
export type OnName = (name: string | undefined, isThere: boolean) => void;

/** A file as a walk meets it. The object is reused, and valid until the next step. */
export interface WatchedFile {
  readonly folder: WatchedFolder;
  /** Its name, one character per byte. */
  readonly key: string;
  readonly file: number;
}
