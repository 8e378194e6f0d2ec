import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { makeDirectory } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import { takeBackFolder } from "../disk/set-aside.ts";
import { flushFolder } from "../disk/write.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, ResolvedPath } from "../jail/folder.ts";

/** Number of levels from one folder that stays held to the next. */
const spacing = 16;

/** The folders that have to be created for a place. They are removed again, unless `keep` is called. */
export class NewFolders implements Disposable {
  readonly #place: ResolvedPath;
  readonly #scope: MutationScope;
  readonly #made: boolean[] = [];
  /** One folder in `spacing` levels, the outermost first. */
  readonly #held: Folder[] = [];
  #inner: Folder | undefined;
  #isKept = false;

  constructor(place: ResolvedPath, scope: MutationScope) {
    this.#place = place;
    this.#scope = scope;
  }

  /** Creates them in slices, and returns the folder that contains the place's name. */
  async make(): Promise<Folder> {
    const slice = createTimeSlice();
    for (const name of this.#place.newFolders) {
      if (slice.isDue) await slice.yieldIfDue();
      const outer = this.#innermost();
      this.#made.push(this.#isMade(outer, name));
      this.#inner = outer.child(name);
      if (this.#made.length % spacing === 0) this.#held.push(this.#inner);
      this.#release(outer);
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
    this.#release(this.#innermost());
    if (!this.#isKept)
      for (let level = this.#made.length - 1; level >= 0; level--) if (this.#made[level]) this.#remove(level);
    for (const folder of this.#held) folder.close();
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
   * Removes a folder. Descends from a held folder each time, to hold as few folders at once as `make`, which
   * may have failed for lack of descriptors. Keeps folders that other programs have filled.
   */
  #remove(level: number): void {
    const block = Math.floor(level / spacing);
    let outer = this.#held[block - 1] ?? this.#place.folder;
    try {
      for (const name of this.#place.newFolders.slice(block * spacing, level)) {
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
    if (folder !== this.#place.folder && !this.#held.includes(folder)) folder.close();
  }
}
