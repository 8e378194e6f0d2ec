/**
 * Plans the mounts over what commands may not read, or not change, in folders that they may write. Landlock
 * has no rules that deny: without mounts, a folder that holds something denied itself is granted entry by
 * entry, and what is made in it later has no grant.
 */
import type { Denied } from "./denied.ts";
import { isWithin } from "./grants.ts";

/**
 * A mount on a canonical path. "file" and "folder" hide what is there, a file by the one at `mask`. "pinned"
 * is a folder mounted on itself: a mount point is neither renamed nor removed, so what is hidden below it is
 * where it is looked for the next time. "kept" is a file or folder mounted on itself, which can be read only.
 */
export type Cover =
  | { readonly path: string; readonly kind: "pinned" }
  | { readonly path: string; readonly kind: "kept" }
  | { readonly path: string; readonly kind: "folder" }
  | { readonly path: string; readonly kind: "file"; readonly mask: string };

export interface CoverPlan {
  /** In the order to mount them in. */
  readonly covers: readonly Cover[];
  /** The denied entries that no mount can hide. */
  readonly rest: Denied;
}

/** What `planCovers` needs to know besides what is denied. */
export interface CoverOptions {
  /** Canonical folders that commands may write. */
  readonly writable: readonly string[];
  /** Canonical paths of files and folders that they may read and not change. */
  readonly kept: readonly string[];
  /** Makes what hides a file. */
  maskOf(path: string): string;
}

/** Plans a mount for everything below one of the writable folders that is denied or kept. */
export function planCovers(denied: Denied, { writable, kept, maskOf }: CoverOptions): CoverPlan {
  const isInside = (path: string) => rootOf(path, writable) !== undefined;
  const below = [...denied.paths].filter(isInside);
  // Under the mount of a denied folder nothing else is there.
  const isVisible = (path: string) => ![...denied.folders].some((folder) => isBelow(path, folder));
  const visible = below.filter(isVisible);
  const readable = kept.filter((path) => isInside(path) && isVisible(path) && !denied.paths.has(path));
  const pinned = new Set(
    [...visible, ...readable].flatMap((path) => foldersBetween(rootOf(path, writable)!, path)),
  );
  return {
    covers: [
      // A mount hides those that were made below it before.
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

/** The topmost of the folders that a path is in. */
const rootOf = (path: string, folders: readonly string[]): string | undefined =>
  folders.filter((folder) => isBelow(path, folder)).toSorted((a, b) => a.length - b.length)[0];

/** The folders on the way from a folder to a path in it, without both. */
function foldersBetween(folder: string, path: string): string[] {
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  return isBelow(parent, folder) ? [...foldersBetween(folder, parent), parent] : [];
}

const isBelow = (path: string, folder: string): boolean => path !== folder && isWithin(path, folder);
