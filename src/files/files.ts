/**
 * Touching the disk, only below folders that the jail holds. Every verb throws a `Refusal` that names the path as the
 * caller sent it.
 */
import type { Stats } from "node:fs";
import type { Folder, Jail } from "../jail/folder.ts";
import type { FileStats } from "../jail/kind.ts";
import type { Pace } from "../scheduling/walk-slice.ts";
import { changeMode, type ModeOptions } from "./change-mode.ts";
import { type Copying, copyPath } from "./copy.ts";
import { type CreateOptions, writeFile } from "./create.ts";
import { createEditLock, type RootEditLock } from "./edit-lock.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";
import { lstatEntry, type PageRange, pageOfFolder, statEntry } from "./list.ts";
import { createFolder, type FolderOptions } from "./make-folder.ts";
import { type Moving, movePath } from "./move.ts";
import type { MutationListener, Requester } from "./mutation.ts";
import { Mutations } from "./mutations.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { readOrOpen, readWholeFile, type Use, type Uses } from "./read.ts";
import { type RemoveOptions, removePath, unlinkPath } from "./remove.ts";
import { type Renaming, renamePath } from "./rename.ts";
import { type StoreOptions, storeFile } from "./store.ts";
import { sweepFolder, sweepTree } from "./sweep.ts";
import type { Entry, FilesConfig, FilesContext, Limit, Page } from "./types.ts";
import { type ContentChange, rewriteFile, type UpdateOptions } from "./update.ts";

export interface Files {
  /** The entries of a folder sorted by the bytes of their names, without temporary files. */
  list(folder: Folder, pace: Pace): Promise<readonly Entry[]>;
  /**
   * Those of `list` from the first index up to, not including, the second: far cheaper for a few of very many. At once for
   * a folder of few.
   */
  page(folder: Folder, range: PageRange, pace: Pace): Page | Promise<Page>;
  /** lstat of one entry; undefined when it is gone. */
  stat(folder: Folder, entry: Entry): FileStats | undefined;
  /** The same with everything that the system reports. */
  lstat(folder: Folder, entry: Entry): Stats | undefined;
  /**
   * A regular file, whole, in a buffer that `use` must not keep; its stats are those of these bytes. Throws too-large
   * over the limit, before it reads more than one byte past it.
   */
  read<T>(path: string, limit: Limit, use: Use<T>): T;
  /** The same, and what to do with a larger file instead. */
  readOrOpen<T>(path: string, limit: Limit, uses: Uses<T>): T;
  /**
   * Makes a file with this content and exactly this mode, or with `overwrite` replaces one in a single step. Missing
   * folders are made with `parents`. When it throws, nothing was made, replaced or left behind.
   */
  create(path: string, content: Buffer, options: CreateOptions, requester: Requester): Promise<void>;
  /**
   * Replaces the content of a regular file with what `change` makes of it, in a single step that keeps mode and, where
   * permitted, owner. `change` is asked again, once, when the file was changed by others meanwhile. Answers what
   * `project`, if it is given, makes of both contents.
   */
  update<T = void>(
    path: string,
    change: ContentChange,
    requester: Requester,
    options?: UpdateOptions<T>,
  ): Promise<T>;
  /** Removes a file, a link (not what it leads to) or a folder. False when nothing was there. */
  remove(path: string, options: RemoveOptions, requester: Requester): Promise<boolean>;
  /** A regular file, open, to be read piece by piece. Throws too-large over the limit, wrong-kind for anything else. */
  open(path: string, limit: Limit | undefined): OpenFile;
  /**
   * Puts `content` where `path` leads, through links, whatever was there before: in a single step once all of it has
   * come. The owner and, without a `mode`, the permission bits of a file that is replaced are kept. When it throws,
   * nothing was made, replaced or left behind.
   */
  store(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: StoreOptions,
    requester: Requester,
  ): Promise<void>;
  /** Makes a folder. False when it is there already, which throws exists unless it may be. */
  makeFolder(path: string, options: FolderOptions, requester: Requester): boolean;
  /** Gives a file, or a tree without its links, these permissions and owners. Answers how many were changed. */
  changeMode(path: string, options: ModeOptions, requester: Requester): Promise<number>;
  /** Gives a file, link or folder another name. Without `overwrite` no file is ever replaced. */
  rename(renaming: Renaming, requester: Requester): Promise<void>;
  /**
   * As `rename`, with missing folders made with `parents`, and of what is there only files, and links to files, replaced.
   * False when both paths are one. Throws for a folder that holds something denied, here or where it would be moved to.
   * Waits for earlier calls on either path.
   */
  move(moving: Moving, requester: Requester): Promise<boolean>;
  /**
   * Makes a copy of a file, a link (not of what it leads to) or a folder with everything in it, with missing folders made
   * with `parents`. Of what is there only files, and links to files, are replaced. False when both paths are one. A copy
   * gets its name in a single step, once it is whole; when this throws, nothing was made, replaced or left behind. Throws
   * for a folder that holds something denied, here or where the copy would be, and for what is no file, link or folder.
   */
  copy(copying: Copying, requester: Requester): Promise<boolean>;
  /** As `remove`, but a link may lead anywhere, and it throws when nothing is there. */
  unlink(path: string, options: RemoveOptions, requester: Requester): Promise<void>;
  /** Removes what killed processes left below the base, or a part of it when `stop` aborts. Answers how many files. */
  sweep(stop?: AbortSignal): Promise<number>;
  /** Removes those of the temporary files in a folder that are in use no more. Answers how many. Never throws. */
  sweepFolder(folder: Folder, entries: readonly Entry[]): number;
}

