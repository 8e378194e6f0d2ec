/**
 * Resolves transactions that were left half done because another program has changed one of their entries.
 */
import type { BigIntStats } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import {
  createTimeSlice,
  runInSlices,
  type Steps,
  type TimeSlice,
} from "../../base/scheduling/time-slice.ts";
import { holdFolderAt } from "../disk/hold-folder.ts";
import { moveBack, removeTemporary } from "../disk/revert.ts";
import type { HeldName } from "../disk/scope.ts";
import { readEntries } from "../files/entries.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { inodeOf } from "../jail/inode.ts";
import { makerOf } from "../jail/temporary.ts";
import { isDenied } from "./denied-steps.ts";
import { recordOf, statsAt, verifySame } from "./identity.ts";
import type { NamedEntry } from "./name-tree.ts";
import type { IntendedStep } from "./record.ts";
import { type Recovering, stepsToFinish } from "./recover.ts";
import { flushSteps, rollBack } from "./roll-back.ts";
import { traceSteps } from "./survey.ts";
import { visiblePath } from "./transaction-errors.ts";

export interface Resolution {
  /**
   * `taken-back`: the transaction was rolled back. `in-conflict`: nothing was changed. `given-up`: its
   * changes stay, and none of its entries has a temporary name any longer.
   */
  readonly outcome: "taken-back" | "in-conflict" | "given-up";
  /**
   * In conflict: the paths that other programs have changed. Given up: the new names of entries that had
   * temporary ones.
   */
  readonly paths: readonly string[];
}

/**
 * Rolls back the transaction `id`, whose record is kept. A conflicting change by another program stays. With
 * `force`, the transaction is then given up: the entries that it had removed get their names back, or similar
 * ones, and the record is removed. Returns `undefined` if no such record is kept. Throws the error of the
 * system. Another call then continues.
 */
export async function resolveKept(
  recovering: Recovering,
  id: string,
  { force }: { readonly force: boolean },
): Promise<Resolution | undefined> {
  const { intents, log } = recovering;
  const left = await intents.openKept(id);
  if (left === undefined) return undefined;
  try {
    const steps = await stepsToFinish(recovering, left);
    const paths = steps && (await rollBack({ ...recovering, steps, made: steps.length }));
    if (paths?.length === 0) {
      await intents.remove(left);
      log?.info("a transaction that was left half done is taken back", { transaction: id });
      return { outcome: "taken-back", paths: [] };
    }
    // Steps that may not be finished here belong to a worker with other rules or roots.
    const mayGiveUp = steps !== undefined || typeof left.content === "string";
    if (!force || !mayGiveUp)
      return { outcome: "in-conflict", paths: await runInSlices(visible(paths ?? []), createTimeSlice()) };
    const names = steps === undefined ? [] : await uncover(recovering, steps, id);
    await intents.remove(left);
    log?.warn("a transaction that was left half done is given up", { transaction: id });
    return { outcome: "given-up", paths: names };
  } finally {
    intents.release(left);
  }
}

function* visible(paths: readonly string[]): Steps<string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    found.add(visiblePath(path));
    yield;
  }
  return [...found];
}

/**
 * Renames the entries with temporary names of the transaction, and removes those that were only staged. It
 * searches the whole tree, because another program may have moved a folder that contains some. Returns the
 * new names.
 */
async function uncover(
  recovering: Recovering,
  steps: readonly IntendedStep[],
  transaction: string,
): Promise<string[]> {
  const slice = createTimeSlice();
  const { entries, tracked } = await traceSteps(steps, slice);
  const made = new Set(entries.flatMap(({ staged }) => staged ?? []));
  const known = new Map<string, NamedEntry>();
  for (const entry of tracked) {
    known.set(inodeOf(entry.recorded!), entry);
    await slice.yieldIfDue();
  }
  const names: string[] = [];
  // An entry in a folder with a temporary name is found after that folder is renamed.
  for (let found = true; found; ) {
    found = false;
    for await (const hidden of hiddenIn(recovering.jail, "", { transaction, slice })) {
      found = true;
      const entry = known.get(inodeOf(hidden.stats));
      if (entry !== undefined && made.has(entry)) await removeTemporary(hidden, verifySame(entry.recorded!));
      else names.push(uncoverOne(recovering.jail, hidden, entry));
    }
  }
  if (recovering.fsync) await flushSteps(recovering.jail, steps);
  return names;
}

/** An entry with a temporary name in a folder. */
interface Hidden extends HeldName {
  readonly path: string;
  readonly stats: BigIntStats;
}

/**
 * Yields the entries with a temporary name of the transaction, in a folder and below it in folders without
 * one.
 */
async function* hiddenIn(
  jail: Jail,
  path: string,
  search: { readonly transaction: string; readonly slice: TimeSlice },
): AsyncGenerator<Hidden, void, void> {
  using folder = heldOrNone(jail, path);
  if (folder === undefined) return;
  for (const { name, kind } of await runInSlices(readEntries(folder), search.slice)) {
    await search.slice.yieldIfDue();
    if (makerOf(name)?.transaction?.id === search.transaction) {
      const stats = folder.enter((at) => statsAt(at(name)));
      if (stats !== undefined) yield { folder, name, path, stats };
    } else if (kind === "dir" && !jail.isTemporary(name)) yield* hiddenIn(jail, pathIn(path, name), search);
  }
}

/**
 * Holds a folder. Returns `undefined` for one that no call may enter, since no transaction has entries there.
 */
function heldOrNone(jail: Jail, path: string): Folder | undefined {
  try {
    return holdFolderAt(jail, path);
  } catch (error) {
    if (error instanceof Refusal || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** Maximum attempts to find a free name. */
const maxNames = 100;

/** Gives an entry its earlier name back, or a similar one. Returns its path. Throws the errno error. */
function uncoverOne(
  jail: Jail,
  { folder, name, path, stats }: Hidden,
  entry: NamedEntry | undefined,
): string {
  const own = entry?.places.find((place) => !jail.isTemporary(place.name))?.name ?? "unnamed";
  for (let number = 0; number < maxNames; number++) {
    const free = number === 0 ? own : `${own}.kept-${number}`;
    const at = pathIn(path, free);
    if (isDenied(jail, at)) continue;
    try {
      moveBack(
        [
          { folder, name },
          { folder, name: free },
        ],
        verifySame(recordOf(stats)),
      );
      return at;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
  throw errnoError("EEXIST");
}
