/** Holds the folders and files of a watched tree, and applies listings to them. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { EntryKind } from "../jail/kind.ts";
import { FileNumbers } from "./file-numbers.ts";
import { FolderNode, type NodeEntry } from "./folder-node.ts";
import type { Listing } from "./folder-reader.ts";
import type { WatchQueue } from "./inotify.ts";
import type { TreeListener, UnwatchedReason } from "./watched-tree.ts";

/** Entries that are compared, and folders that are cleared, in one step. */
const perStep = { entries: 4096, folders: 256 } as const;

/** The folders of a tree, keyed by their watches. */
export class FolderTable {
  readonly base = new FolderNode(undefined, "");
  readonly numbers: FileNumbers;
  /** Documented at `WatchedTree.version`. */
  version = 0;
  folders = 1;
  unwatchedFolders = 0;
  /** Folders found in a listing that have not been listed themselves. */
  readonly unlisted: FolderNode[] = [];
  readonly #inotify: WatchQueue;
  readonly #byWatch = new Map<number, FolderNode>();
  /** The watches of folders that have left their places. They may have been moved. */
  readonly #left = new Set<number>();

  constructor(inotify: WatchQueue, listener: TreeListener) {
    this.#inotify = inotify;
    this.numbers = new FileNumbers(listener);
  }

  ofWatch(watch: number): FolderNode | undefined {
    return this.#byWatch.get(watch);
  }

  /** Returns whether the watch was that of a folder which has left its place, and still reports events. */
  hasLeft(watch: number): boolean {
    return this.#left.has(watch);
  }

  /**
   * Ends watches of the folders that have left their places, and were not found at others. Returns whether
   * there are more than `most`.
   */
  unwatchLeft(most = Number.POSITIVE_INFINITY): boolean {
    let ended = 0;
    for (const watch of this.#left) {
      if (ended++ === most) return true;
      this.#inotify.unwatch(watch);
      this.#left.delete(watch);
    }
    return false;
  }

  /** Yields all folders from this one on, each before those it contains. */
  *all(top = this.base): Generator<FolderNode> {
    const rest = [top];
    for (let folder = rest.pop(); folder !== undefined; folder = rest.pop()) {
      yield folder;
      for (const entry of folder.entries) if (entry instanceof FolderNode) rest.push(entry);
    }
  }

  /** Returns whether the folder still belongs to this tree. */
  holds(folder: FolderNode): boolean {
    let top = folder;
    while (top.parent !== undefined) top = top.parent;
    return top === this.base;
  }

  /**
   * Records the watch of a folder, and forgets the folder's contents if it had a different one. Returns the
   * folder that had the watch before, which must have been moved here.
   */
  setWatch(folder: FolderNode, watch: number): FolderNode | undefined {
    if (folder.watch === watch) return undefined;
    this.clear(folder);
    const earlier = this.#byWatch.get(watch);
    if (earlier !== undefined) earlier.watch = undefined;
    this.#left.delete(watch);
    folder.watch = watch;
    this.#byWatch.set(watch, folder);
    return earlier;
  }

  /** Forgets the contents of the folder and its watch. */
  clear(folder: FolderNode): void {
    this.#setReason(folder, undefined);
    this.#unwatch(folder);
    if (folder.keys.length > 0) this.#change(folder);
    const { entries } = folder;
    folder.keys = [];
    folder.entries = [];
    for (const entry of entries) this.#drop(entry);
  }

  /** Clears a folder and those in it, in steps. Called before it leaves its place with very many. */
  *clearInSteps(folder: FolderNode): Steps<void> {
    let cleared = 0;
    // Each is cleared before its parent, so that no step takes long.
    for (const below of [...this.all(folder)].reverse()) {
      this.clear(below);
      if (++cleared % perStep.folders === 0) yield;
    }
  }

  /** Records that the contents of the folder are unknown. */
  setUnwatched(folder: FolderNode, reason: UnwatchedReason): void {
    this.clear(folder);
    this.#setReason(folder, reason);
  }

  /** Records that the kernel has ended this watch. */
  forgetWatch(watch: number): void {
    const folder = this.#byWatch.get(watch);
    if (folder !== undefined) folder.watch = undefined;
    this.#byWatch.delete(watch);
    this.#left.delete(watch);
  }

