/**
 * What to mount over what is denied in folders that commands may write. Landlock has no rules that deny: without mounts,
 * a folder that holds something denied itself is granted entry by entry, and what is made in it later has no grant.
 */
import type { Denied } from "./denied.ts";
import { isWithin } from "./grants.ts";

/**
 * A mount on a canonical path. "file" and "folder" hide what is there, a file by the one at `mask`. "pinned" is a folder mounted on
 * itself: a mount point is neither renamed nor removed, so what is hidden below it is where it is looked for the next time.
 */
export type Cover =
  | { readonly path: string; readonly kind: "pinned" }
  | { readonly path: string; readonly kind: "folder" }
  | { readonly path: string; readonly kind: "file"; readonly mask: string };

export interface CoverPlan {
  /** In the order to mount them in. */
  readonly covers: readonly Cover[];
  /** What no mount hides. */
  readonly rest: Denied;
}

/** Plans a mount for all that is denied below one of the folders, which are canonical. `maskOf` makes what hides a file. */
export function planCovers(
  denied: Denied,
  writable: readonly string[],
  maskOf: (path: string) => string,
): CoverPlan {
  const below = [...denied.paths].filter((path) => rootOf(path, writable) !== undefined);
  // Under the mount of a denied folder nothing else is there.
  const visible = below.filter((path) => ![...denied.folders].some((folder) => isBelow(path, folder)));
  const pinned = new Set(visible.flatMap((path) => foldersBetween(rootOf(path, writable)!, path)));
  return {
    covers: [
      ...[...pinned].toSorted().map((path) => ({ path, kind: "pinned" }) as const),
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
