/**
 * Finds the files of a patch that depend on the tree before it. In a diff of git, renames and copies start
 * from the files before all changes: names may be exchanged, or handed on from file to file.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { FilePatch, Patch } from "./patch.ts";

/** The files whose changes cannot be made in the order of the patch. */
export interface Dependencies {
  /** Files to read before all changes, and to write as new files, mostly since their sources change too. */
  readonly held: ReadonlySet<FilePatch>;
  /** Files to remove before others are written, since those take their names. */
  readonly removedFirst: ReadonlySet<FilePatch>;
}

/** Returns the new path of the file, if any. */
export const newPathOf = (file: FilePatch): string | undefined => {
  if (file.change === "add") return file.path;
  return file.change === "update" ? file.target?.path : undefined;
};

/** Returns whether nothing is at the path of the file afterwards, unless something else comes there. */
const isVacated = (file: FilePatch): boolean =>
  file.change === "delete" || (file.change === "update" && file.target?.isCopy === false);

export function* findDependencies({ format, files }: Patch): Steps<Dependencies> {
  const held = new Set<FilePatch>();
  const removedFirst = new Set<FilePatch>();
  if (format !== "unified") return { held, removedFirst };
  const touched = touchedPaths(files);
  const targets = files.map(newPathOf).filter((path) => path !== undefined);
  for (const file of files) {
    if (isVacated(file)) yield;
    const isMoved = file.change === "update" && file.target !== undefined;
    const isTaken = isVacated(file) && targets.some((target) => overlap(target, file.path));
    const isRead = isMoved && touched.count(file.path) > (isVacated(file) ? 1 : 0);
    // A copy with hunks is never anything but its new content.
    const isChangedCopy = isMoved && file.target.isCopy && file.hunks.length > 0;
    if (isMoved && (isTaken || isRead || isChangedCopy)) held.add(file);
    if (isVacated(file) && (isTaken || held.has(file))) removedFirst.add(file);
  }
  return { held, removedFirst };
}

/** Counts the files that change or remove what is at a path, or come to it. */
function touchedPaths(files: readonly FilePatch[]): { readonly count: (path: string) => number } {
  const counts = new Map<string, number>();
  const add = (path: string) => counts.set(path, (counts.get(path) ?? 0) + 1);
  for (const file of files) {
    const isCopied = file.change === "update" && file.target?.isCopy === true;
    if (!isCopied) add(file.path);
    const target = newPathOf(file);
    if (target !== undefined && target !== file.path) add(target);
  }
  return { count: (path) => counts.get(path) ?? 0 };
}

/** Returns whether both paths are equal, or one lies below the other. */
const overlap = (a: string, b: string): boolean => a === b || isBelow(a, b) || isBelow(b, a);

/** Compares two paths without listing their folders, which takes megabytes for deep ones. */
const isBelow = (path: string, folder: string): boolean =>
  path[folder.length] === "/" && path.startsWith(folder);

/** Returns the folders at and below a path that held the removed files, the innermost first. */
export function* emptiedFoldersAt(path: string, removed: Iterable<string>): Steps<readonly string[]> {
  const found = new Set<string>();
  for (const file of removed) {
    if (!isBelow(file, path)) continue;
    const added: string[] = [];
    for (let at = file.lastIndexOf("/"); at >= path.length; at = file.lastIndexOf("/", at - 1)) {
      const folder = file.slice(0, at);
      // The folders above it were added with it.
      if (found.has(folder)) break;
      added.push(folder);
    }
    for (const folder of added.reverse()) found.add(folder);
    yield;
  }
  return [...found].reverse();
}
