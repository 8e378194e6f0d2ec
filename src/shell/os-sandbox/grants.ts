/**
 * Determines the folders and files to grant, so that everything but the denied entries is granted. Landlock
 * has only rules that allow.
 */
import { join } from "node:path";
import { type Denied, tryList } from "./denied.ts";
import { listAccess } from "./landlock.ts";

/** A rule for a path and everything below it. */
export interface Grant {
  readonly path: string;
  readonly access: bigint;
}

export interface Grants {
  readonly grants: readonly Grant[];
  /** The folders that are granted entry by entry. Entries made later are not granted. */
  readonly split: readonly string[];
}

/**
 * Grants `access` to a folder and everything below it. A folder that contains a denied entry can only be
 * listed itself, and its entries are granted one by one. Paths are canonical. Symbolic links get no grant;
 * their targets have their own.
 */
export function grantAround(folder: string, access: bigint, denied: Denied): Grants {
  const above = foldersAbove(denied.paths);
  const grants: Grant[] = [];
  const split: string[] = [];
  const visit = (path: string) => {
    if (denied.paths.has(path)) return;
    if (!above.has(path)) {
      grants.push({ path, access });
      return;
    }
    split.push(path);
    grants.push({ path, access: access & listAccess });
    for (const entry of tryList(path)) {
      if (!entry.isSymbolicLink()) visit(join(path, entry.name));
    }
  };
  if (![...denied.paths].some((path) => isWithin(folder, path))) visit(folder);
  return { grants, split };
}

/** Returns all folders above these paths. */
function foldersAbove(paths: ReadonlySet<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end >= 0; end = path.lastIndexOf("/", end - 1)) {
      folders.add(path.slice(0, end) || "/");
      if (end === 0) break;
    }
  }
  return folders;
}

/** Returns whether a path is this folder, or inside it. Both are canonical. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === "/" || path.startsWith(`${folder}/`);
