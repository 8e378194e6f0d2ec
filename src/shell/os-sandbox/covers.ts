/**
 * Plans the mounts over files that commands may not read or change, in folders that they may write. Landlock
 * has no rules that deny access. Without mounts, a folder that contains a denied entry is granted entry by
 * entry, and entries created later have no grant.
 */
import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Denied } from "./denied.ts";
import { foldersOver, isBelow } from "./grants.ts";

/**
 * A mount on a canonical path. "file" and "folder" hide the entry; a file is hidden by the one at `mask`.
 * "pinned" is a folder mounted on itself: since a mount point can be neither renamed nor removed, the hidden
 * entries below it keep their paths. "kept" is a file or folder mounted on itself, read-only. "stashed" is a
 * writable folder mounted at `stash` before that, so that "restored" can move it from there into a kept one.
 */
export type Cover =
  | { readonly path: string; readonly kind: "pinned" }
  | { readonly path: string; readonly kind: "kept" }
  | { readonly path: string; readonly kind: "stashed"; readonly stash: string }
  | { readonly path: string; readonly kind: "restored"; readonly stash: string }
  | { readonly path: string; readonly kind: "folder" }
  | { readonly path: string; readonly kind: "file"; readonly mask: string };

export interface CoverPlan {
  /** The mounts, in the order in which they are made. */
  readonly covers: readonly Cover[];
  /** The paths that they hide, and those that they keep from being changed. */
  readonly hidden: readonly string[];
  readonly kept: readonly string[];
  /** The canonical paths of denied entries that no mount can hide. */
  readonly rest: ReadonlySet<string>;
}

/** The folders and files that commands may write or read, for `planCovers`. */
export interface CoverOptions {
  /** The canonical paths of folders that commands may write. */
  readonly writable: readonly string[];
  /** The canonical paths of folders that commands may only read, in writable ones or elsewhere. */
  readonly readOnly: readonly string[];
  /** The canonical paths of files and folders that commands may read but not change. */
  readonly kept: readonly string[];
  /** Returns the path of the file that hides the file at `path`. */
  maskOf(path: string): string;
  /** Returns the path of an empty folder for the mount of a writable folder. */
  stashOf(path: string): string;
}

/** Plans a mount for every denied or kept entry below one of the writable folders. */
export function* planCovers(
  denied: Denied,
  { writable, readOnly, kept, maskOf, stashOf }: CoverOptions,
): Steps<CoverPlan> {
  // The mount over a denied folder already hides the entries below it.
  const isVisible = (path: string) => !foldersOver(path).some((folder) => denied.folders.has(folder));
  const rest = new Set<string>();
  const pinned = new Set<string>();
  const masked: Cover[] = [];
  const hidden: string[] = [];
  const readable: string[] = [];
  const guarded = new Set<string>();
  const pinAbove = (path: string, root: string) => {
    for (const folder of foldersOver(path)) {
      if (!isBelow(folder, root) || pinned.has(folder)) break;
      pinned.add(folder);
    }
  };
  const guard = (path: string) => {
    const root = rootOf(path, writable);
    if (root === undefined || !isVisible(path) || denied.paths.has(path)) return false;
    guarded.add(path);
    pinAbove(path, root);
    return true;
  };
  for (const path of readOnly) {
    if (writable.includes(path) || guard(path)) continue;
    // Landlock has no rule for modes, owners and times, which a read-only mount protects.
    if (rootOf(path, writable) === undefined && isVisible(path) && !denied.paths.has(path)) guarded.add(path);
  }
  for (const path of kept.toSorted()) {
    if (guard(path)) readable.push(path);
    yield;
  }
  for (const path of denied.paths) {
    const root = rootOf(path, writable);
    if (root === undefined) rest.add(path);
    else if (isVisible(path)) {
      const isFolder = denied.folders.has(path);
      masked.push(isFolder ? { path, kind: "folder" } : { path, kind: "file", mask: maskOf(path) });
      hidden.push(path);
      pinAbove(path, root);
    }
    yield;
  }
  const stashed = writable
    .filter((path) => isVisible(path) && foldersOver(path).some((folder) => guarded.has(folder)))
    .map((path) => ({ path, stash: stashOf(path) }));
  const mounted: Cover[] = [
    ...[...pinned].map((path) => ({ path, kind: "pinned" }) as const),
    ...[...guarded].map((path) => ({ path, kind: "kept" }) as const),
    ...stashed.map((one) => ({ ...one, kind: "restored" }) as const),
  ];
  // A mount hides earlier mounts below it, and has the mounts that were below its source.
  const outermostFirst = yield* mergeSort(mounted, (one, other) => one.path < other.path);
  const stashes = stashed.map((one) => ({ ...one, kind: "stashed" }) as const);
  return { covers: [...stashes, ...outermostFirst, ...masked], hidden, kept: readable, rest };
}

/** Returns the topmost of the folders that contain a path, if any. */
const rootOf = (path: string, folders: readonly string[]): string | undefined =>
  folders.filter((folder) => isBelow(path, folder)).toSorted((a, b) => a.length - b.length)[0];
