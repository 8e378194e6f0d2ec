/** A folder of a watched tree. */
import type { UnwatchedReason, WatchedEntry, WatchedFolder } from "./tree.ts";

export class FolderNode implements WatchedFolder {
  parent: FolderNode | undefined;
  readonly name: string;
  keys: string[] = [];
  entries: NodeEntry[] = [];
  unwatched: UnwatchedReason | undefined;
  /** The kernel's number for its watch; undefined before it is listed, and when it has none. */
  watch: number | undefined;
  /** Of the folder that is watched. */
  inode: bigint | undefined;

  constructor(parent: FolderNode | undefined, name: string) {
    this.parent = parent;
    this.name = name;
  }

  /** Its path from the base, one character per byte; "" for the base. */
  get path(): string {
    let path = this.name;
    for (let above = this.parent; above !== undefined; above = above.parent)
      if (above.parent !== undefined) path = `${above.name}/${path}`;
    return path;
  }

  /** Folders from the base to here. */
  get depth(): number {
    let depth = 0;
    for (let above = this.parent; above !== undefined; above = above.parent) depth++;
    return depth;
  }

  /** The index of the first key that does not come before this one. */
  indexOf(key: string): number {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The entry with this name, with or without the "/" of a folder. */
  entryOf(key: string): NodeEntry | undefined {
    const index = this.indexOf(key);
    return this.keys[index] === key ? this.entries[index] : undefined;
  }

  insert(key: string, entry: NodeEntry): void {
    const index = this.indexOf(key);
    this.keys.splice(index, 0, key);
    this.entries.splice(index, 0, entry);
  }

  remove(key: string): void {
    const index = this.indexOf(key);
    this.keys.splice(index, 1);
    this.entries.splice(index, 1);
  }
}

/** An entry of a node. */
export type NodeEntry = Exclude<WatchedEntry, WatchedFolder> | FolderNode;
