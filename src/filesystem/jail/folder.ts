/**
 * The results of the jail: folders below the base, which it has reached one name at a time and holds open,
 * and paths that disk verbs use for the names in them.
 */
import type { Stats } from "node:fs";
import type { Refusal } from "../../base/errors.ts";
import type { OnDirent } from "./dirents.ts";
import type { FileStats } from "./kind.ts";
import type { Folding } from "./name-comparison.ts";

/** The scope of a change: a name, or a name with everything below it. */
export type ProtectedChange = "entry" | "tree";

declare const jailed: unique symbol;

/**
 * A path that is safe to pass to the operating system: a held folder and one name in it. Only a `Folder`
 * makes one, and it is valid only inside the `enter` callback that received it.
 */
export type JailedPath = (string | Buffer) & { readonly [jailed]: true };

/** One name in a folder, as bytes if the name on disk is not UTF-8. Callers can never send such a name. */
export type Name = string | Buffer;

/** A folder below the base, reached without following any link, and held until closed. */
export interface Folder extends Disposable {
  /** The path that a caller sent, which led here or to a folder above, for error sentences. */
  readonly requested: string;
  /** The names from the base down to here, all links resolved; empty for the base itself. */
  readonly names: readonly string[];
  /** The names, with "/" between them; "" for the base itself. */
  readonly path: string;
  /** Whether all names of its path are UTF-8, so that `path` has their bytes. */
  readonly isText: boolean;
  /** The way it compares names, according to its file system and its flags. */
  readonly folding: Folding;
  /**
   * The descriptor that holds it, if this backend has one. Threads of this process may open names below it
   * (`openAt`); the current-directory backend has none.
   */
  readonly descriptor: number | undefined;
  /** Whether it is the folder above several roots, which is on no disk: only these can be entered. */
  readonly isTop?: boolean;
  /**
   * Lets `act` name entries of this folder (`"."` is the folder itself). It is synchronous: `act` must not
   * await, and a path is invalid after it. Calls do not nest, except in a folder with a `descriptor`.
   */
  enter<T>(act: (at: (name: Name) => JailedPath) => T): T;
  /**
   * Opens the folder `name` in this one. Throws the errno error: ENOTDIR or ELOOP for a link, ENODEV for a
   * pseudo file system such as /proc.
   */
  child(name: Name): Folder;
  /**
   * Opens the folder that the names of `path` lead to in one step. Returns `undefined` if one of them is a
   * link, on another file system or missing, and on every other failure. Not every backend has it.
   */
  openFolderBeneath?(path: string): Folder | undefined;
  /**
   * Reports all entries, in no order, some thousand in each step. Throws the errno error, perhaps after some
   * entries. The folder stays open until the last step or `return`; only one listing may run at a time.
   */
  list(onDirent: OnDirent): Generator<void, void, void>;
  /**
   * Like `list`, but with the first step done: returns the rest, or `undefined` if there are no others. Not
   * every backend has it.
   */
  listAtOnce?(onDirent: OnDirent): Generator<void, void, void> | undefined;
  /**
   * Opens `name` without reading it and without following links. Throws the errno error, ENODEV on a pseudo
   * file system.
   */
  openPath(name: Name): PathHandle;
  /** Returns the stats of `name`, without following links, on any file system. Throws the errno error. */
  lstat(name: Name): Stats;
  /**
   * Returns a part of the stats in a third of the time, or `undefined` on every failure. Not every backend
   * has it.
   */
  statx?(name: Name): FileStats | undefined;
  /**
   * Returns device and inode of `name`, with all digits: numbers would round the inodes of some file systems.
   */
  identify(name: Name): string;
  /** Returns the text of the link `name`. Throws the errno error, EINVAL if it is not a link. */
  readLink(name: Name): Buffer;
  close(): void;
}

/** Returns whether all names of the path of an entry are UTF-8. */
export const isTextIn = (folder: Pick<Folder, "isText">, name: Name): boolean =>
  folder.isText && typeof name === "string";

