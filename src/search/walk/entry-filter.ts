import type { Folder } from "../../filesystem/jail/folder.ts";
import type { NameBytes } from "../../filesystem/jail/name.ts";
import { type ExcludeGlobs, excludesPath } from "../../text/globs/exclude-globs.ts";
import type { GlobSet } from "../../text/globs/glob-set.ts";
import type { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { PathGlobs, UnmatchedGlob } from "../ignore/path-globs.ts";
import { type FirstLeftOut, maxNamesLeftOut } from "./tally.ts";

/** Selects paths. A `GlobSet` is one. */
export type PathFilter = Pick<GlobSet, "matches">;

/** The files that a search reads, apart from those that ignore files name. */
export interface EntryFilterOptions {
  readonly include: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  /** The globs that replace these two, in the dialect of `rg -g`. They also keep the walk out of folders. */
  readonly globs?: PathGlobs | undefined;
  /** The default excludes, which apply unless the search starts in one of their folders. */
  readonly defaultExcludes?: ExcludeGlobs | undefined;
  /** The file names to include. */
  readonly fileNames?: GlobSet | undefined;
  /** The file names to leave out. */
  readonly otherFileNames?: GlobSet | undefined;
  /** Whether to include names that begin with a dot. Default: true. */
  readonly includesHidden?: boolean | undefined;
}

/** A folder, reduced to the part that globs need. */
type FolderPath = Pick<Folder, "path">;

/** Decides about the entries of a walk. */
export class EntryFilter {
  /** The number of files and folders that ignore files and default excludes have left out. */
  excluded = 0;
  /** The number of them that ignore files have left out. */
  ignored = 0;
  /** The number of denied files and folders that would be searched otherwise. */
  denied = 0;
  /** Whether ignore files also name the last folder that default excludes left out. */
  isAlsoIgnored = false;
  readonly #byDefault: string[] = [];
  readonly #byIgnoreFiles: string[] = [];
  readonly #alsoIgnored = new Set<string>();
  readonly #includesHidden: boolean;
  readonly #options: EntryFilterOptions;
  readonly #defaultExcludes: ExcludeGlobs | undefined;
  /** Whether whole paths are compared, which can be slow with the globs of a caller. */
  readonly comparesPaths: boolean;

  /** Creates a filter for a walk that starts in `start`. */
  constructor(options: EntryFilterOptions, start: FolderPath) {
    const { include, exclude, defaultExcludes, includesHidden = true } = options;
    this.#options = options;
    this.#includesHidden = includesHidden;
    this.#defaultExcludes =
      defaultExcludes !== undefined && excludesPath(defaultExcludes, start.path)
        ? undefined
        : defaultExcludes;
    this.comparesPaths =
      include !== undefined || exclude !== undefined || this.#defaultExcludes?.others !== undefined;
  }

  /** Returns the first entries that were left out. */
  get firstLeftOut(): FirstLeftOut {
    return {
      byDefault: this.#byDefault,
      alsoIgnored: this.#alsoIgnored,
      byIgnoreFiles: this.#byIgnoreFiles,
    };
  }

  entersFolder(folder: FolderPath, name: NameBytes, rules: IgnoreRules): boolean {
    if (this.#isHidden(name) || this.#options.globs?.entersFolder(folder.path, name) === false) return false;
    if (this.excludesFolder(folder, name)) {
      if (!this.#mayTakeBelow(folder, name)) return false;
      this.isAlsoIgnored = rules.ignores(folder.path, name, true);
      if (this.isAlsoIgnored && this.#byDefault.length < maxNamesLeftOut)
        this.#alsoIgnored.add(`${pathIn(folder, name)}/`);
      return this.#leaveOut(this.#byDefault, folder, name, "/");
    }
    if (!rules.ignores(folder.path, name, true)) return true;
    if (!this.#mayTakeBelow(folder, name)) return false;
    this.ignored++;
    return this.#leaveOut(this.#byIgnoreFiles, folder, name, "/");
  }

  noteDenied(folder: FolderPath, name: NameBytes, isFolder: boolean): void {
    const { globs } = this.#options;
    if (this.#isHidden(name)) return;
    const isWanted = isFolder
      ? globs?.entersFolder(folder.path, name) !== false && this.#mayTakeBelow(folder, name)
      : this.#wantsName(folder, name) && this.#wantsPath(folder, name);
    if (isWanted) this.denied++;
  }

  /** Returns whether the globs may select something in the folder of this name. */
  #mayTakeBelow(folder: FolderPath, name: NameBytes): boolean {
    return this.#options.globs?.mayTakeBelow(folder.path, name) !== false;
  }

  /** Returns whether the default excludes cover everything in the folder of this name. */
  excludesFolder(folder: FolderPath, { bytes, from, to }: NameBytes): boolean {
    return this.#defaultExcludes?.folders.matchesBytesIn(folder.path, bytes, from, to) === true;
  }

  wantsFile(folder: FolderPath, name: NameBytes, rules: IgnoreRules): boolean {
    if (this.#isHidden(name) || !this.#wantsName(folder, name)) return false;
    if (!rules.ignores(folder.path, name, false)) return this.#wantsPath(folder, name);
    this.ignored++;
    return this.#leaveOut(this.#byIgnoreFiles, folder, name);
  }

  /**
   * Returns whether the default excludes leave out the folder that a glob concerns, such as
   * `node_modules/**`.
   */
  #coversFolder(glob: string): boolean {
    const path = glob.replace(/^\.?\//, "").replace(/(?:\/\*{0,2})+$/, "");
    const names = path.split("/").map((name) => (/^\*+$/.test(name) ? "x" : name));
    return this.#defaultExcludes !== undefined && excludesPath(this.#defaultExcludes, names.join("/"));
  }

  #isHidden({ bytes, from }: NameBytes): boolean {
    return !this.#includesHidden && bytes[from] === dot;
  }

  #wantsName(folder: FolderPath, name: NameBytes): boolean {
    const { fileNames, otherFileNames, globs } = this.#options;
    const { bytes, from, to } = name;
    if (fileNames?.matchesBytesIn("", bytes, from, to) === false) return false;
    if (otherFileNames?.matchesBytesIn("", bytes, from, to) === true) return false;
    return globs?.takesFile(folder.path, name) !== false;
  }

  /** Returns the cost of the globs (`PathGlobs.cost`). */
  get cost(): number {
    return this.#options.globs?.cost ?? 0;
  }

  /** Returns the globs that have matched nothing so far. */
  get unmatchedGlobs(): readonly UnmatchedGlob[] {
    const unmatched = this.#options.globs?.unmatched ?? [];
    return unmatched.filter(({ list, glob }) => list === "include" || !this.#coversFolder(glob));
  }

  #wantsPath(folder: FolderPath, name: NameBytes): boolean {
    if (!this.comparesPaths) return true;
    const { include, exclude } = this.#options;
    const path = pathIn(folder, name);
    if (include?.matches(path) === false || exclude?.matches(path) === true) return false;
    if (this.#defaultExcludes?.others?.matches(path) !== true) return true;
    return this.#leaveOut(this.#byDefault, folder, name);
  }

  /** Counts an entry as excluded, and remembers it if it is among the first. Returns false. */
  #leaveOut(first: string[], folder: FolderPath, name: NameBytes, mark = ""): false {
    this.excluded++;
    if (first.length < maxNamesLeftOut) first.push(pathIn(folder, name) + mark);
    return false;
  }
}

const dot = 0x2e;

function pathIn({ path: folder }: FolderPath, { bytes, from, to }: NameBytes): string {
  const name = bytes.toString("utf8", from, to);
  return folder === "" ? name : `${folder}/${name}`;
}
