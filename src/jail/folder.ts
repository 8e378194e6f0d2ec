/**
 * What the jail hands out: folders below the base that were reached one name at a time and are held open, and
 * the paths through which the disk verbs may act on the names in them.
 */
import type { Stats } from "node:fs";
import type { OnDirent } from "./dirents.ts";
import type { Folding } from "./folding.ts";

/** What a call changes: a name, or a name with everything below it. */
export type ProtectedChange = "entry" | "tree";

declare const jailed: unique symbol;

/**
 * A path that is safe to give to the operating system: a held folder and one name in it.
 * Only a `Folder` makes one, and it is good only inside the `enter` callback that received it.
 */
export type JailedPath = (string | Buffer) & { readonly [jailed]: true };

/** One name in a folder. Bytes where the name on disk is not UTF-8; callers can never send such a name. */
export type Name = string | Buffer;

/** A folder below the base, reached without following any link, and held until closed. */
export interface Folder extends Disposable {
  /** The path that a caller sent and that led here or to a folder above, for error sentences. */
  readonly asked: string;
  /** Names from the base down to here, all links resolved. Empty for the base itself. */
  readonly names: readonly string[];
  /** The names, with "/" between them; "" for the base itself. */
  readonly path: string;
  /** How its names are compared, as far as its file system and its flags say. */
  readonly folding: Folding;
  /**
   * The descriptor that holds it, where this backend has one. Threads of this process may open names below it
   * (`openAt`); the current-directory backend has none.
   */
  readonly descriptor: number | undefined;
  /**
   * Lets `act` name entries of this folder (`"."` is the folder itself). Synchronous: `act` must not await, and a
   * path is worthless after it. Calls do not nest, except in a folder with a `descriptor`.
   */
  enter<T>(act: (at: (name: Name) => JailedPath) => T): T;
  /**
   * The folder `name` in this one, held in its own right. Throws the errno error: ENOTDIR or ELOOP for a link, ENODEV
   * for a pseudo file system such as /proc.
   */
  child(name: Name): Folder;
  /**
   * Reports all entries, in no order, some thousand in each step. Throws the errno error: then it may have reported
   * some. The folder stays open, and is listed once at a time, until the last step or `return`.
   */
  list(onDirent: OnDirent): Generator<void, void, void>;
  /** What `name` is, links not followed. Throws the errno error, ENODEV on a pseudo file system. */
  openPath(name: Name): PathHandle;
  /** The stats of `name`, links not followed, on whatever file system. Throws the errno error. */
  lstat(name: Name): Stats;
  close(): void;
}

/** A file that was opened without being read, and that stays the same file where the backend can hold on to it. Close it. */
export interface PathHandle {
  readonly stats: Stats;
  /** See `ResolvedPath.open`. */
  open(): number;
  /** See `ResolvedPath.requireWritable`. */
  requireWritable(): void;
  /** Gives the file, which must not be a link, these permission bits. Throws the errno error. */
  chmod(mode: number): void;
  /** Gives the file, which must not be a link, to others. Throws the errno error. */
  chown(uid: number, gid: number): void;
  close(): void;
}

/** Where a path of the wire leads. Holds its folder open until closed; write `using place = jail.admit(…)`. */
export interface ResolvedPath extends Disposable, Omit<PathHandle, "stats" | "close"> {
  /** The path as the caller sent it, for error sentences. */
  readonly asked: string;
  /** The folder that holds `name`, or, when folders have to be made first, the deepest one that exists. */
  readonly folder: Folder;
  /** Folders to make below `folder`, outermost first, before `name` has a place. Only with `parents`. */
  readonly newFolders: readonly string[];
  /** The last name, links resolved; `"."` when the place is the base. */
  readonly name: string;
  /** Names from the base to the place, links resolved: what deny globs, queues and results go by. */
  readonly names: readonly string[];
  /** The names, with "/" between them; "" for the base itself. */
  readonly path: string;
  /** lstat of the place at the end of the walk; undefined when nothing is there. */
  readonly stats: Stats | undefined;
  /**
   * A new descriptor that reads the regular file `stats` describes. Never blocks, and never opens a FIFO or a device,
   * whatever has taken the name meanwhile. Throws the errno error, ESTALE where the name now means another file.
   */
  open(): number;
  /** Throws the errno error unless this process may write to the file `stats` describes, as access(2) has it. */
  requireWritable(): void;
}

/** What a path of the wire leads to, to be read. Write `using target = jail.resolveForRead(…)`. */
export type ReadTarget = Pick<ResolvedPath, "asked" | "stats" | "open"> & Disposable;

export interface AdmitOptions {
  /**
   * What the call is going to change there. To be given by whatever changes anything: a protected file then is denied,
   * which may be read otherwise.
   */
  readonly changes?: ProtectedChange;
  /**
   * What to do with a link as the last name: `"follow"` it like every other (default), or `"stay"`: verify that it
   * leads to something inside that is not denied, and then be the link itself (delete-file), or `"bare"`: be the link
   * itself, wherever it leads.
   */
  readonly lastLink?: "follow" | "stay" | "bare";
  /** The last name may be missing, if it may be given to something new. Default false. */
  readonly mayBeMissing?: boolean;
  /** With `mayBeMissing`: folders on the way may be missing too. They are checked, listed and not made. */
  readonly parents?: boolean;
}

/** The one way from a string on the wire to something on disk. */
export interface Jail {
  /** The base folder's own name, without the folders above it. */
  readonly baseName: string;
  /** The host path of a path below the base. Only for functions whose callers know host paths. */
  hostPath(path: string): string;
  /** How folders are held here. */
  readonly backend: BackendName;
  /**
   * Walks `path` from the base. Throws a `Refusal`: bad-input for a path that is no path, outside for one that
   * leaves the base or meets a bad link, missing and denied (one sentence), io when the base is gone.
   */
  admit(path: string, options?: AdmitOptions): ResolvedPath;
  /** Like `admit`, for what is there and is only read: its folder need not be held, which takes less time. */
  resolveForRead(path: string): ReadTarget;
  /** Like `admit`, and holds the folder that `path` names (wrong-kind when it is none). `"."` is the base. */
  admitFolder(path: string): Folder;
  /** True when a deny glob, or the reserved pattern of temporary files, covers these names or a folder above them. */
  denies(names: readonly string[]): boolean;
  /** `denies` for one name in a folder that is itself known not to be denied: one match instead of one per level. */
  deniesIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** The same for the name in `bytes[from, to)`. */
  deniesBytesIn(folder: Folder, bytes: Buffer, from: number, to: number): boolean;
  /** True for a file that no call may change, under whatever name it was met. */
  isProtected(stats: Stats): boolean;
  /** The names of temporary files, which no function lists, searches, counts or touches. */
  isTemporary(name: string): boolean;
  /** The path of a place, in one spelling for all that name it where the file system does not distinguish them. */
  fold(place: Pick<ResolvedPath, "path" | "folder">): string;
  close(): void;
}

/**
 * `descriptors` holds a folder by a descriptor and names its entries through procfs; `openat` does the same and opens
 * with a direct system call; `current-directory` steps into the folder.
 */
export type BackendName = "openat" | "descriptors" | "current-directory";
