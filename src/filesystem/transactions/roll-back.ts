/** Rolls back the steps of a transaction. Every part may be repeated after a kill. */

import { Refusal } from "../../base/errors.ts";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { closeRemoved, holdToRemove } from "../disk/deferred-close.ts";
import type { Disk } from "../disk/disk.ts";
import { holdFolderAt, splitLast } from "../disk/hold-folder.ts";
import { dropSecondName, exchangeBack, moveBack, removeTemporary, restoreMode } from "../disk/revert.ts";
import type { HeldName } from "../disk/scope.ts";
import { flushFolder } from "../disk/write.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import { findConflicts, KnownModes, pathsAfter, type ReachedSteps, type StepsDone } from "./conflicts.ts";
import { isSame, verifySame, verifyUnchanged } from "./identity.ts";
import type { NamedEntries, NamedEntry } from "./name-tree.ts";
import type { IntendedStep, RecordedEntry } from "./record.ts";
import { EntryLocator, findProgress, statPath, type Trace, traceSteps } from "./survey.ts";

export interface RollingBack {
  readonly jail: Jail;
  readonly editLock: Disk["editLock"];
  readonly steps: readonly IntendedStep[];
  readonly fsync: boolean;
  /**
   * The number of first steps whose entries must be somewhere: one that is nowhere was moved or removed by
   * another program. Default: 0, since a killed process may have made none.
   */
  readonly made?: number;
}

/**
 * Rolls back all steps that were done, the last one first, and removes the staged entries. If another program
 * has changed some of their paths since, returns these and changes nothing. Throws the error of the system.
 * Another call then continues.
 */
export async function rollBack(rolling: RollingBack): Promise<readonly string[]> {
  const { jail, steps, made = 0 } = rolling;
  const slice = createTimeSlice();
  const trace = await traceSteps(steps, slice);
  const unsettled = await settleExchanges(jail, trace, slice);
  if (unsettled.length > 0) return unsettled;
  const locator = new EntryLocator(jail);
  const { done, contradicted } = await findProgress(trace, locator, slice);
  const missing = await missingAfter(made, trace, { locator, slice });
  if (contradicted.length + missing.length > 0)
    return await pathsAfter(new Set([...contradicted, ...missing]), { done, slice });
  dropHalfDone(jail, trace, { done, locator });
  const modes = await KnownModes.in(trace, slice);
  const reached = await passChmods(jail, trace, { done, slice, modes });
  const conflicts = await findConflicts(jail, trace, { done: reached, slice, modes });
  if (conflicts.length > 0) return conflicts;
  for (let index = reached - 1; index >= 0; index--) {
    const conflict = await takeBack(rolling, steps[index]!);
    if (conflict !== undefined) return [conflict];
    await slice.yieldIfDue();
  }
  await removeStaged(jail, trace, slice);
  if (rolling.fsync) await flushFolders(jail, trace, { done: 0, slice });
  return [];
}

/** Returns the entries that the first `made` steps have given a name, and that have none of theirs now. */
async function missingAfter(
  made: number,
  { tracked }: Trace,
  { locator, slice }: { readonly locator: EntryLocator; readonly slice: TimeSlice },
): Promise<NamedEntry[]> {
  const missing: NamedEntry[] = [];
  for (const entry of tracked) {
    const since = entry.places[1]?.since ?? Number.POSITIVE_INFINITY;
    if (since <= made && locator.locate(entry).places.length === 0) missing.push(entry);
    if (slice.isDue) await slice.yieldIfDue();
  }
  return missing;
}

/** Completes or reverts exchanges that take three calls. Returns the paths where neither is possible. */
async function settleExchanges(jail: Jail, { steps, entries }: Trace, slice: TimeSlice): Promise<string[]> {
  const locator = new EntryLocator(jail);
  const unsettled: string[] = [];
  for (const [index, step] of steps.entries()) {
    await slice.yieldIfDue();
    if (step.kind !== "exchange") continue;
    const outer = locator.locate(entries[index]!.folder).path;
    if (outer === undefined) continue;
    const between = statPath(jail, pathIn(outer, step.aside));
    const [one, other] = isSame(between, step.entry) ? [step.entry, step.staged] : [step.staged, step.entry];
    if (isSame(between, one)) {
      if (!isSettled(jail, { step, outer, one, other })) unsettled.push(step.path);
    } else if (between !== undefined) unsettled.push(pathIn(outer, step.aside));
  }
  return unsettled;
}

