import type { WatchedFolder } from "../watch/watched-tree.ts";
import type { Presence } from "./external-changes.ts";

/** Returns the kind of entry that the tree has at this path, one character per byte. */
export function presenceIn(base: WatchedFolder, place: string): Presence {
  let folder = base;
  const names = place.split("/");
  const last = names.pop()!;
  for (const name of names) {
    const child = entryOf(folder, `${name}/`);
    if (typeof child !== "object") return "nothing";
    folder = child;
  }
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
