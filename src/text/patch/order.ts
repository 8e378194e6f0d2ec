/**
 * Finds the files of a patch that depend on the tree before it. In a diff of git, renames and copies start
 * from the files before all changes: names may be exchanged, or handed on from file to file.
 */
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

export function findDependencies({ format, files }: Patch): Dependencies {
  const held = new Set<FilePatch>();
  const removedFirst = new Set<FilePatch>();
  if (format !== "unified") return { held, removedFirst };
  const touched = touchedPaths(files);
  const taken = takenPaths(files);
  for (const file of files) {
    const isMoved = file.change === "update" && file.target !== undefined;
    const isTaken = isVacated(file) && taken.isTaken(file.path);
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

/** Finds the paths that new files take, as a file or as a folder above one. */
function takenPaths(files: readonly FilePatch[]): { readonly isTaken: (path: string) => boolean } {
  const targets = new Set<string>();
  const foldersOfTargets = new Set<string>();
  for (const file of files) {
    const target = newPathOf(file);
    if (target === undefined) continue;
    targets.add(target);
    for (const folder of foldersAbove(target)) foldersOfTargets.add(folder);
  }
  return {
    isTaken: (path) =>
      targets.has(path) ||
      foldersOfTargets.has(path) ||
      foldersAbove(path).some((folder) => targets.has(folder)),
  };
}

/** Longer paths are refused in any case (PATH_MAX of Linux). */
const maxPathUnits = 4096;

/** Returns the folders that a path lies in, the innermost first. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  if (path.length > maxPathUnits) return folders;
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
    folders.push(path.slice(0, at));
  return folders;
}
