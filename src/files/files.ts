/**
 * The operations on the disk, only below folders that the jail holds. Each throws a `Refusal` that names the
 * path as the caller sent it.
 */
import type { Stats } from "node:fs";
import { changeMode, type ModeOptions } from "../changes/change-mode.ts";
import { type Copying, copyPath } from "../changes/copy.ts";
import { type CreateOptions, writeFile } from "../changes/create.ts";
import { DiskTree } from "../changes/disk-tree.ts";
import { createFolder, type FolderOptions } from "../changes/make-folder.ts";
import { type Moving, movePath } from "../changes/move.ts";
import { type RemoveOptions, removePath, unlinkPath } from "../changes/remove.ts";
import { type Renaming, renamePath } from "../changes/rename.ts";
import { type StoreOptions, storeFile } from "../changes/store.ts";
import { type ContentChange, rewriteFile, type UpdateOptions } from "../changes/update.ts";
import { type Disk, type DiskOptions, openDisk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { sweepFolder, sweepTree } from "../disk/sweep.ts";
import type { Folder } from "../jail/folder.ts";
import type { FileStats } from "../jail/kind.ts";
import type { Pace } from "../scheduling/walk-slice.ts";
import { lstatEntry, type PageRange, pageOfFolder, statEntry } from "./list.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { readOrOpen, readWholeFile, type Use, type Uses } from "./read.ts";
import type { Entry, Limit, Page } from "./types.ts";

export interface Files {
  /** Lists the entries of a folder sorted by the bytes of their names, without temporary files. */
  list(folder: Folder, pace: Pace): Promise<readonly Entry[]>;
  /**
   * Lists some entries, from the first index up to, but not including, the second. For a few of very many,
   * this is far cheaper than `list`. A small folder is listed at once.
   */
  page(folder: Folder, range: PageRange, pace: Pace): Page | Promise<Page>;
  /** Returns the lstat of one entry, or `undefined` if it is gone. */
  stat(folder: Folder, entry: Entry): FileStats | undefined;
  /** Like `stat`, but with everything that the system reports. */
  lstat(folder: Folder, entry: Entry): Stats | undefined;
  /**
   * Reads a whole regular file into a buffer that `use` must not keep; the stats match these bytes. Throws
   * too-large over the limit, before it reads more than one byte past it.
   */
  read<T>(path: string, limit: Limit, use: Use<T>): T;
  /** Like `read`, but a larger file is passed to a different function. */
  readOrOpen<T>(path: string, limit: Limit, uses: Uses<T>): T;
  /**
   * Creates a file with this content and exactly this mode, or with `overwrite` replaces one in a single
   * step. `parents` creates missing folders. If it throws, nothing was created, replaced or left over.
   */
  create(path: string, content: Buffer, options: CreateOptions, requester: Requester): Promise<void>;
  /**
   * Replaces the content of a regular file by the result of `change`, in a single step that keeps mode and,
   * if permitted, owner. `change` is called once more if others changed the file in between. Returns the
   * result of `project`, if present, for both contents.
   */
  update<T = void>(
    path: string,
    change: ContentChange,
    requester: Requester,
    options?: UpdateOptions<T>,
  ): Promise<T>;
  /** Removes a file, a link (not its target) or a folder. Returns false if nothing was there. */
  remove(path: string, options: RemoveOptions, requester: Requester): Promise<boolean>;
  /**
   * Opens a regular file, to be read piece by piece. Throws too-large over the limit, wrong-kind for anything
   * else.
   */
  open(path: string, limit: Limit | undefined): OpenFile;
  /**
   * Stores `content` at the place where `path` leads, through links, whatever was there before, in a single
   * step once all of it has arrived. It keeps the owner and, without a `mode`, the permission bits of a
   * replaced file. If it throws, nothing was created, replaced or left over.
   */
  store(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: StoreOptions,
    requester: Requester,
  ): Promise<void>;
  /** Creates a folder. Returns false if it exists, which throws exists unless allowed. */
  makeFolder(path: string, options: FolderOptions, requester: Requester): boolean;
  /**
   * Sets permissions and owners of a file, or of a tree without its links. Returns the number of changed
   * entries.
   */
  changeMode(path: string, options: ModeOptions, requester: Requester): Promise<number>;
  /** Renames a file, link or folder. Without `overwrite` no file is ever replaced. */
  rename(renaming: Renaming, requester: Requester): Promise<void>;
  /**
   * Like `rename`, but `parents` creates missing folders, and only files, and links to files, are replaced.
   * Returns false if both paths are the same. Throws for a folder with anything denied inside, here or at the
   * target. Waits for earlier calls on either path.
   */
  move(moving: Moving, requester: Requester): Promise<boolean>;
  /**
   * Copies a file, a link (not its target) or a folder with everything in it; `parents` creates missing
   * folders. Only files, and links to files, are replaced. Returns false if both paths are the same. A copy
   * gets its name in a single step, once it is complete; if this throws, nothing was created, replaced or
   * left over. Throws for a folder with anything denied inside, here or at the target, and for an entry other
   * than a file, link or folder.
   */
  copy(copying: Copying, requester: Requester): Promise<boolean>;
  /** Like `remove`, but a link may lead anywhere, and it throws if nothing is there. */
  unlink(path: string, options: RemoveOptions, requester: Requester): Promise<void>;
  /**
   * Removes everything that killed processes left below the base, or a part of it if `stop` aborts. Returns
   * the number of files.
   */
  sweep(stop?: AbortSignal): Promise<number>;
  /**
   * Removes the temporary files in a folder that are no longer in use. Returns their number. Never throws.
   */
  sweepFolder(folder: Folder, entries: readonly Entry[]): number;
}

/** Creates the disk verbs over one jail. */
export const createFiles = (options: DiskOptions): Files => filesOver(openDisk(options));

/** Like `createFiles`, but with a shared context. */
export function filesOver(ctx: Disk): Files {
  const { jail, mutations, isAbandoned } = ctx;
  const tree = new DiskTree(ctx);
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
    changeMode: (path, options, requester) => changeMode(tree, { path, ...options }, requester),
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