interface HalfExchange {
  readonly step: IntendedStep & { readonly kind: "exchange" };
  readonly outer: string;
  /** The entry with the third name, and the one it is exchanged with. */
  readonly one: RecordedEntry;
  readonly other: RecordedEntry;
}

function isSettled(jail: Jail, { step, outer, one, other }: HalfExchange): boolean {
  const statsOf = (name: string) => statPath(jail, pathIn(outer, name));
  const { name } = splitLast(step.path);
  using folder = holdFolderAt(jail, outer);
  const held = (of: string): HeldName => ({ folder, name: of });
  const verify = verifySame(one);
  if (!isSame(statsOf(step.temporary), other)) return isMoved(held(step.aside), held(step.temporary), verify);
  if (!isSame(statsOf(name), one)) return isMoved(held(step.aside), held(name), verify);
  dropSecondName([held(name), held(step.aside)], verify);
  return true;
}

/**
 * Returns whether the entry was moved. Returns false if the new name is taken, or another entry has the old
 * one.
 */
function isMoved(from: HeldName, to: HeldName, verify: ReturnType<typeof verifySame>): boolean {
  try {
    moveBack([from, to], verify);
    return true;
  } catch (error) {
    if (isOfOthers(error)) return false;
    throw error;
  }
}

/**
 * Returns whether the error means that another program changed an entry, or moved or removed its folder,
 * since it was checked.
 */
