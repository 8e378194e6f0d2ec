/**
 * The common state of the walks of one call of `coder::tree`: its limits, and the ways to list and open
 * folders.
 */
import { Refusal, refuse } from "../../base/errors.ts";
import type { Steps, TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Entry, Page } from "../../filesystem/files/types.ts";
import { pathIn } from "../../filesystem/jail/backend.ts";
import type { Folder, Name } from "../../filesystem/jail/folder.ts";
import type { IgnoreRules } from "../../search/ignore/ignore-rules.ts";
import type { JsonBudget } from "../../text/sizes/json-budget.ts";
import type { CoderContext } from "../define.ts";
import {
  cutAtDeepest,
  cutByBytes,
  cutByDepth,
  cutByNodes,
  deepest,
  excluded,
  goneRoot,
  unreadable,
} from "./cuts.ts";
import type { TreeFilter } from "./filter.ts";
import type { Cut } from "./node.ts";
import type { NodeQuota } from "./node-quota.ts";

export interface TreeSnapshot {
  readonly context: CoderContext;
  readonly maxDepth: number;
  readonly perFolder: number;
  readonly quota: NodeQuota | undefined;
  /** Set before the tree is written, if its bytes are limited. */
  plan?: Plan | undefined;
  /** The bytes left for the answer. A tree that is too large to send is abandoned while it is written. */
  readonly budget: JsonBudget;
  readonly slice: TimeSlice;
  readonly filter: TreeFilter;
  /** The roots in the tree whose folders were gone when it began. */
  readonly goneRoots: readonly string[];
  /** The number of entries visited. */
  visited: number;
}

/** The shown part of a tree with limited bytes. */
interface Plan {
  readonly maxBytes: number;
  admits(path: string): boolean;
  take(folder: Folder, level: Level, entries: readonly Entry[]): Steps<readonly Entry[]>;
}

/** The place of a folder in the tree. */
export interface Level {
  readonly depth: number;
  /** The rules of its ignore files, and of the folders above it. */
  readonly rules: IgnoreRules;
}

/** Counts bytes of the answer. Throws too-large when that cannot be sent. */
export function count({ budget }: TreeSnapshot, bytes: number): void {
  budget.add(bytes);
  if (budget.bytesLeft < 0) throw refuse.answerTooLarge(budget.bytes, budget.maxBytes, "reads");
}

/** The number of entries between two checks of the clock. */
const entriesPerClockCheck = 32;

/** Counts an entry. Returns whether to yield before it; most entries must not cost a promise. */
export function isDue(snapshot: TreeSnapshot): boolean {
  if (snapshot.visited++ % entriesPerClockCheck !== 0) return false;
  snapshot.context.deadline.check();
  return snapshot.slice.isDue;
}

export async function yieldNow({ slice, context }: TreeSnapshot): Promise<void> {
  await slice.yieldIfDue();
  context.deadline.check();
}

/**
 * Returns the entries of a folder, without a promise if they are few. Returns `undefined` for an inner folder
 * that may not be listed. Throws for the root of the tree.
 */
export function listOrNothing(
  snapshot: TreeSnapshot,
  folder: Folder,
  level: Level,
): Page | undefined | Promise<Page | undefined> {
  const { context, slice, perFolder, filter } = snapshot;
  const { files, deadline } = context;
  try {
    const range = { from: 0, to: perFolder, omits: filter.omittedIn(folder, level.rules) };
    const page = files.page(folder, range, { slice, deadline });
    return page instanceof Promise ? page.catch((error) => nothingFor(snapshot, level, error)) : page;
  } catch (error) {
    return nothingFor(snapshot, level, error);
  }
}

function nothingFor({ context }: TreeSnapshot, { depth }: Level, error: unknown): undefined {
  context.deadline.check();
  if (depth > 0 && error instanceof Refusal) return undefined;
  throw error;
}

interface Inner {
  readonly folder: Folder;
  readonly entry: Entry;
  readonly above: Level;
}

/** Returns the folder, held open, or the reason why it is not opened. */
export function open(
  snapshot: TreeSnapshot,
  { folder, entry, above }: Inner,
): { readonly folder: Folder } | { readonly folder?: undefined; readonly cut: Cut } {
  if (folder.path === "" && snapshot.goneRoots.includes(entry.name)) return { cut: goneRoot };
  if (snapshot.filter.excludesFolder(folder, entry.name)) return { cut: excluded };
  const cut = cutBefore(snapshot, above.depth + 1);
  if (cut !== undefined) return { cut };
  const { plan } = snapshot;
  if (plan?.admits(pathIn(folder.path, entry.name)) === false) return { cut: cutByBytes(plan.maxBytes) };
  const inside = tryOpen(folder, entry.raw);
  return inside === undefined ? { cut: unopenedCut(snapshot, folder, entry) } : { folder: inside };
}

/** Returns the reason for a folder that cannot be opened. A root may have gone since the tree began. */
function unopenedCut({ context: { jail, profile } }: TreeSnapshot, folder: Folder, { name }: Entry): Cut {
  const isGone = profile.marks_gone_roots && folder.path === "" && jail.goneRoots().includes(name);
  return isGone ? goneRoot : unreadable;
}

/** Returns the reason why folders of this depth are not opened, or `undefined` if they are. */
export function cutBefore({ context, maxDepth, quota }: TreeSnapshot, depth: number): Cut | undefined {
  const isDeepest = maxDepth === deepest && context.profile["tree.names_deepest"];
  if (depth >= maxDepth) return isDeepest ? cutAtDeepest : cutByDepth(maxDepth);
  return quota?.admits(depth + 1) === false ? cutByNodes(quota.maxNodes) : undefined;
}

/** Opens a folder. Returns `undefined` if that fails. */
export function tryOpen(folder: Folder, name: Name): Folder | undefined {
  try {
    return folder.child(name);
  } catch {
    return undefined;
  }
}