  /**
   * Replaces the entries of the folder with those of the listing, in steps. Files and folders that are still
   * there keep their identity. Returns the names of new files.
   */
  *setListing(folder: FolderNode, { keys, kinds }: Listing): Steps<string[]> {
    const [oldKeys, oldEntries] = [folder.keys, folder.entries];
    const entries: NodeEntry[] = [];
    const added: string[] = [];
    let isSame = true;
    let at = 0;
    /** The folders that were dropped in this step. */
    let dropped = 0;
    /** Sets the entries so far, and keeps the old ones after them. */
    const set = () => {
      if (isSame) return;
      folder.keys = keys.slice(0, entries.length).concat(oldKeys.slice(at));
      folder.entries = entries.concat(oldEntries.slice(at));
      this.#change(folder);
      isSame = true;
    };
    for (let done = 1; entries.length < keys.length || at < oldKeys.length; done++) {
      const key = keys[entries.length];
      const oldKey = oldKeys[at];
      if (key === undefined || (oldKey !== undefined && oldKey < key)) {
        const gone = oldEntries[at]!;
        if (gone instanceof FolderNode) dropped += this.#sizeOf(gone);
        if (gone instanceof FolderNode && dropped > perStep.folders) {
          set();
          yield;
          yield* this.clearInSteps(gone);
          dropped = 0;
        }
        isSame = false;
        at++;
        this.#drop(gone);
      } else {
        const old = oldKey === key ? oldEntries[at++] : undefined;
        const entry = this.#entryOf(folder, key, kinds[entries.length]!, old);
        isSame &&= entry === old;
        if (typeof entry === "number" && entry !== old) added.push(key);
        entries.push(entry);
      }
      if (done % perStep.entries !== 0) continue;
      set();
      yield;
    }
    set();
    return added;
  }

  /**
   * Sets the entry of this name to the given kind, or removes it, and returns it. A new folder becomes
   * `unlisted`.
   */
  setEntry(folder: FolderNode, name: string, kind: EntryKind | undefined): NodeEntry | undefined {
    const key = kind === "dir" ? `${name}/` : name;
    const otherKey = kind === "dir" ? name : `${name}/`;
    this.#removeEntry(folder, otherKey);
    if (kind === undefined) {
      this.#removeEntry(folder, key);
      return undefined;
    }
    const old = folder.entryOf(key);
    const entry = this.#entryOf(folder, key, kind, old);
    if (entry === old) return entry;
    if (old !== undefined) folder.remove(key);
    folder.insert(key, entry);
    this.#change(folder);
    return entry;
  }

  #removeEntry(folder: FolderNode, key: string): void {
    const entry = folder.entryOf(key);
    if (entry === undefined) return;
    folder.remove(key);
    this.#change(folder);
    this.#drop(entry);
  }

  /** Counts the folders from this one on, up to one more than are cleared in a step. */
  #sizeOf(folder: FolderNode): number {
    let count = 0;
    for (const _ of this.all(folder)) if (++count > perStep.folders) break;
    return count;
  }

  /** Returns an entry of this kind, reusing the old one if its kind fits. */
  #entryOf(folder: FolderNode, key: string, kind: EntryKind, old: NodeEntry | undefined): NodeEntry {
    if (kind === "dir") {
      if (old instanceof FolderNode) return old;
      const child = new FolderNode(folder, key.slice(0, -1));
      this.folders++;
      this.unlisted.push(child);
      return child;
    }
    if (kind === "file" && typeof old === "number") return old;
    if (kind === old) return old;
    if (typeof old === "number") this.numbers.release(old);
    return kind === "file" ? this.numbers.assign() : kind;
  }

  /** Releases everything that an entry holds. */
  #drop(entry: NodeEntry): void {
    if (typeof entry === "number") this.numbers.release(entry);
    if (!(entry instanceof FolderNode)) return;
    this.clear(entry);
    entry.parent = undefined;
    this.folders--;
  }

  #unwatch(folder: FolderNode): void {
    if (folder.watch === undefined) return;
    this.#byWatch.delete(folder.watch);
    this.#left.add(folder.watch);
    folder.watch = undefined;
  }

  #setReason(folder: FolderNode, reason: UnwatchedReason | undefined): void {
    this.unwatchedFolders += Number(reason !== undefined) - Number(folder.unwatched !== undefined);
    if (folder.unwatched !== reason) this.#change(folder);
    folder.unwatched = reason;
  }

  #change(folder: FolderNode): void {
    folder.changedAt = ++this.version;
  }
}
