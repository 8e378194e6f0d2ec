import { makeDirectory } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import { takeBackFolder } from "../disk/set-aside.ts";
import { flushFolder } from "../disk/write.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, ResolvedPath } from "../jail/folder.ts";

/** The folders that have to be created for a place. They are removed again, unless `keep` is called. */
export class NewFolders implements Disposable {
  readonly #place: ResolvedPath;
  readonly #scope: MutationScope;
  readonly #made: boolean[] = [];
  #inner: Folder | undefined;
  #isKept = false;

  constructor(place: ResolvedPath, scope: MutationScope) {
    this.#place = place;
    this.#scope = scope;
  }

  /** Creates them, and returns the folder that contains the place's name. */
  make(): Folder {
    for (const name of this.#place.newFolders) {
      const outer = this.#innermost();
      this.#made.push(this.#isMade(outer, name));
      const child = outer.child(name);
      this.#inner?.close();
      this.#inner = child;
    }
    return this.#innermost();
  }

  keep(): void {
    this.#isKept = true;
  }

  /** Flushes their names to the disk. */
  async flush(): Promise<void> {
    const held: Folder[] = [];
    try {
      let folder = this.#place.folder;
      for (const name of this.#place.newFolders) {
        await flushFolder(folder);
        folder = folder.child(name);
        held.push(folder);
      }
    } catch {
      // Another program moved them; the file is created all the same.
    } finally {
      for (const folder of held) folder.close();
    }
  }

  [Symbol.dispose](): void {
    this.#inner?.close();
    if (this.#isKept) return;
    for (let level = this.#made.length - 1; level >= 0; level--) if (this.#made[level]) this.#remove(level);
  }

  /** Creates a folder. Returns false if another program was faster. */
  #isMade(folder: Folder, name: string): boolean {
    try {
      makeDirectory(this.#scope, folder, { name });
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  #innermost(): Folder {
    return this.#inner ?? this.#place.folder;
  }

  /**
   * Removes a folder. Descends from the place's folder each time, to hold as few folders at once as `make`,
   * which may have failed for lack of descriptors. Keeps folders that other programs have filled.
   */
  #remove(level: number): void {
    let outer = this.#place.folder;
    try {
      for (const name of this.#place.newFolders.slice(0, level)) {
        const child = outer.child(name);
        this.#release(outer);
        outer = child;
      }
      takeBackFolder(this.#scope, outer, this.#place.newFolders[level]!);
    } catch {
      // The folder now belongs to others.
    } finally {
      this.#release(outer);
    }
  }

  #release(folder: Folder): void {
    if (folder !== this.#place.folder) folder.close();
  }
}
