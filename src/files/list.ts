import type { Stats } from "node:fs";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";
import { runInSlices } from "../scheduling/time-slice.ts";
import type { Pace } from "../scheduling/walk-slice.ts";
import { readWindow } from "./entries.ts";
import { describe } from "./stats.ts";
import { sweepFolder } from "./sweep.ts";
import type { Entry, FileStats, FilesContext, Page } from "./types.ts";

/** See `Files.page`. Temporary files that it meets and that nobody uses any more are removed. */
export async function pageOfFolder(
  { jail, mutations }: Pick<FilesContext, "jail" | "mutations">,
  { folder, from, to }: { folder: Folder; from: number; to: number },
  { slice, deadline }: Pace,
): Promise<Page> {
  const reading = readWindow(folder, { from, to, isLeftOut: (name) => jail.isTemporary(name) });
  const { entries, total, leftOut } = await runInSlices(reading, slice, () => deadline.check());
  sweepFolder({ mutations, requester: undefined }, { folder, entries: leftOut });
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
    throw refusalOfErrno(error, folder.asked);
  }
}
