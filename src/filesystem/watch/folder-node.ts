/** A folder of the watched tree. */
import type { UnwatchedReason, WatchedEntry, WatchedFolder } from "./watched-tree.ts";

export class FolderNode implements WatchedFolder {
  parent: FolderNode | undefined;
  readonly name: string;
  keys: string[] = [];
  entries: NodeEntry[] = [];
  unwatched: UnwatchedReason | undefined;
  changedAt = 0;
  /** The kernel's watch descriptor, or `undefined` if the folder was not listed yet or has no watch. */
  watch: number | undefined;
  /** The inode of the watched folder. */
  inode: bigint | undefined;

  constructor(parent: FolderNode | undefined, name: string) {
    this.parent = parent;
    this.name = name;
  }

  /** The path from the base, one character per byte; "" for the base itself. */
  get path(): string {
    let path = this.name;
    for (let above = this.parent; above !== undefined; above = above.parent)
      if (above.parent !== undefined) path = `${above.name}/${path}`;
    return path;
  }

  /** The number of folders between the base and this one. */
  get depth(): number {
    let depth = 0;
    for (let above = this.parent; above !== undefined; above = above.parent) depth++;
    return depth;
  }

  /** Returns the index of the first key that does not sort before this one. */
  indexOf(key: string): number {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the entry with this name; the name of a folder needs its trailing "/". */
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

/** An entry of a folder node. */
export type NodeEntry = Exclude<WatchedEntry, WatchedFolder> | FolderNode;
