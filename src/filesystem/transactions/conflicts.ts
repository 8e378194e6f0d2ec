/**
 * Finds the changes that other programs have made since a transaction was interrupted, among the entries that
 * its rollback affects.
 */

import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import { runInSlices, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { holdFolderAt, withFolderOf } from "../disk/hold-folder.ts";
import { readEntries } from "../files/entries.ts";
import { pathIn } from "../jail/backend.ts";
import type { Jail } from "../jail/folder.ts";
import { inodeOf } from "../jail/inode.ts";
import { isUnchanged, statsAt } from "./identity.ts";
import type { NamedEntry } from "./name-tree.ts";
import type { RecordedEntry } from "./record.ts";
import { isListedPath, statPath, type Trace, traceSteps } from "./survey.ts";

/** The number of steps that are done. */
export interface StepsDone {
  readonly done: number;
  readonly slice: TimeSlice;
}

/** Like `StepsDone`, with the modes that the transaction knows. */
export interface ReachedSteps extends StepsDone {
  readonly modes: KnownModes;
}

/** Returns the paths of entries that differ from their state after the first `done` steps. */
export async function findConflicts(jail: Jail, trace: Trace, reached: ReachedSteps): Promise<string[]> {
  const { done, slice } = reached;
  const conflicts = new Set([
    ...(await vacatedAgain(jail, trace, reached)),
    ...(await changedModes(jail, trace, reached)),
  ]);
  const known = await knownIn(trace, reached);
  for (const { staged } of trace.entries.slice(0, done)) {
    await slice.yieldIfDue();
    if (staged === undefined) continue;
    const entry = { recorded: staged.recorded!, path: staged.pathAfter(done), known };
    for (const path of await changesIn(jail, entry, slice)) conflicts.add(path);
  }
  return await runInSlices(
    mergeSort([...conflicts], (one, other) => one < other),
    slice,
  );
}

/** Finds names that the transaction vacated and that another entry has now, or whose folder is gone. */
async function vacatedAgain(jail: Jail, { steps }: Trace, { done, slice }: StepsDone): Promise<string[]> {
  const { vacated } = (await traceSteps(steps, slice, done)).tree;
  const again: string[] = [];
  for (const { folder, name } of vacated) {
    await slice.yieldIfDue();
    if (folder.inside.has(name)) continue;
    const outer = folder.pathAfter(done);
    const isThere = outer === "" || statPath(jail, outer)?.isDirectory() === true;
    const path = pathIn(outer, name);
    const isFree = statPath(jail, path) === undefined || !isListedPath(jail, path);
    if (!isThere || !isFree) again.push(path);
  }
  return again;
}

async function changedModes(
  jail: Jail,
  { steps, entries }: Trace,
  { done, slice, modes }: ReachedSteps,
): Promise<string[]> {
  const changed: string[] = [];
  for (const [index, step] of steps.slice(0, done).entries()) {
    if (step.kind !== "chmod") continue;
    const path = entries[index]!.entry!.pathAfter(done);
    const now = Number(statPath(jail, path)?.mode ?? 0n) & 0o7777;
    if (!modes.of(step.entry).has(now)) changed.push(path);
    await slice.yieldIfDue();
  }
  return changed;
}

/** The modes that a transaction sets, and those that the entries had before. */
export class KnownModes {
  readonly #modes = new Map<string, Set<number>>();

  /** Collects the modes of all steps. */
  static async in({ steps }: Trace, slice: TimeSlice): Promise<KnownModes> {
    const known = new KnownModes();
    for (const step of steps) {
      if (step.kind === "chmod")
        known.#modes.set(inodeOf(step.entry), known.of(step.entry).add(step.before).add(step.after));
      if (slice.isDue) await slice.yieldIfDue();
    }
    return known;
  }

  of(entry: RecordedEntry): Set<number> {
    return this.#modes.get(inodeOf(entry)) ?? new Set();
  }
}

/** The entries of staged folders that the transaction itself may have changed since. */
interface Known {
  /** Entries, by device and inode. */
  readonly entries: ReadonlySet<string>;
  /** The paths of folders that gained or lost names. */
  readonly folders: ReadonlySet<string>;
  /** The time at which the last entry was staged, in nanoseconds since 1970. */
  readonly newest: bigint;
}

async function knownIn({ steps, tracked }: Trace, { done, slice }: StepsDone): Promise<Known> {
  const entries = new Set<string>();
  const changed = new Set<NamedEntry>();
  for (const { recorded, places } of tracked) {
    entries.add(inodeOf(recorded!));
    for (const { folder } of places) changed.add(folder);
    if (slice.isDue) await slice.yieldIfDue();
  }
  const folders = new Set(await pathsAfter(changed, { done, slice }));
  let newest = 0n;
  for (const step of steps) {
    const time = "staged" in step ? BigInt(step.staged.ctime) : 0n;
    if (time > newest) newest = time;
    if (slice.isDue) await slice.yieldIfDue();
  }
  return { entries, folders, newest };
}

/** Returns the paths of entries after the first `done` steps. */
export async function pathsAfter(
  entries: Iterable<NamedEntry>,
  { done, slice }: StepsDone,
): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of entries) {
    paths.push(entry.pathAfter(done));
    if (slice.isDue) await slice.yieldIfDue();
  }
  return paths;
}

interface StagedEntry {
  readonly recorded: RecordedEntry;
  readonly path: string;
  readonly known: Known;
}

/** Checks that a staged file still has its content, and that a staged folder has no other entries. */
async function changesIn(
  jail: Jail,
  { recorded, path, known }: StagedEntry,
  slice: TimeSlice,
): Promise<string[]> {
  if (recorded.kind === "dir") return await additionsTo(jail, path, { known, slice });
  const isKept = withFolderOf(jail, path, ({ folder, name }) =>
    folder.enter((at) => isUnchanged(at(name), recorded)),
  );
  return isKept ? [] : [path];
}

async function additionsTo(
  jail: Jail,
  path: string,
  { known, slice }: { readonly known: Known; readonly slice: TimeSlice },
): Promise<string[]> {
  using folder = holdFolderAt(jail, path);
  const added: string[] = [];
  for (const { name, raw } of await runInSlices(readEntries(folder), slice)) {
    await slice.yieldIfDue();
    if (jail.isTemporary(name)) continue;
    const stats = folder.enter((at) => statsAt(at(raw)));
    // Entries of steps are checked on their own.
    if (stats === undefined || known.entries.has(inodeOf(stats))) continue;
    const inner = pathIn(path, name);
    if (stats.ctimeNs > known.newest && !known.folders.has(inner)) added.push(inner);
    else if (stats.isDirectory())
      for (const one of await additionsTo(jail, inner, { known, slice })) added.push(one);
  }
  return added;
}
