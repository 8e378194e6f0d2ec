/**
 * Reading the disk, only below folders that the jail holds. Each function throws a `Refusal` that names the
 * path as the caller sent it.
 */
import type { Stats } from "node:fs";
import type { Pace } from "../../base/scheduling/walk-slice.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import type { FileStats } from "../jail/kind.ts";
import { lstatEntry, type PageRange, pageOfFolder, type SweepFolder, statEntry } from "./list.ts";
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
   * Opens a regular file, to be read piece by piece. Throws too-large over the limit, wrong-kind for anything
   * else.
   */
  open(path: string, limit: Limit | undefined): OpenFile;
  readonly sweepFolder: SweepFolder;
}

/** Creates the functions that read below one jail. Listing a folder sweeps it. */
export function filesOver(jail: Jail, sweepFolder: SweepFolder): Files {
  const context = { jail, sweepFolder };
  return {
    list: async (folder, pace) =>
      (await pageOfFolder(context, folder, { from: 0, to: Number.POSITIVE_INFINITY }, pace)).entries,
    page: (folder, range, pace) => pageOfFolder(context, folder, range, pace),
    stat: statEntry,
    lstat: lstatEntry,
    read: (path, limit, use) => readWholeFile(jail, path, { limit, use }),
    readOrOpen: (path, limit, uses) => readOrOpen(jail, path, { limit, uses }),
    open: (path, limit) => openFile(jail, path, limit),
    sweepFolder,
  };
}
