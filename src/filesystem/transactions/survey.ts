/**
 * Finds out which steps of a transaction were done before its process ended. Only the identities of entries
 * count, so neither the order in which the system wrote names to the disk nor a change by another program is
 * mistaken for a step.
 */
import type { BigIntStats } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import type { TimeSlice } from "../../base/scheduling/time-slice.ts";
import { holdFolderAt, withFolderOf } from "../disk/hold-folder.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import { isListed } from "../jail/listed-name.ts";
import { isSame, statsAt } from "./identity.ts";
import { type NamedEntries, type NamedEntry, NameTree } from "./name-tree.ts";
import type { IntendedStep } from "./record.ts";

/** The names of all entries over all steps. */
export interface Trace {
  readonly steps: readonly IntendedStep[];
  /** The entries of each step. */
  readonly entries: readonly NamedEntries[];
  /** The entries that a step moves or changes. */
  readonly tracked: ReadonlySet<NamedEntry>;
  readonly tree: NameTree;
}

/** Tracks entries through the first `count` steps. */
export async function traceSteps(
  steps: readonly IntendedStep[],
  slice: TimeSlice,
  count: number = steps.length,
): Promise<Trace> {
  const tree = new NameTree();
  const tracked = new Set<NamedEntry>();
  const entries: NamedEntries[] = [];
  for (const step of steps.slice(0, count)) {
    const found = tree.apply(step);
    for (const [entry, recorded] of [
      [found.staged, "staged" in step ? step.staged : undefined],
      [found.entry, "entry" in step ? step.entry : undefined],
    ] as const) {
      if (entry === undefined) continue;
      entry.recorded ??= recorded;
      tracked.add(entry);
    }
    entries.push(found);
    await slice.yieldIfDue();
  }
  return { steps, entries, tracked, tree };
}

/** The indexes of the places where an entry was found, and its path there. */
export interface Location {
  readonly path: string | undefined;
  readonly places: readonly number[];
}

/** Finds entries on disk, each once. */
export class EntryLocator {
  readonly #jail: Jail;
  readonly #known = new Map<NamedEntry, Location>();

  constructor(jail: Jail) {
    this.#jail = jail;
  }

  locate(entry: NamedEntry): Location {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    const found = this.#find(entry);
    this.#known.set(entry, found);
    return found;
  }

  #find({ places, recorded }: NamedEntry): Location {
    if (places.length === 0) return { path: "", places: [] };
    const paths = places.map(({ folder, name }) => {
      const outer = this.locate(folder).path;
      return outer === undefined ? undefined : pathIn(outer, name);
    });
    if (recorded === undefined) return { path: paths[0], places: [0] };
    const same = paths.flatMap((path, index) =>
      path !== undefined && isSame(statPath(this.#jail, path), recorded) ? [index] : [],
    );
    // A file system may accept two spellings of one name, and the folder lists only one of them.
    const isOnly = new Set(same.map((index) => paths[index])).size < 2;
    const found = isOnly ? same : same.filter((index) => isListedPath(this.#jail, paths[index]!));
    return { path: found.length === 0 ? undefined : paths[found.at(-1)!], places: found };
  }
}

/** Returns whether the folder of a canonical path lists its last name in exactly this spelling. */
export const isListedPath = (jail: Jail, path: string): boolean =>
  withFolderOf(jail, path, ({ folder, name }) => isListed(folder, name));

/**
 * Returns the stats of the entry at a canonical path, or `undefined` if it, or a folder above it, is gone.
 */
export function statPath(jail: Jail, path: string): BigIntStats | undefined {
  try {
    // A root has no name on disk in the folder that callers see above it.
    const isRoot = jail.hasTop && jail.rootOf(path) === path;
    if (!isRoot)
      return withFolderOf(jail, path, ({ folder, name }) => folder.enter((at) => statsAt(at(name))));
    using root = holdFolderAt(jail, path);
    return root.enter((at) => statsAt(at(".")));
  } catch (error) {
    if (error instanceof Refusal ? gone.has(error.reason) : leftElsewhere.has(errnoOf(error)))
      return undefined;
    throw error;
  }
}

const gone: ReadonlySet<string> = new Set(["missing", "denied", "denied-by-rule", "wrong-kind", "outside"]);
const leftElsewhere: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ESTALE"]);

/**
 * The number of steps that are done, according to the places of all entries. `contradicted` are entries whose
 * places fit no number.
 */
export interface Progress {
  readonly done: number;
  readonly contradicted: readonly NamedEntry[];
}

/** Finds the minimum number of steps that explains the places of all entries. */
export async function findProgress(
  { steps, tracked }: Trace,
  locator: EntryLocator,
  slice: TimeSlice,
): Promise<Progress> {
  const changes = new Array<number>(steps.length + 2).fill(0);
  const fitting = new Map<NamedEntry, readonly Range[]>();
  for (const entry of tracked) {
    const ranges = rangesOf(entry, locator.locate(entry), steps.length);
    fitting.set(entry, ranges);
    for (const { from, to } of ranges) {
      changes[from]!++;
      changes[to + 1]!--;
    }
    await slice.yieldIfDue();
  }
  let [best, most, count] = [0, -1, 0];
  for (let done = 0; done <= steps.length; done++) {
    count += changes[done]!;
    if (count > most) [best, most] = [done, count];
  }
  const isElsewhere = (ranges: readonly Range[]) =>
    !ranges.some(({ from, to }) => from <= best && best <= to);
  const contradicted: NamedEntry[] = [];
  for (const [entry, ranges] of fitting) {
    if (isElsewhere(ranges)) contradicted.push(entry);
    if (slice.isDue) await slice.yieldIfDue();
  }
  return { done: best, contradicted };
}

/** A range of numbers of done steps, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the numbers of done steps that explain the place of an entry. A missing entry may be gone before a
 * step needs it.
 */
function rangesOf({ places }: NamedEntry, { places: found }: Location, steps: number): Range[] {
  const endOf = (index: number) => (places[index + 1]?.since ?? steps + 1) - 1;
  if (found.length === 0) return [{ from: 0, to: endOf(0) }];
  const ranges: Range[] = [];
  for (const index of found) {
    const from = places[index]!.since;
    const last = ranges.at(-1);
    if (last !== undefined && last.to === from - 1)
      ranges[ranges.length - 1] = { from: last.from, to: endOf(index) };
    else ranges.push({ from, to: endOf(index) });
  }
  return ranges;
}
