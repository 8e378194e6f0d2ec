/** Removes the temporary files of processes that were killed between writing a file and giving it its name. */
import { lstatSync } from "node:fs";
import { Refusal } from "../errors.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { isGone, makerOf } from "../jail/temporary.ts";
import { createTimeSlice, runInSlices, type TimeSlice } from "../scheduling/time-slice.ts";
import { readEntries } from "./entries.ts";
import { type MutationScope, sweepEntry } from "./mutate.ts";
import type { Entry, FilesContext } from "./types.ts";

/**
 * A call writes its file at once or piece by piece, and lasts an hour at most, so a file that nothing was written to for
 * so long is nobody's, even when its maker may run in another container or on another host, where it cannot be asked for.
 */
const oldestInUseMilliseconds = 2 * 60 * 60_000;

/** Removes those of `entries` that are temporary files and in use no more; answers how many. Never throws. */
export function sweepFolder(
  scope: MutationScope,
  { folder, entries, now = Date.now() }: { folder: Folder; entries: readonly Entry[]; now?: number },
): number {
  return entries.filter((entry) => isLeftOver(folder, entry, now) && isRemoved(scope, folder, entry)).length;
}

function isLeftOver(folder: Folder, { name, raw }: Entry, now: number): boolean {
  const maker = makerOf(name);
  if (maker === undefined) return false;
  try {
    const stats = folder.enter((at) => lstatSync(at(raw)));
    return stats.isFile() && (isGone(maker) || now - stats.ctimeMs > oldestInUseMilliseconds);
  } catch {
    return false;
  }
}

function isRemoved(scope: MutationScope, folder: Folder, entry: Entry): boolean {
  try {
    sweepEntry(scope, folder, entry);
    return true;
  } catch {
    return false;
  }
}

const maxDepth = 256;

/** See `Files.sweep`. Denied folders are left out: nothing was ever written there. */
export async function sweepTree({ jail, mutations }: SweepContext, stop?: AbortSignal): Promise<number> {
  using base = jail.admitFolder(".");
  return await sweepBelow(
    { jail, scope: { mutations, requester: undefined }, stop, slice: createTimeSlice(sliceMilliseconds) },
    base,
    1,
  );
}

type SweepContext = Pick<FilesContext, "jail" | "mutations">;

interface Sweeping {
  readonly jail: Jail;
  readonly scope: MutationScope;
  readonly stop: AbortSignal | undefined;
  readonly slice: TimeSlice;
}

/** Calls are served between two of them. */
const sliceMilliseconds = 5;

async function sweepBelow(sweeping: Sweeping, folder: Folder, depth: number): Promise<number> {
  await sweeping.slice.yieldIfDue();
  if (sweeping.stop?.aborted) return 0;
  const entries = await readEntriesOrNone(sweeping, folder);
  let swept = sweepFolder(sweeping.scope, { folder, entries });
  for (const { name, raw, kind } of entries) {
    if (kind !== "dir" || depth === maxDepth || sweeping.jail.deniesIn(folder, name)) continue;
    const child = childOrNone(folder, raw);
    if (child === undefined) continue;
    using held = child;
    swept += await sweepBelow(sweeping, held, depth + 1);
  }
  return swept;
}

async function readEntriesOrNone({ slice }: Sweeping, folder: Folder): Promise<Entry[]> {
  try {
    return await runInSlices(readEntries(folder), slice);
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

function childOrNone(folder: Folder, name: Entry["raw"]): Folder | undefined {
  try {
    return folder.child(name);
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}
