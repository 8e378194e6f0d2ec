import type { Stats } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import { runInSlices } from "../../base/scheduling/time-slice.ts";
import type { Pace } from "../../base/scheduling/walk-slice.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import type { FileStats } from "../jail/kind.ts";
import { type EntriesInWindow, type OmitsEntry, readWindow } from "./entries.ts";
import { describe } from "./stats.ts";
import type { Entry, Page } from "./types.ts";

/**
 * The entries to list: from one index up to, but not including, another, among those that are not omitted.
 */
export interface PageRange {
  readonly from: number;
  readonly to: number;
  readonly omits?: OmitsEntry | undefined;
}

/** Implements `Files.page`. Sweeps the temporary files in the folder. */
export function pageOfFolder(
  context: PageContext,
  folder: Folder,
  { from, to, omits }: PageRange,
  { slice, deadline }: Pace,
): Page | Promise<Page> {
  const { jail } = context;
  const reading = readWindow(folder, { from, to, omits, isLeftOut: (name) => jail.isTemporary(name) });
  if (!(Symbol.iterator in reading)) return pageOf(context, folder, reading);
  const found = runInSlices(reading, slice, () => deadline.check());
  return found.then((entries) => pageOf(context, folder, entries));
}

/** Removes the temporary files in a folder that are no longer in use. Returns their number. Never throws. */
export type SweepFolder = (folder: Folder, entries: readonly Entry[]) => number;

interface PageContext {
  readonly jail: Jail;
  readonly sweepFolder: SweepFolder;
}

function pageOf(
  { sweepFolder }: PageContext,
  folder: Folder,
  { entries, total, leftOut }: EntriesInWindow,
): Page {
  if (leftOut.length > 0) sweepFolder(folder, leftOut);
  return { entries, total };
}

/**
 * Implements `Files.stat`. Throws permission if no entry of the folder may be reached; a single inaccessible
 * entry, such as the mount of another user, has no stats.
 */
export function statEntry(folder: Folder, entry: Entry): FileStats | undefined {
  const described = folder.statx?.(entry.raw);
  if (described !== undefined) return described;
  try {
    const stats = lstatEntry(folder, entry);
    return stats && describe(stats);
  } catch (error) {
    if (error instanceof Refusal && error.reason === "permission" && isSearchable(folder)) return undefined;
    throw error;
  }
}

/** Returns whether this process may reach the entries of a folder (`x`), besides listing them (`r`). */
function isSearchable(folder: Folder): boolean {
  try {
    folder.lstat(".");
    return true;
  } catch {
    return false;
  }
}

/** Implements `Files.lstat`. */
export function lstatEntry(folder: Folder, entry: Entry): Stats | undefined {
  try {
    return folder.lstat(entry.raw);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw refusalOfErrno(error, folder.requested);
  }
}
