import { type ExcludeGlobs, excludesPath } from "../globs/exclude-globs.ts";
import type { GlobSet } from "../globs/glob-set.ts";
import type { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { Folder } from "../jail/folder.ts";
import type { NameBytes } from "../jail/name.ts";

/** Selects paths; a `GlobSet` is one. */
export type PathFilter = Pick<GlobSet, "matches">;

/** Which files a search looks at, besides those that ignore files name. */
export interface EntryFilterOptions {
  readonly include: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  /** Left out unless the search starts in one of their folders. */
  readonly defaultExcludes?: ExcludeGlobs | undefined;
  /** Selects names of files. */
  readonly fileNames?: GlobSet | undefined;
}

/** A folder, or as much of one as globs need. */
type Place = Pick<Folder, "path">;

/** Decides about the entries of a walk. */
export class EntryFilter {
  /** Files and folders that ignore files and default excludes have left out. */
  excluded = 0;
  readonly #options: EntryFilterOptions;
  readonly #defaultExcludes: ExcludeGlobs | undefined;
  /** Whether it compares whole paths, which can be slow with the globs of a caller. */
  readonly comparesPaths: boolean;

  /** For a walk that starts in `start`. */
  constructor(options: EntryFilterOptions, start: Place) {
    const { include, exclude, defaultExcludes } = options;
    this.#options = options;
    this.#defaultExcludes =
      defaultExcludes !== undefined && excludesPath(defaultExcludes, start.path)
        ? undefined
        : defaultExcludes;
    this.comparesPaths =
      include !== undefined || exclude !== undefined || this.#defaultExcludes?.others !== undefined;
  }

  entersFolder(folder: Place, name: NameBytes, rules: IgnoreRules): boolean {
    return !this.#count(this.excludesFolder(folder, name) || rules.ignores(folder.path, name, true));
  }

  /** Whether the default excludes cover everything in the folder of this name. */
  excludesFolder(folder: Place, { bytes, from, to }: NameBytes): boolean {
    return this.#defaultExcludes?.folders.matchesBytesIn(folder.path, bytes, from, to) === true;
  }

  wantsFile(folder: Place, name: NameBytes, rules: IgnoreRules): boolean {
    const { bytes, from, to } = name;
    if (this.#options.fileNames?.matchesBytesIn("", bytes, from, to) === false) return false;
    return !this.#count(rules.ignores(folder.path, name, false)) && this.#wantsPath(folder, name);
  }

  #count(isExcluded: boolean): boolean {
    if (isExcluded) this.excluded++;
    return isExcluded;
  }

  #wantsPath({ path: folder }: Place, { bytes, from, to }: NameBytes): boolean {
    if (!this.comparesPaths) return true;
    const { include, exclude } = this.#options;
    const name = bytes.toString("utf8", from, to);
    const path = folder === "" ? name : `${folder}/${name}`;
    if (include?.matches(path) === false || exclude?.matches(path) === true) return false;
    return !this.#count(this.#defaultExcludes?.others?.matches(path) === true);
  }
}
