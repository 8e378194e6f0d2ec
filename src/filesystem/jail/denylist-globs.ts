/** Converts a denylist of host paths, each with everything below it, to globs (shell §8.2). */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { errnoOf } from "./errno.ts";

/**
 * Returns globs that deny the host paths `denied` in a jail around `base`. They cover a path that does not
 * exist yet, and both the current target of a link and the link's own name, which may get another entry
 * later. Throws an Error of one sentence for a path that leads through a dangling link, or that denies the
 * base itself.
 */
export function globsForPaths(base: string, denied: readonly string[]): string[] {
  const root = realpathSync(base);
  const globs = denied.flatMap((path) => {
    const below = relative(root, canonical(path));
    if (below === "" || /^\.\.(\/\.\.)*$/.test(below)) {
      throw new Error(
        `fs.denylist_paths holds ${JSON.stringify(path)}, which denies all of the base folder.`,
      );
    }
    const asWritten = [base, root].map((folder) => relative(folder, resolve(path)));
    return [below, ...asWritten].filter(isBelow).map(escapeGlob);
  });
  return [...new Set(globs)];
}

const isBelow = (path: string): boolean => path !== "" && path !== ".." && !path.startsWith("../");

/** Returns the path with links resolved in the part that exists. */
function canonical(path: string): string {
  const full = resolve(path);
  const missing: string[] = [];
  for (let ancestor = full; ; ancestor = dirname(ancestor)) {
    try {
      return join(realpathSync(ancestor), ...missing);
    } catch (error) {
      if (errnoOf(error) === undefined || isThere(ancestor)) {
        throw new Error(
          `fs.denylist_paths holds ${JSON.stringify(path)}, which leads through a link to nowhere.`,
        );
      }
      missing.unshift(ancestor.slice(ancestor.lastIndexOf("/") + 1));
    }
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Returns a glob that matches only this path. */
export const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{},!^-]/g, "\\$&");