/** A file that is opened but not for reading, and stays the same if the backend can hold it. Close it. */
export interface PathHandle {
  readonly stats: Stats;
  /** Documented at `ResolvedPath.open`. */
  open(): number;
  /** Documented at `ResolvedPath.requireWritable`. */
  requireWritable(): void;
  /** The bytes of a file that is not on disk yet, which cannot be opened. */
  readonly content?: readonly Uint8Array[] | undefined;
  /** Sets the permission bits of the file, which must not be a link. Throws the errno error. */
  chmod(mode: number): void;
  /** Sets the owner and group of the file, which must not be a link. Throws the errno error. */
  chown(uid: number, gid: number): void;
  close(): void;
}

/**
 * The target of a path of the wire. It holds its folder open until closed; write `using place =
 * jail.admit(…)`.
 */
export interface ResolvedPath extends Disposable, Omit<PathHandle, "stats" | "close"> {
  /** The path as the caller sent it, for error sentences. */
  readonly requested: string;
  /** The folder of `name`, or the deepest existing one if folders have to be created first. */
  readonly folder: Folder;
  /** Folders to create below `folder` for `name`, outermost first. Only with `parents`. */
  readonly newFolders: readonly string[];
  /** The last name, links resolved; `"."` if the place is the base. */
  readonly name: string;
  /**
   * The last name in its sent form, or in the form of a link. It differs from `name` if the file system finds
   * the entry under names that the folder does not list.
   */
  readonly sentName: string;
  /** The names from the base to the place, links resolved, which deny globs, queues and results use. */
  readonly names: readonly string[];
  /** The names, with "/" between them; "" for the base itself. */
  readonly path: string;
  /** The lstat of the place at the end of the walk, `undefined` if it is missing. */
  readonly stats: Stats | undefined;
  /**
   * Opens a new descriptor that reads the regular file of `stats`. Never blocks, and never opens a FIFO or a
   * device, even if one has replaced the file. Throws the errno error, ESTALE if the name now means another
   * file.
   */
  open(): number;
  /** Throws the errno error unless this process may write to the file of `stats` (access(2)). */
  requireWritable(): void;
}

/** The target of a path of the wire, for reading. Write `using target = jail.resolveForRead(…)`. */
export type ReadTarget = Pick<ResolvedPath, "requested" | "stats" | "open" | "content"> & Disposable;

export interface AdmitOptions {
  /**
   * The change that the call will make there. Every change must pass it: it makes the jail deny files that
   * determine the configuration, and refuse paths that are protected from writing, which calls may otherwise
   * read.
   */
  readonly changes?: ProtectedChange;
  /**
   * The resolved path of a removed folder that the call restores. If `mayGoWhole` holds for it, its entries
   * may be restored too.
   */
  readonly remade?: string | undefined;
  /**
   * The treatment of a link as the last name. `"follow"` follows it like any other (default). `"stay"` checks
   * that it leads to an entry inside that is not denied, then resolves to the link itself (delete-file).
   * `"bare"` resolves to the link itself, wherever it leads.
   */
  readonly lastLink?: "follow" | "stay" | "bare";
  /**
   * Whether the journal has the path. Its names were there before, so they may be ones that callers cannot
   * create. Default: false.
   */
  readonly isRecorded?: boolean;
  /** Whether the last name may be missing, if callers may create such a name. Default: false. */
  readonly mayBeMissing?: boolean;
  /**
   * Whether the new entry may be a folder, so that its path may end in "/". Only with `mayBeMissing`.
   * Default: false.
   */
  readonly mayBeFolder?: boolean;
  /**
   * Whether folders on the path may be missing too. The walk checks and lists them, and does not create them.
   * Only with `mayBeMissing`.
   */
  readonly parents?: boolean;
  /**
   * Whether a denied name counts as missing. Only with `mayBeMissing`, and for names that no call then
   * touches.
   */
  readonly deniedIsMissing?: boolean;
  /**
   * Called with each path that decides where this one leads, also if it leads nowhere: its own, and those
   * that links on it lead to. Names are not resolved, but `..` is removed.
   */
  readonly onPath?: (path: string) => void;
}

