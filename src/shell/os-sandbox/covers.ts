/**
 * Plans the mounts over files that commands may not read or change, in folders that they may write. Landlock
 * has no rules that deny access. Without mounts, a folder that contains a denied entry is granted entry by
 * entry, and entries created later have no grant.
 */
import type { Denied } from "./denied.ts";
import { isWithin } from "./grants.ts";

/**
 * A mount on a canonical path. "file" and "folder" hide the entry; a file is hidden by the one at `mask`.
 * "pinned" is a folder mounted on itself: since a mount point can be neither renamed nor removed, the hidden
 * entries below it keep their paths. "kept" is a file or folder mounted on itself, read-only.
 */
export type Cover =
  | { readonly path: string; readonly kind: "pinned" }
  | { readonly path: string; readonly kind: "kept" }
  | { readonly path: string; readonly kind: "folder" }
  | { readonly path: string; readonly kind: "file"; readonly mask: string };

export interface CoverPlan {
  /** The mounts, in the order in which they are made. */
  readonly covers: readonly Cover[];
  /** The denied entries that no mount can hide. */
  readonly rest: Denied;
}

/** The folders and files that commands may write or read, for `planCovers`. */
export interface CoverOptions {
  /** The canonical paths of folders that commands may write. */
  readonly writable: readonly string[];
  /** The canonical paths of files and folders that commands may read but not change. */
  readonly kept: readonly string[];
  /** Returns the path of the file that hides the file at `path`. */
  maskOf(path: string): string;
}

/** Plans a mount for every denied or kept entry below one of the writable folders. */
export function planCovers(denied: Denied, { writable, kept, maskOf }: CoverOptions): CoverPlan {
  const isInside = (path: string) => rootOf(path, writable) !== undefined;
  const below = [...denied.paths].filter(isInside);
  // The mount over a denied folder already hides the entries below it.
  const isVisible = (path: string) => ![...denied.folders].some((folder) => isBelow(path, folder));
  const visible = below.filter(isVisible);
  const readable = kept.filter((path) => isInside(path) && isVisible(path) && !denied.paths.has(path));
  const pinned = new Set(
    [...visible, ...readable].flatMap((path) => foldersBetween(rootOf(path, writable)!, path)),
  );
  return {
    covers: [
      // A mount hides earlier mounts below it.
      ...[...pinned].toSorted().map((path) => ({ path, kind: "pinned" }) as const),
      ...readable.toSorted().map((path) => ({ path, kind: "kept" }) as const),
      ...visible.map((path) =>
        denied.folders.has(path)
          ? ({ path, kind: "folder" } as const)
          : ({ path, kind: "file", mask: maskOf(path) } as const),
      ),
    ],
    rest: { ...denied, paths: new Set([...denied.paths].filter((path) => !below.includes(path))) },
  };
}

/** Returns the topmost of the folders that contain a path, if any. */
const rootOf = (path: string, folders: readonly string[]): string | undefined =>
  folders.filter((folder) => isBelow(path, folder)).toSorted((a, b) => a.length - b.length)[0];

/** Returns the folders between a folder and a path in it, without either. */
function foldersBetween(folder: string, path: string): string[] {
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  return isBelow(parent, folder) ? [...foldersBetween(folder, parent), parent] : [];
}

const isBelow = (path: string, folder: string): boolean => path !== folder && isWithin(path, folder);
