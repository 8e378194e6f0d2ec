/**
 * The results of the jail: folders below the base, which it has reached one name at a time and holds open, and the paths by
 * which the disk verbs act on the names in them.
 */
import type { Stats } from "node:fs";
import type { OnDirent } from "./dirents.ts";
import type { Folding } from "./folding.ts";
import type { FileStats } from "./kind.ts";

/** The scope of a change: a name, or a name with everything below it. */
export type ProtectedChange = "entry" | "tree";

declare const jailed: unique symbol;

/**
 * A path that is safe to pass to the operating system: a held folder and one name in it. Only a `Folder` makes one, and it
 * is valid only inside the `enter` callback that received it.
 */
export type JailedPath = (string | Buffer) & { readonly [jailed]: true };

/** One name in a folder. Bytes where the name on disk is not UTF-8; callers can never send such a name. */
export type Name = string | Buffer;

/** A folder below the base, reached without following any link, and held until closed. */
export interface Folder extends Disposable {
  /** The path that a caller sent, which led here or to a folder above, for error sentences. */
  readonly requested: string;
  /** Names from the base down to here, all links resolved. Empty for the base itself. */
  readonly names: readonly string[];
  /** The names, with "/" between them; "" for the base itself. */
  readonly path: string;
  /** How it compares names, by its file system and its flags. */
  readonly folding: Folding;
  /**
   * The descriptor that holds it, where this backend has one. Threads of this process may open names below it
   * (`openAt`); the current-directory backend has none.
   */
  readonly descriptor: number | undefined;
  /**
   * Lets `act` name entries of this folder (`"."` is the folder itself). Synchronous: `act` must not await, and a
   * path is not valid after it. Calls do not nest, except in a folder with a `descriptor`.
   */
  enter<T>(act: (at: (name: Name) => JailedPath) => T): T;
  /**
   * Opens the folder `name` in this one. Throws the errno error: ENOTDIR or ELOOP for a link, ENODEV
   * for a pseudo file system such as /proc.
   */
  child(name: Name): Folder;
  /**
   * Reports all entries, in no order, some thousand in each step. Throws the errno error, perhaps after some entries. The
   * folder stays open until the last step or `return`; it can be listed once at a time.
   */
  list(onDirent: OnDirent): Generator<void, void, void>;
  /** The same, with the first step done: returns the others, undefined where there are none. Not every backend has it. */
  listAtOnce?(onDirent: OnDirent): Generator<void, void, void> | undefined;
  /**
   * Opens `name` without reading it and without following links. Throws the errno error, ENODEV on a pseudo file system.
   */
  openPath(name: Name): PathHandle;
  /** The stats of `name`, without following links, on any file system. Throws the errno error. */
  lstat(name: Name): Stats;
  /** A part of them in a third of the time; undefined for every failure. Not every backend has it. */
  statx?(name: Name): FileStats | undefined;
  /** Device and inode of `name`, in all their digits: numbers would round the inodes of some file systems. */
  identify(name: Name): string;
  /** The text of the link `name`. Throws the errno error, EINVAL for what is no link. */
  readLink(name: Name): Buffer;
  close(): void;
}

/** A file that is opened but not for reading, and stays the same where the backend can hold it. Close it. */
export interface PathHandle {
  readonly stats: Stats;
  /** See `ResolvedPath.open`. */
  open(): number;
  /** See `ResolvedPath.requireWritable`. */
  requireWritable(): void;
  /** The bytes of a file that is not on disk yet, which cannot be opened. */
  readonly content?: readonly Uint8Array[] | undefined;
  /** Sets the permission bits of the file, which must not be a link. Throws the errno error. */
  chmod(mode: number): void;
  /** Sets the owner and group of the file, which must not be a link. Throws the errno error. */
  chown(uid: number, gid: number): void;
  close(): void;
}

/** Where a path of the wire leads. Holds its folder open until closed; write `using place = jail.admit(…)`. */
export interface ResolvedPath extends Disposable, Omit<PathHandle, "stats" | "close"> {
  /** The path as the caller sent it, for error sentences. */
  readonly requested: string;
  /** The folder of `name`, or, when folders have to be made first, the deepest one that exists. */
  readonly folder: Folder;
  /** Folders to make below `folder` for `name`, outermost first. Only with `parents`. */
  readonly newFolders: readonly string[];
  /** The last name, links resolved; `"."` when the place is the base. */
  readonly name: string;
  /**
   * The last name as it was sent, or as a link has it. Another than `name` where the file system finds the entry under
   * names that the folder does not list.
   */
  readonly sentName: string;
  /** Names from the base to the place, links resolved: deny globs, queues and results use them. */
  readonly names: readonly string[];
  /** The names, with "/" between them; "" for the base itself. */
  readonly path: string;
  /** lstat of the place at the end of the walk; undefined for a missing one. */
  readonly stats: Stats | undefined;
  /**
   * Opens a new descriptor that reads the regular file of `stats`. Never blocks, and never opens a FIFO or a device, even
   * if one has replaced the file. Throws the errno error, ESTALE if the name now means another file.
   */
  open(): number;
  /** Throws the errno error unless this process may write to the file of `stats` (access(2)). */
  requireWritable(): void;
}

/** The target of a path of the wire, for reading. Write `using target = jail.resolveForRead(…)`. */
export type ReadTarget = Pick<ResolvedPath, "requested" | "stats" | "open"> & Disposable;