/** A part of the tree for one call (coder §26). All paths are relative to the base. */
export interface ScopeRequest {
  /** The folder where relative paths start. */
  readonly root: string;
  /** The folder that no path may leave. Default: the root. */
  readonly boundary?: string | undefined;
  /** The paths in it that may be touched. Default: everything. */
  readonly grants?: readonly ScopeGrant[] | undefined;
}

/** A path that a scope permits to touch, with everything below it. */
export interface ScopeGrant {
  readonly path: string;
  readonly read_only: boolean;
}

/** The part of the tree for a session of the harness of iii. */
export interface SessionRequest {
  /** The folder where relative paths start. */
  readonly folder: string;
  /** Whether the session may touch the whole tree, and `folder` is only where paths start. */
  readonly reachesAll: boolean;
  /** The paths that may be touched beside the folder. */
  readonly grants: readonly ScopeGrant[];
}

/** A folder that callers can reach. */
export interface JailRoot {
  /** The name in the top folder; `.` for the base. */
  readonly name: string;
  /** The canonical path on the host. */
  readonly hostPath: string;
  readonly isReadOnly: boolean;
}

/** A root whose folder did not exist when the jail was opened. */
export interface MissingRoot {
  readonly name: string;
  /** The absolute path on the host. */
  readonly path: string;
  /** The errno code of the failure. */
  readonly reason: string;
}

