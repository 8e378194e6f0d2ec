import type { WatchedFolder } from "../watch/watched-tree.ts";
import type { Presence } from "./external-changes.ts";

/** Returns the folder that the tree has at this path, one character per byte; the base for "". */
export function folderIn(base: WatchedFolder, place: string): WatchedFolder | undefined {
  let folder = base;
  for (const name of place === "" ? [] : place.split("/")) {
    const child = entryOf(folder, `${name}/`);
    if (typeof child !== "object") return undefined;
    folder = child;
  }
  return folder;
}

/** Returns whether the tree has a folder at this path whose contents it knows. */
export function isWatchedIn(base: WatchedFolder, place: string): boolean {
  const folder = folderIn(base, place);
  return folder?.inode !== undefined && folder.unwatched === undefined;
}

/** Returns the kind of entry that the tree has at this path, one character per byte. */
export function presenceIn(base: WatchedFolder, place: string): Presence {
  const slash = place.lastIndexOf("/");
  const last = place.slice(slash + 1);
  const folder = folderIn(base, place.slice(0, Math.max(slash, 0)));
  if (folder === undefined) return "nothing";
  if (entryOf(folder, `${last}/`) !== undefined) return "folder";
  return entryOf(folder, last) === undefined ? "nothing" : "entry";
}

function entryOf(
  { keys, entries }: WatchedFolder,
  key: string,
): WatchedFolder["entries"][number] | undefined {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key ? entries[low] : undefined;
}
