import { pathIn } from "../jail/backend.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { isListed } from "../jail/listed-name.ts";
import type { PlannedEntries, PlannedEntry } from "./entry.ts";

/** Finds changed entries under every spelling of their names that the file system accepts. */
export class PlannedNames {
  readonly #jail: Jail;

  constructor(jail: Jail) {
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
    if (!this.#folds(folder)) return undefined;
    const spelled = [...changed].filter(([own]) => this.#foldIn(folder, own) === this.#foldIn(folder, name));
    // A folder that lists both has two entries after all.
    if (spelled.length === 0 || (disk !== undefined && isListed(disk, name))) return undefined;
    const [, entry] = spelled.find(([, there]) => there !== undefined) ?? spelled[0]!;
    return { entry };
  }

  #folds(folder: Pick<Folder, "path" | "folding">): boolean {
    return folder.folding !== "foreign" && this.#foldIn(folder, "A") !== pathIn(folder.path, "A");
  }

  #foldIn(folder: Pick<Folder, "path" | "folding">, name: string): string {
    return this.#jail.fold({ path: pathIn(folder.path, name), folder: folder as Folder });
  }
}