/** The one way from a string on the wire to something on disk. */
export interface Jail {
  /** The folders that callers can reach: the base, or each root. */
  readonly roots: readonly JailRoot[];
  /** Whether callers see a top folder with the roots in it. */
  readonly hasTop: boolean;
  /** Roots whose folders could not be reached when the jail was opened. They are not served. */
  readonly missingRoots: readonly MissingRoot[];
  /**
   * Returns the names of the roots whose folders were removed or moved away while the jail was open. A
   * root whose folder is back is opened again.
   */
  goneRoots(): readonly string[];
  /**
   * Returns the name of the root that a path from the top leads into; "" without a top folder, and for that
   * itself.
   */
  rootOf(path: string): string;
  /** Returns whether nothing at a path may be changed, because its root, or the top folder, is read-only. */
  isReadOnly(path: string): boolean;
  /** The base folder's own name, without the folders above it; `.` for the top folder. */
  readonly baseName: string;
  /**
   * Returns the host path of a path below the base, or in a root. Only for functions whose callers know host
   * paths.
   */
  hostPath(path: string): string;
  /** The name of the backend in use. */
  readonly backend: BackendName;
  /**
   * Walks `path` from the base. Throws a `Refusal`: bad-input for an invalid path, outside for one that
   * leaves the base or meets a bad link, missing and denied (one sentence), io if the base is gone.
   */
  admit(path: string, options?: AdmitOptions): ResolvedPath;
  /** Like `admit`, for reading an existing file. It need not hold the folder, which takes less time. */
  resolveForRead(path: string): ReadTarget;
  /**
   * Returns the path from the base if something exists there, no link leads to it, and one step shows that.
   * Otherwise it returns `undefined`, or throws a refusal.
   */
  plainPath(path: string): string | undefined;
  /** Like `admit`, for a folder, which it holds. Throws wrong-kind for anything else. `"."` is the base. */
  admitFolder(path: string): Folder;
  /**
   * Like `admitFolder`, for the path of a folder that was held before (`Folder.path`), "" for the base,
   * whatever the scope.
   */
  reopenFolder(path: string): Folder;
  /**
   * Returns whether a deny glob, or the reserved pattern of temporary files, covers these names or a folder
   * above them.
   */
  denies(names: readonly string[]): boolean;
  /**
   * Like `denies`, for one name in a folder that is not denied itself, which takes one match instead of one
   * per level.
   */
  deniesIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** Like `deniesIn`, for the name in `bytes[from, to)`. */
  deniesBytesIn(folder: Pick<Folder, "path" | "folding">, bytes: Buffer, from: number, to: number): boolean;
  /**
   * Returns whether a path from the top, or a folder above it, is denied or may not be changed. It goes by
   * names alone, compared as in the base.
   */
  deniesChange(path: string): boolean;
  /**
   * Returns whether callers may read, but not create or change, `name` in a folder that is open to changes.
   */
  deniesWritingIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** Returns whether nothing below the folder `name` in a folder may be changed, by globs alone. */
  deniesWritingAllIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /**
   * Returns whether a link at this place could lead, by its path, to something that callers may read, but not
   * create or change.
   */
  mayDenyWritingBelow(place: Pick<ResolvedPath, "path" | "names" | "folder">): boolean;
  /**
   * Returns whether a folder at this place, which callers may remove, can go with the files in it that they
   * may read, but not create or change.
   */
  mayGoWhole(
    place: Pick<ResolvedPath, "path" | "names"> & { readonly folder: Pick<Folder, "folding"> },
  ): boolean;
  /**
   * Returns the host paths of files and folders that make git run programs, as the configuration of the
   * working tree at `path` names them. Only those in the same root.
   */
  namedByGit(path: string): readonly string[];
  /** The host paths of files that no call may change, existing or not. */
  readonly protectedPaths: readonly string[];
  /** Returns whether the stats are those of a file that no call may change, under any of its names. */
  isProtected(stats: Stats): boolean;
  /** Returns the refusal of every call at a path if its base, or its root, is gone. */
  goneAt(path: string): Refusal | undefined;
  /**
   * Returns whether it is the name of a temporary file, which no function lists, searches, counts or touches.
   */
  isTemporary(name: string): boolean;
  /** Returns the path of a place in one spelling for all that the file system treats as the same. */
  fold(place: Pick<ResolvedPath, "path" | "folder">): string;
  /**
   * Returns the same tree, restricted to a part: `admit`, `admitFolder` and `resolveForRead` throw
   * out-of-scope for everything else, before they read the disk. Throws like `admitFolder`, bad-input for an
   * invalid scope, and out-of-scope for parts of it outside its boundary.
   */
  within(scope: ScopeRequest): Jail;
  /**
   * Like `within`, for a session, whose calls may also send host paths below the base or a root. A grant
   * outside, such as a folder that the session has for other programs, is ignored.
   */
  withinSession(session: SessionRequest): Jail;
  /** The part of the tree that may be touched, `undefined` if that is everything. */
  readonly scope: Scope | undefined;
  /** Returns the same tree and scope, with relative paths that start from the base. */
  fromBase(): Jail;
  /**
   * Returns the same rules over another view of the tree, such as its planned state. It is open as long as
   * this one.
   */
  over(view: TreeView): Jail;
  close(): void;
}

/** A part of the tree. Paths start from the base, links resolved. */
export interface Scope {
  /** The names from the base to the folder where relative paths start. */
  readonly root: readonly string[];
  /** Returns whether a call may touch the entry at `path`, and so everything below it. */
  contains(path: string): boolean;
  /** Returns whether `path` is in the scope, or on the way to something that is. */
  leadsInside(path: string): boolean;
}

/** A tree of folders that a jail walks. */
export interface TreeView {
  /** Returns the base, for a walk of the path `requested`. */
  base(requested: string): Folder;
}

/**
 * The ways to hold a folder. `descriptors` holds it by a descriptor and names its entries through procfs;
 * `openat` does the same and opens by a direct system call; `current-directory` changes into it.
 */
export type BackendName = "openat" | "descriptors" | "current-directory";
