/**
 * Determines the folders and files to grant, so that everything but the denied entries is granted. Landlock
 * has only rules that allow.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { identityOf } from "./denied.ts";
import { listAccess } from "./landlock.ts";
import { listInParts } from "./list-in-parts.ts";

/** A rule for a path and everything below it. */
export interface Grant {
  readonly path: string;
  readonly access: bigint;
}

/** The entries that get no grant, by their canonical paths. */
export interface Ungranted {
  readonly paths: ReadonlySet<string>;
  /** The folders that contain one of them, at any depth. */
  readonly above: ReadonlySet<string>;
}

/** Returns the paths as entries that get no grant. */
export function* ungrantedAt(paths: Iterable<string>): Steps<Ungranted> {
  const ungranted = { paths: new Set<string>(), above: new Set<string>() };
  for (const path of paths) {
    ungranted.paths.add(path);
    for (const folder of foldersOver(path)) {
      // Each folder was added with all above it.
      if (ungranted.above.has(folder)) break;
      ungranted.above.add(folder);
    }
    yield;
  }
  return ungranted;
}

export interface Granting {
  readonly access: bigint;
  readonly ungranted: Ungranted;
  /**
   * Collects the folders that are granted entry by entry, with their versions before they were listed.
   * Entries made later are not granted.
   */
  readonly split: Map<string, string>;
}

/**
 * Grants access to a folder and everything below it. A folder that contains an ungranted entry can only be
 * listed itself, and its entries are granted one by one. Paths are canonical. Symbolic links get no grant;
 * their targets have their own. Yields the grants in parts of some thousand at most.
 */
export function* grantAround(
  folder: string,
  { access, ungranted: { paths, above }, split }: Granting,
): Generator<readonly Grant[], void, void> {
  if (paths.has(folder) || foldersOver(folder).some((path) => paths.has(path))) return;
  if (!above.has(folder)) {
    yield [{ path: folder, access }];
    return;
  }
  const folders = [folder];
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    if (!split.has(path)) split.set(path, versionOf(path));
    yield [{ path, access: access & listAccess }];
    for (const part of listInParts(path)) {
      const grants: Grant[] = [];
      for (const { name, kind } of part) {
        const inner = join(path, name);
        if (kind === "symlink" || paths.has(inner)) continue;
        if (above.has(inner)) folders.push(inner);
        else grants.push({ path: inner, access });
      }
      yield grants;
    }
  }
}

/** Returns whether none of the folders has changed since it got its version. */
export function* areUnchanged(folders: ReadonlyMap<string, string>): Steps<boolean> {
  for (const [folder, version] of folders) {
    if (versionOf(folder) !== version) return false;
    yield;
  }
  return true;
}

function versionOf(folder: string): string {
  try {
    const stats = statSync(folder, { bigint: true });
    return `${identityOf(stats)} ${stats.mtimeNs} ${stats.ctimeNs}`;
  } catch {
    return "";
  }
}

/** Returns the folders above a canonical path, from the innermost. */
export function foldersOver(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    folders.push(path.slice(0, end));
  if (path !== "/") folders.push("/");
  return folders;
}

/** Returns whether a path is this folder, or inside it. Both are canonical. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === "/" || path.startsWith(`${folder}/`);

/** Returns whether a path is inside this folder. Both are canonical. */
export const isBelow = (path: string, folder: string): boolean => path !== folder && isWithin(path, folder);
