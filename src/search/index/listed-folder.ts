import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import { linksAt } from "../../filesystem/jail/statx.ts";
import type { WatchedFolder } from "../../filesystem/watch/watched-tree.ts";

/** A folder, as a watched tree lists it. */
export interface ListedFolder {
  /** The path relative to the base. */
  readonly path: string;
  /** The path relative to the start of the walk, like `SharedFolder.walked`. */
  readonly walked: string;
  readonly inode: bigint;
}

/** Thrown if the disk differs from the tree, so that all results of a search by the tree are void. */
export class TreeChanged extends Error {
  override readonly name = "TreeChanged";
}

/** Thrown if the tree lacks something that a walk would find out. */
export class Unlistable extends Error {
  override readonly name = "Unlistable";
}

/** Returns the inode of a folder. Throws `Unlistable` if its contents are unknown. */
export function knownInode({ unwatched, inode }: WatchedFolder): bigint {
  if (unwatched !== undefined || inode === undefined) throw new Unlistable();
  return inode;
}

/** Returns the folders from the base to the one with these names, or `undefined` if the tree lacks one. */
export function foldersTo(base: WatchedFolder, names: readonly string[]): WatchedFolder[] | undefined {
  const path = [base];
  for (const name of names) {
    const { keys, entries } = path.at(-1)!;
    const entry = entries[indexOfSorted(keys, `${Buffer.from(name).toString("latin1")}/`)];
    if (typeof entry !== "object") return undefined;
    path.push(entry);
  }
  return path;
}

/** Returns the index of a key of a folder, or -1. */
export function indexOfSorted(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key ? low : -1;
}

/** Returns the path of an entry of a folder. */
export const inFolder = (folder: string, name: string): string =>
  folder === "" ? name : `${folder}/${name}`;

/**
 * Opens the folder through the jail. Throws `TreeChanged` if it is gone, or if another one has taken its
 * place.
 */
export function openListed(
  jail: Pick<Jail, "reopenFolder">,
  { path, inode }: Omit<ListedFolder, "walked">,
): Folder {
  const folder = reopen(jail, path);
  // A link may lead elsewhere now. If names are folded, the denied names differ from those in the list.
  if (folder.path === path && folder.folding === "exact" && isInode(folder, inode)) return folder;
  folder.close();
  throw new TreeChanged(path);
}

function reopen(jail: Pick<Jail, "reopenFolder">, path: string): Folder {
  try {
    return jail.reopenFolder(path);
  } catch {
    // If there is another reason, the repeated search meets it.
    throw new TreeChanged(path);
  }
}

/** Returns whether the folder has this inode. */
export function isInode({ descriptor }: Folder, inode: bigint): boolean {
  const own = descriptor === undefined ? undefined : linksAt(descriptor, ".");
  return typeof own === "object" && own.inode === inode;
}
