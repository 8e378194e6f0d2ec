/**
 * The tree below a folder as the kernel reports it: names are mirrored in memory, and changes are read from the kernel's
 * queue (inotify(7)), not searched for. The kernel queues an event inside of the system call that changes something, so
 * after the queue is drained every change is known whose call had returned before.
 */

/** An entry: the number of a file, a folder, or what is neither. */
export type WatchedEntry = number | WatchedFolder | "symlink" | "other";

/** A folder of the tree, as of the last drain. */
export interface WatchedFolder {
  /** Undefined for the base, and for a folder that has left the tree. */
  readonly parent: WatchedFolder | undefined;
  /** One character per byte; "" for the base. */
  readonly name: string;
  /**
   * The names of its entries, one character per byte, those of folders with a "/" after them, in order: a walk of all
   * folders meets the files in the order of the bytes of their paths. Temporary files are left out.
   */
  readonly keys: readonly string[];
  /** The entries of these names. */
  readonly entries: readonly WatchedEntry[];
  /** Undefined before it is listed. */
  readonly inode: bigint | undefined;
  /** Why nothing is known of what is in it: its files have to be read always. Undefined for a folder that is watched. */
  readonly unwatched: UnwatchedReason | undefined;
}

/**
 * Why a folder is not watched: something is mounted there, it may not be read or entered, it compares names in a way of
 * its own, or it is too deep.
 */
export type UnwatchedReason = "mount" | "unreadable" | "folding" | "depth";

/** Why the tree does not know what is there. */
export type IncompleteReason =
  /** It was not built yet. */
  | "unlisted"
  /** The kernel's queue overflowed (max_queued_events): build it again. */
  | "overflow"
  /** Something was mounted or unmounted below the base: build it again. */
  | "mounts"
  /** Folders moved faster than they could be listed: build it again. */
  | "busy"
  /** The system refuses more watches (max_user_watches, max_user_instances) or memory: building again may help later. */
  | "limit"
  /** The base folder was removed, or its file system was unmounted. */
  | "base-gone";

/** What a drain has come to. */
export type WatchState =
  | { readonly isComplete: true }
  | { readonly isComplete: false; readonly reason: IncompleteReason };

/** Gets what drains and builds find out, while they run. */
export interface TreeListener {
  /** A file is there that was not; the number may be one that an earlier file had. */
  onAdded?(file: number): void;
  onRemoved?(file: number): void;
  /**
   * Content, permissions or identity of the file may have changed since the last drain. What was read of it before this
   * call says nothing, even if it is kept only afterwards.
   */
  onDirty?(file: number): void;
  /** The same for all files that the tree has. */
  onAllDirty?(): void;
  /**
   * A new name of a file that has other names too: what is read under one of them may be changed under another, without
   * an event for that one.
   */
  onLinked?(inode: bigint): void;
  /**
   * A file may have been changed for which there is no `onDirty`: under another name that it had for a moment, between two drains or
   * in a folder that was not watched yet.
   */
  onUnseenWrite?(): void;
  /**
   * Each change that the kernel reports, in order; but a move out of the tree comes when nothing else is queued. A folder
   * that was created or moved counts with all that is in it: what happens there before a drain has found it is not
   * reported. Nor is anything after an overflow, until the tree is built again.
   */
  onChange?: ((change: TreeChange) => void) | undefined;
}

/** A change, as the kernel reported it. */
export interface TreeChange {
  readonly kind: "created" | "removed" | "moved" | "modified" | "attributes";
  readonly isFolder: boolean;
  /** From the base, as bytes. For "moved", where it is now. */
  readonly path: Buffer;
  /** Where it was moved from. A move from outside of the tree is "created", one to there "removed". */
  readonly from?: Buffer;
  /** Of "created": it was moved here from outside of the tree, perhaps over what had the name. */
  readonly isMovedIn?: boolean;
  /** Of "modified": it was closed by who could write. Whether anything was written, through a mapping, is not known. */
  readonly isOnlyClosed?: boolean;
}

export interface WatchedTree {
  readonly base: WatchedFolder;
  /** Counts changes of names, of the kinds of entries, and of what is known: a list of files stays right as long as it is the same. */
  readonly version: number;
  /** The numbers of all files are below this. */
  readonly fileEnd: number;
  readonly files: number;
  readonly folders: number;
  /** Folders of which nothing is known. */
  readonly unwatchedFolders: number;
  /** That of the last drain or build. */
  readonly state: WatchState;
  /**
   * Lists all folders, watching each before, and completes the tree: at first, and after a drain that was incomplete.
   * Files that are still there keep their numbers, but not after a "limit". Runs in slices of time, beside drains, which are incomplete meanwhile.
   */
  build(): Promise<WatchState>;
  /**
   * Applies every change whose system call had returned when this was called. Not at all while the tree is incomplete:
   * `build` does that.
   */
  drain(): Promise<WatchState>;
  /** The files of the folder and those below it, in the order of the bytes of their paths, without folders not watched. */
  filesBelow(folder: WatchedFolder): Generator<WatchedFile, void, void>;
  close(): void;
}

/** A file as a walk meets it; it is the same object each time, valid until the next step. */
export interface WatchedFile {
  readonly folder: WatchedFolder;
  /** Its name, one character per byte. */
  readonly key: string;
  readonly file: number;
}
