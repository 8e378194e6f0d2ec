import type { Stats } from "node:fs";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";
import type { FileStats } from "../jail/kind.ts";
import { runInSlices } from "../scheduling/time-slice.ts";
import type { Pace } from "../scheduling/walk-slice.ts";
import type { OmitsEntry } from "./entries.ts";
import { readWindow } from "./entries.ts";
import { describe } from "./stats.ts";
import { sweepFolder } from "./sweep.ts";
import type { Entry, FilesContext, Page } from "./types.ts";

/** The entries to list: from one index up to, not including, another, among those that are not omitted. */
export interface PageRange {
  readonly from: number;
  readonly to: number;
  readonly omits?: OmitsEntry | undefined;
}

/** See `Files.page`. Sweeps the temporary files in the folder. */
export async function pageOfFolder(
  { jail, mutations }: Pick<FilesContext, "jail" | "mutations">,
  { folder, ...range }: PageRange & { readonly folder: Folder },
  { slice, deadline }: Pace,
): Promise<Page> {
  const reading = readWindow(folder, { ...range, isLeftOut: (name) => jail.isTemporary(name) });
  const { entries, total, leftOut } = await runInSlices(reading, slice, () => deadline.check());
  if (!jail.isReadOnly(folder.path))
    sweepFolder({ mutations, requester: undefined }, { folder, entries: leftOut });
  return { entries, total };
}

/** See `Files.stat`. */
export function statEntry(folder: Folder, entry: Entry): FileStats | undefined {
  const described = folder.statx?.(entry.raw);
  if (described !== undefined) return described;
  const stats = lstatEntry(folder, entry);
  return stats && describe(stats);
}

/** See `Files.lstat`. */
export function lstatEntry(folder: Folder, entry: Entry): Stats | undefined {
  try {
    return folder.lstat(entry.raw);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw refusalOfErrno(error, folder.requested);
  }
}
