import type { WatchedFolder, WatchedTree } from "../watch/watched-tree.ts";
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

/** Finds the entries that a tree had at the last drain. Events in a row often concern those of one folder. */
export class PresenceReader {
  readonly #tree: Pick<WatchedTree, "base" | "version">;
  /** The folder of the last path, in this version of the tree. */
  #last: { readonly place: string; readonly folder: WatchedFolder | undefined } | undefined;
  #version = 0;

  constructor(tree: Pick<WatchedTree, "base" | "version">) {
    this.#tree = tree;
  }

  /** Returns whether the tree has a folder at this path whose contents it knows. */
  isWatchedAt(place: string): boolean {
    const [above, name] = this.#split(place);
    const folder = place === "" ? above : above && entryOf(above, `${name}/`);
    return typeof folder === "object" && folder.inode !== undefined && folder.unwatched === undefined;
  }

  /** Returns the kind of entry that the tree has at this path, one character per byte. */
  presenceAt(place: string): Presence {
    const [above, name] = this.#split(place);
    if (above === undefined) return "nothing";
    if (entryOf(above, `${name}/`) !== undefined) return "folder";
    return entryOf(above, name) === undefined ? "nothing" : "entry";
  }

  /** Returns the folder that a path is in, if any, and its name there. */
  #split(place: string): [above: WatchedFolder | undefined, name: string] {
    const slash = place.lastIndexOf("/");
    const { base, version } = this.#tree;
    if (slash < 0) return [base, place];
    let last = this.#version === version ? this.#last : undefined;
    if (last?.place.length !== slash || !place.startsWith(last.place)) {
      const above = place.slice(0, slash);
      last = { place: above, folder: folderIn(base, above) };
      this.#last = last;
      this.#version = version;
    }
    return [last.folder, place.slice(slash + 1)];
  }
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