const isOfOthers = (error: unknown): boolean =>
  error instanceof Refusal
    ? ["missing", "wrong-kind", "outside"].includes(error.reason)
    : ["EEXIST", "ESTALE", "ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? "");

/**
 * Counts changes of mode as done if they may have been made: they leave no trace in names, and may be
 * reverted twice.
 */
async function passChmods(
  jail: Jail,
  { steps, entries }: Trace,
  { done, slice, modes }: ReachedSteps,
): Promise<number> {
  let reached = done;
  for (let step = steps[reached]; step?.kind === "chmod"; step = steps[++reached]) {
    const stats = statPath(jail, entries[reached]!.entry!.pathAfter(reached));
    if (!isSame(stats, step.entry) || !modes.of(step.entry).has(Number(stats!.mode) & 0o7777)) break;
    await slice.yieldIfDue();
  }
  return reached;
}

/** Removes the new name of a file that has both, since two calls were needed to move it. */
function dropHalfDone(
  jail: Jail,
  { steps, entries }: Trace,
  { done, locator }: { readonly done: number; readonly locator: EntryLocator },
): void {
  const step = steps[done];
  if (step === undefined || step.kind === "chmod" || step.kind === "exchange") return;
  const entry = movedBy(entries[done]!);
  const { places } = locator.locate(entry);
  const next = entry.places.findIndex(({ since }) => since === done + 1);
  if (!places.includes(next) || !places.includes(next - 1)) return;
  withBothFolders(jail, [entry.pathAfter(done), entry.pathAfter(done + 1)], (kept, dropped) =>
    dropSecondName([kept, dropped], verifySame(entry.recorded!)),
  );
}

const movedBy = ({ staged, entry }: NamedEntries): NamedEntry => (staged ?? entry)!;

function withBothFolders<T>(
  jail: Jail,
  [one, other]: readonly [string, string],
  act: (one: HeldName, other: HeldName) => T,
): T {
  const [first, second] = [splitLast(one), splitLast(other)];
  using folder = holdFolderAt(jail, first.outer);
  if (first.outer === second.outer) return act({ folder, name: first.name }, { folder, name: second.name });
  using secondFolder = holdFolderAt(jail, second.outer);
  return act({ folder, name: first.name }, { folder: secondFolder, name: second.name });
}

/** Rolls back one step, after all later ones. Returns the path if another program has changed it. */
async function takeBack({ jail, editLock }: RollingBack, step: IntendedStep): Promise<string | undefined> {
  const { outer, name } = splitLast(step.kind === "rename" ? step.to : step.path);
  try {
    using folder = holdFolderAt(jail, outer);
    await editLock({ folder }, () => takeBackNow(jail, step, { folder, name }));
    return undefined;
  } catch (error) {
    if (isOfOthers(error)) return step.kind === "rename" ? step.to : step.path;
    throw error;
  }
}

function takeBackNow(jail: Jail, step: IntendedStep, visible: HeldName): void {
  if (step.kind === "rename")
    withBothFolders(jail, [step.to, step.from], (to, from) => moveBack([to, from], verifySame(step.entry)));
  else if (step.kind === "chmod") restoreMode(visible, step.before, verifySame(step.entry));
  else if (step.kind === "exchange")
    exchangeBack({
      ...step,
      ...visible,
      verifyStaged: verifyUnchanged(step.staged),
      verifyReplaced: verifySame(step.entry),
    });
  else {
    const hidden = { folder: visible.folder, name: step.temporary };
    if (step.kind === "place") moveBack([visible, hidden], verifyUnchanged(step.staged));
    else moveBack([hidden, visible], verifySame(step.entry));
  }
}

/** Removes the staged entries, at their places before all steps. */
async function removeStaged(jail: Jail, { entries }: Trace, slice: TimeSlice): Promise<void> {
  for (const { staged } of entries.toReversed()) {
    if (staged !== undefined) await removeAt(jail, staged.pathAfter(0), verifySame(staged.recorded!));
    await slice.yieldIfDue();
  }
}

/** Removes the entries that were set aside, after all steps are done. */
export async function removeAside(jail: Jail, steps: readonly IntendedStep[]): Promise<void> {
  const slice = createTimeSlice();
  const { entries } = await traceSteps(steps, slice);
  for (const [index, { entry }] of entries.entries()) {
    await slice.yieldIfDue();
    const { kind } = steps[index]!;
    if (entry === undefined || (kind !== "exchange" && kind !== "set-aside")) continue;
    await removeAt(jail, entry.pathAfter(steps.length), verifySame(entry.recorded!));
  }
}

/** Removes the entry with a temporary name, if it exists and belongs to the transaction. */
async function removeAt(jail: Jail, path: string, verify: ReturnType<typeof verifySame>): Promise<void> {
  if (statPath(jail, path) === undefined) return;
  const { outer, name } = splitLast(path);
  using folder = holdFolderAt(jail, outer);
  const held = holdToRemove(folder, name);
  try {
    await removeTemporary({ folder, name }, verify);
  } finally {
    if (held !== undefined) await closeRemoved(held);
  }
}

/** Flushes the folders of all steps, which are done. */
export async function flushSteps(jail: Jail, steps: readonly IntendedStep[]): Promise<void> {
  const slice = createTimeSlice();
  await flushFolders(jail, await traceSteps(steps, slice), { done: steps.length, slice });
}

/** Flushes the folders of all steps, where they are after `done` of them. */
async function flushFolders(jail: Jail, { entries }: Trace, { done, slice }: StepsDone): Promise<void> {
  const folders = new Set<NamedEntry>();
  for (const { folder, entry, staged } of entries) {
    for (const one of [folder, ...placesOf(entry), ...placesOf(staged)]) folders.add(one);
    if (slice.isDue) await slice.yieldIfDue();
  }
  for (const path of new Set(await pathsAfter(folders, { done, slice }))) {
    await slice.yieldIfDue();
    try {
      using folder = holdFolderAt(jail, path);
      await flushFolder(folder);
    } catch {
      // Another program has moved the folder away.
    }
  }
}

const placesOf = (entry: NamedEntry | undefined): NamedEntry[] =>
  entry?.places.map(({ folder }) => folder) ?? [];