export interface AdmitOptions {
  /**
   * What the call will change there. Every change must pass it: it makes the jail deny files that decide the configuration,
   * and refuse what is protected from writing, which calls may otherwise read.
   */
  readonly changes?: ProtectedChange;
  /**
   * How to treat a link as the last name: `"follow"` it like every other (default); `"stay"`: verify that it leads to
   * something inside that is not denied, then resolve to the link itself (delete-file); `"bare"`: resolve to the link
   * itself, wherever it leads.
   */
  readonly lastLink?: "follow" | "stay" | "bare";
  /** The last name may be missing, if callers may create such a name. Default false. */
  readonly mayBeMissing?: boolean;
  /** With `mayBeMissing`: what is made may be a folder, so its path may end in "/". Default false. */
  readonly mayBeFolder?: boolean;
  /**
   * With `mayBeMissing`: folders on the path may be missing too. The walk checks and lists them, and does not make them.
   */
  readonly parents?: boolean;
  /** With `mayBeMissing`: what is denied counts as missing. Only for names that no call then touches. */
  readonly deniedIsMissing?: boolean;
}

/** A part of the tree for one call (coder §26). All paths are relative to the base. */
export interface ScopeRequest {
  /** The folder where relative paths start. */
  readonly root: string;
  /** The folder that nothing leaves. Default: the root. */
  readonly boundary?: string;
  /** What in it may be touched. Default: everything. */
  readonly grants?: readonly { readonly path: string; readonly read_only: boolean }[];
}

/** A folder that callers can reach. */
export interface JailRoot {
  /** Its name in the top folder; `.` of the base. */
  readonly name: string;
  /** Canonical host path. */
  readonly hostPath: string;
  readonly isReadOnly: boolean;
}

/** A root whose folder was not there when the jail was opened. */
export interface MissingRoot {
  readonly name: string;
  /** Absolute host path. */
  readonly path: string;
  /** The errno code. */
  readonly reason: string;
}

/** The one way from a string on the wire to something on disk. */
export interface Jail {
  /** What callers can reach: the base, or each root. */
  readonly roots: readonly JailRoot[];
  /** Whether callers see a top folder with the roots in it. */
  readonly hasTop: boolean;
  /** Roots whose folders could not be reached when the jail was opened; they are not served. */
  readonly missingRoots: readonly MissingRoot[];
  /** The name of the root that a path from the top leads into; "" without a top folder, and for that itself. */
  rootOf(path: string): string;
  /** Whether nothing at a path may be changed, because its root, or the top folder, is read-only. */
  isReadOnly(path: string): boolean;
  /** The base folder's own name, without the folders above it; `.` for the top folder. */
  readonly baseName: string;
  /** The host path of a path below the base, or in a root. Only for functions whose callers know host paths. */
  hostPath(path: string): string;
  /** The backend in use. */
  readonly backend: BackendName;
  /**
   * Walks `path` from the base. Throws a `Refusal`: bad-input for a path that is no path, outside for one that
   * leaves the base or meets a bad link, missing and denied (one sentence), io when the base is gone.
   */
  admit(path: string, options?: AdmitOptions): ResolvedPath;
  /** Like `admit`, for reading what exists. It need not hold the folder, which takes less time. */
  resolveForRead(path: string): ReadTarget;
  /** Like `admit`, for a folder, which it holds (wrong-kind for anything else). `"."` is the base. */
  admitFolder(path: string): Folder;
  /** The same for the path of a folder that was held before (`Folder.path`), "" of the base, whatever the scope. */
  reopenFolder(path: string): Folder;
  /** Whether a deny glob, or the reserved pattern of temporary files, covers these names or a folder above them. */
  denies(names: readonly string[]): boolean;
  /** `denies` for one name in a folder that is not denied itself: one match instead of one per level. */
  deniesIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** The same for the name in `bytes[from, to)`. */
  deniesBytesIn(folder: Pick<Folder, "path" | "folding">, bytes: Buffer, from: number, to: number): boolean;
  /** Whether callers may read, and never make or change, `name` in a folder of which that is not true. */
  deniesWritingIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** Whether a link at this place could lead to what callers may read, and never make or change, by its path. */
  mayDenyWritingBelow(place: Pick<ResolvedPath, "path" | "names" | "folder">): boolean;
  /** Whether the stats are those of a file that no call may change, under any of its names. */
  isProtected(stats: Stats): boolean;
  /** Whether it is the name of a temporary file, which no function lists, searches, counts or touches. */
  isTemporary(name: string): boolean;
  /** The path of a place in one spelling for all that the file system takes for the same. */
  fold(place: Pick<ResolvedPath, "path" | "folder">): string;
  /**
   * The same tree, of which only a part may be touched: `admit`, `admitFolder` and `resolveForRead` throw out-of-scope for
   * everything else, before they read what is there. Throws as `admitFolder`, bad-input for a scope that is none, and out-of-scope for parts of it
   * outside of its boundary.
   */
  within(scope: ScopeRequest): Jail;
  /** The part of the tree that may be touched; undefined where that is everything. */
  readonly scope: Scope | undefined;
  /** The same tree and scope, where relative paths start from the base. */
  fromBase(): Jail;
  /** The same rules over another view of the tree, such as what it will be. It is open as long as this one. */
  over(view: TreeView): Jail;
  close(): void;
}

/** A part of the tree. Paths are from the base, links resolved. */
export interface Scope {
  /** The names from the base to the folder where relative paths start. */
  readonly root: readonly string[];
  /** Whether a call may touch what is at `path`, and so everything below it. */
  contains(path: string): boolean;
  /** Whether `path` is in the scope, or on the way to something that is. */
  leadsInside(path: string): boolean;
}

/** A tree of folders that a jail walks. */
export interface TreeView {
  /** The base, for a walk of the path `requested`. */
  base(requested: string): Folder;
}

/**
 * `descriptors` holds a folder by a descriptor and names its entries through procfs; `openat` does the same and opens by a
 * direct system call; `current-directory` changes into the folder.
 */
export type BackendName = "openat" | "descriptors" | "current-directory";
