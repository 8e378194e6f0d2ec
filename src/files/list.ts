import type { Stats } from "node:fs";
import { errnoOf, refusalOf } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { readEntries, readWindow } from "./entries.ts";
import type { Entry, FileStats, Page } from "./files.ts";
import { describe } from "./stats.ts";
import { sweepFolder } from "./sweep.ts";

/** See `Files.list`. Temporary files that it meets and that nobody uses any more are removed. */
export function listFolder(jail: Jail, folder: Folder): Entry[] {
  const all = readEntries(folder);
  const entries = all.filter((entry) => !jail.isTemporary(entry.name));
  if (entries.length < all.length) sweepFolder(folder, all);
  return entries;
}

/** See `Files.page`. */
export function pageOfFolder(jail: Jail, folder: Folder, [from, to]: readonly [number, number]): Page {
  const isLeftOut = (name: string) => jail.isTemporary(name);
  const { entries, total, leftOut } = readWindow(folder, { from, to, isLeftOut });
  if (leftOut > 0) sweepFolder(folder, readEntries(folder));
  return { entries, total };
}

/** See `Files.stat`. */
export function statEntry(folder: Folder, entry: Entry): FileStats | undefined {
  const stats = lstatEntry(folder, entry);
  return stats && describe(stats);
}

/** See `Files.lstat`. */
export function lstatEntry(folder: Folder, entry: Entry): Stats | undefined {
  try {
    return folder.lstat(entry.raw);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw refusalOf(error, folder.asked);
  }
}
