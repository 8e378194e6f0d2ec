/**
 * Decides whether the rules of a jail let a recorded transaction be finished: what they deny may have been
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

const sliceMilliseconds = 2;

/**
 * Whether a step gives or takes a name that is denied or protected, or moves or removes a folder with
 * something in it that is so, where that is or where it would come to be.
 */
export async function hasDeniedStep(jail: Jail, steps: readonly IntendedStep[]): Promise<boolean> {
  const slice = createTimeSlice(sliceMilliseconds);
  const made = new Set<string>();
  for (const step of steps) {
    await slice.yieldIfDue();
    // The walk through that folder reaches it.
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

/** The names that the entries of a step may have now. */
function placesOf(step: Exclude<IntendedStep, { kind: "chmod" }>): string[] {
  if (step.kind === "rename") return [step.from, step.to];
  const { outer } = splitLast(step.path);
  const hidden = step.kind === "exchange" ? [step.temporary, step.aside] : [step.temporary];
  return [step.path, ...hidden.map((name) => pathIn(outer, name))];
}

/** A name that only the transaction has used counts as what is above it. */
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

/** False for a folder that is not there, or not a folder any longer; throws what the system says else. */
function isRefusedByRules(error: unknown): boolean {
  if (error instanceof Refusal) return !elsewhere.has(error.reason);
  if (errnoOf(error) === "ESTALE") return false;
  throw error;
}

const elsewhere: ReadonlySet<Reason> = new Set(["missing", "wrong-kind", "outside"]);

interface HeldTree {
  /** Where a folder may be. */
  readonly place: string;
  /** The path that it has had, or is to have. */
  readonly path: string;
  /** Whether it is a folder that the step removes, or that goes if the step is taken back. */
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
