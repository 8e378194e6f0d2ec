/**
 * Decides whether the rules of a jail permit finishing a recorded transaction. They may deny paths that were
 * allowed when it began.
 */

import { type Reason, Refusal } from "../../base/errors.ts";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { holdFolderAt, splitLast } from "../disk/hold-folder.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import { jailWithoutProtection, requireNothingDenied } from "../operations/require-allowed.ts";
import { jailAtBoth } from "../operations/require-target.ts";
import type { IntendedStep } from "./record.ts";
import { statPath } from "./survey.ts";

/**
 * Returns whether a step adds or removes a name that is denied or protected, or moves or removes a folder
 * that contains such an entry, in its old or its new place.
 */
export async function hasDeniedStep(jail: Jail, steps: readonly IntendedStep[]): Promise<boolean> {
  const slice = createTimeSlice();
  const made = new Set<string>();
  for (const step of steps) {
    await slice.yieldIfDue();
    // The check of that folder covers this path.
    if ((step.kind === "place" || step.kind === "chmod") && isBelow(step.path, made)) continue;
    if (step.kind === "place" && step.staged.kind === "dir" && mayGoWhole(jail, step.path))
      made.add(step.path);
    const paths = step.kind === "rename" ? [step.from, step.to] : [step.path];
    if (paths.some((path) => isDenied(jail, path))) return true;
    if (step.kind === "chmod") continue;
    for (const place of placesOf(step))
      for (const path of paths) {
        const isGoing = step.kind === "set-aside" || step.kind === "place";
        if (await holdsDenied(jail, { place, path, isGoing, slice })) return true;
      }
  }
  return false;
}

/** Returns whether one of the folders holds the path. */
const isBelow = (path: string, folders: ReadonlySet<string>): boolean =>
  path.split("/").some((_, index, names) => index > 0 && folders.has(names.slice(0, index).join("/")));

/** Returns whether the folder at a path may be removed with what is protected in it. */
function mayGoWhole(jail: Jail, path: string): boolean {
  try {
    using folder = holdFolderAt(jail, splitLast(path).outer);
    return jail.mayGoWhole({ path, names: path.split("/"), folder });
  } catch (error) {
    isRefusedByRules(error);
    return false;
  }
}

/** Returns the paths that the entries of a step may have now. */
function placesOf(step: Exclude<IntendedStep, { kind: "chmod" }>): string[] {
  if (step.kind === "rename") return [step.from, step.to];
  const { outer } = splitLast(step.path);
  const hidden = step.kind === "exchange" ? [step.temporary, step.aside] : [step.temporary];
  return [step.path, ...hidden.map((name) => pathIn(outer, name))];
}

/** Returns whether a path is denied. A name that only the transaction has used counts as its folder. */
export function isDenied(jail: Jail, path: string): boolean {
  const names = path.split("/");
  const hidden = names.findIndex((name) => jail.isTemporary(name));
  if (hidden === 0) return false;
  if (hidden > 0) return isDenied(jail, names.slice(0, hidden).join("/"));
  if (jail.deniesChange(path)) return true;
  const { outer, name } = splitLast(path);
  try {
    using folder = holdFolderAt(jail, outer);
    return jail.deniesIn(folder, name) || jail.deniesWritingIn(folder, name);
  } catch (error) {
    return isRefusedByRules(error);
  }
}

/**
 * Returns whether the error is a refusal by rules, and not that a folder is missing. Rethrows other errors of
 * the system.
 */
function isRefusedByRules(error: unknown): boolean {
  if (error instanceof Refusal) return !elsewhere.has(error.reason);
  if (errnoOf(error) === "ESTALE") return false;
  throw error;
}

const elsewhere: ReadonlySet<Reason> = new Set(["missing", "wrong-kind", "outside"]);

interface HeldTree {
  /** The path at which the folder may be now. */
  readonly place: string;
  /** The path that it had before the step, or will have after it. */
  readonly path: string;
  /** Whether the step, or its rollback, removes the folder. */
  readonly isGoing: boolean;
  readonly slice: TimeSlice;
}

async function holdsDenied(jail: Jail, { place, path, isGoing, slice }: HeldTree): Promise<boolean> {
  if (statPath(jail, place)?.isDirectory() !== true) return false;
  try {
    using folder = holdFolderAt(jail, place);
    const { name } = splitLast(place);
    const ends = { source: { folder, name, path: place }, target: { folder, path } };
    const rules = isGoing && mayGoWhole(jail, path) ? jailWithoutProtection(jail) : jail;
    await requireNothingDenied({ jail: jailAtBoth(rules, ends, "move"), path: "", slice }, folder);
    return false;
  } catch (error) {
    return isRefusedByRules(error);
  }
}