export interface FilesOptions {
  readonly jail: Jail;
  readonly config: FilesConfig;
  /** Called with every change. */
  readonly listeners?: readonly MutationListener[];
  /** Gets what listeners throw. */
  readonly onListenerError?: (error: unknown) => void;
  readonly isAbandoned?: FilesContext["isAbandoned"];
  /** Of workers that share a state folder. */
  readonly rootEditLock?: RootEditLock | undefined;
}

/** What the verbs over one jail, and transactions beside them, share. */
export const createFilesContext = (options: FilesOptions): FilesContext => ({
  jail: options.jail,
  config: options.config,
  locks: createKeyedMutex(),
  mutations: new Mutations(options.listeners, options.onListenerError),
  isAbandoned: options.isAbandoned,
  editLock: createEditLock(options.rootEditLock),
});

/** The disk verbs over one jail. */
export const createFiles = (options: FilesOptions): Files => filesOver(createFilesContext(options));

/** The same with a context that others have too. */
export function filesOver(ctx: FilesContext): Files {
  const { jail, mutations, isAbandoned } = ctx;
  return {
    list: async (folder, pace) =>
      (await pageOfFolder(ctx, folder, { from: 0, to: Number.POSITIVE_INFINITY }, pace)).entries,
    page: (folder, range, pace) => pageOfFolder(ctx, folder, range, pace),
    stat: statEntry,
    lstat: lstatEntry,
    read: (path, limit, use) => readWholeFile(jail, path, { limit, use }),
    readOrOpen: (path, limit, uses) => readOrOpen(jail, path, { limit, uses }),
    create: (path, content, options, requester) => writeFile(ctx, { path, content, ...options }, requester),
    update: (path, change, requester, options) => rewriteFile(ctx, { path, change, ...options }, requester),
    remove: (path, options, requester) => removePath(ctx, { path, ...options }, requester),
    open: (path, limit) => openFile(jail, path, limit),
    store: (path, content, options, requester) => storeFile(ctx, { path, content, ...options }, requester),
    makeFolder: (path, options, requester) => createFolder(ctx, { path, ...options }, requester),
    changeMode: (path, options, requester) => changeMode(ctx, { path, ...options }, requester),
    rename: (renaming, requester) => renamePath(ctx, renaming, requester),
    move: (moving, requester) => movePath(ctx, moving, requester),
    copy: (copying, requester) => copyPath(ctx, copying, requester),
    unlink: (path, options, requester) => unlinkPath(ctx, { path, ...options }, requester),
    sweep: (stop) => sweepTree(ctx, stop),
    sweepFolder: (folder, entries) =>
      jail.isReadOnly(folder.path)
        ? 0
        : sweepFolder({ mutations, requester: undefined }, { folder, entries, isAbandoned }),
  };
}
