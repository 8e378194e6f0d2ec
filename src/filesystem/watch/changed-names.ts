import type { FolderNode } from "./folder-node.ts";

/** The names that events reported as changed. Only the disk knows what stands there now. */
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

  /** Returns whether the name was pending. */
  delete(folder: FolderNode, name: string): boolean {
    return this.#names.get(folder)?.delete(name) === true;
  }

  /** Removes one folder with its pending names and returns them, or `undefined` if nothing is pending. */
  take(): [FolderNode, ReadonlySet<string>] | undefined {
    const [first] = this.#names;
    if (first !== undefined) this.#names.delete(first[0]);
    return first;
  }

  clear(): void {
    this.#names.clear();
  }
}
