import { pathIn } from "../jail/backend.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { isListed } from "../jail/listed-name.ts";
import type { PlannedEntries, PlannedEntry } from "./entry.ts";

/** The changed names of a folder by their folded paths, which hold for one path of the folder. */
interface FoldedNames {
  readonly folder: string;
  readonly byPath: Map<string, string[]>;
  count: number;
}

/** Finds changed entries under every spelling of their names that the file system accepts. */
export class PlannedNames {
  readonly #jail: Pick<Jail, "fold">;
  /** Folded names are kept, because a folder with many changed names is read name by name. */
  readonly #folded = new WeakMap<PlannedEntries, FoldedNames>();

  constructor(jail: Pick<Jail, "fold">) {
    this.#jail = jail;
  }

  /** Returns the changed entry of the name in a folder, or `undefined` if the disk determines it. */
  find(
    folder: Pick<Folder, "path" | "folding">,
    { changes, disk }: { changes: PlannedEntries | undefined; disk: Folder | undefined },
    name: string,
  ): { readonly entry: PlannedEntry | undefined } | undefined {
    if (changes === undefined || changes.changed.size === 0) return undefined;
    const { changed } = changes;
    if (changed.has(name)) return { entry: changed.get(name) };
    if (!this.folds(folder)) return undefined;
    const spelled = this.#foldedNames(folder, changes).get(this.#foldIn(folder, name));
    // A folder that lists both has two entries after all.
    if (spelled === undefined || (disk !== undefined && isListed(disk, name))) return undefined;
    const own = spelled.find((one) => changed.get(one) !== undefined) ?? spelled[0]!;
    return { entry: changed.get(own) };
  }

  /** Returns the changed names of a folder by their folded paths. */
  #foldedNames(
    folder: Pick<Folder, "path" | "folding">,
    changes: PlannedEntries,
  ): ReadonlyMap<string, readonly string[]> {
    const { path } = folder;
    const known = this.#folded.get(changes);
    const folded = known?.folder === path ? known : { folder: path, byPath: new Map(), count: 0 };
    this.#folded.set(changes, folded);
    if (folded.count === changes.changed.size) return folded.byPath;
    // Names are never taken out, so those that were added stand last.
    for (const own of [...changes.changed.keys()].slice(folded.count)) {
      const key = this.#foldIn(folder, own);
      folded.byPath.set(key, [...(folded.byPath.get(key) ?? []), own]);
    }
    folded.count = changes.changed.size;
    return folded.byPath;
  }

  /** Returns whether names in a folder have several spellings. */
  folds(folder: Pick<Folder, "path" | "folding">): boolean {
    return folder.folding !== "foreign" && this.#foldIn(folder, "A") !== pathIn(folder.path, "A");
  }

  #foldIn(folder: Pick<Folder, "path" | "folding">, name: string): string {
    return this.#jail.fold({ path: pathIn(folder.path, name), folder: folder as Folder });
  }
}
