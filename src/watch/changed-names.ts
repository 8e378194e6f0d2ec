import type { FolderNode } from "./folder-node.ts";

/** Names of which an event says that something about them changed: what is there now, the disk says. */
export class ChangedNames {
  readonly #names = new Map<FolderNode, Set<string>>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  add(folder: FolderNode, name: string): void {
    const names = this.#names.get(folder);
    if (names === undefined) this.#names.set(folder, new Set([name]));
    else names.add(name);
  }

  has(folder: FolderNode, name: string): boolean {
    return this.#names.get(folder)?.has(name) === true;
  }

  /** Whether it was there. */
  delete(folder: FolderNode, name: string): boolean {
    return this.#names.get(folder)?.delete(name) === true;
  }

  /** A folder and its names, which are no longer pending; undefined when nothing is. */
  take(): [FolderNode, ReadonlySet<string>] | undefined {
    const [first] = this.#names;
    if (first !== undefined) this.#names.delete(first[0]);
    return first;
  }

  clear(): void {
    this.#names.clear();
  }
}
