/** Finds the rules of ignore files in the folders of a watched tree, and what they depend on. */
import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { isReportedIn } from "../../filesystem/jail/stamps.ts";
import type { WatchedEntry, WatchedFolder } from "../../filesystem/watch/watched-tree.ts";
import { type IgnoreFiles, ignoreFileBit } from "../ignore/ignore-files.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import { indexOfSorted, inFolder, knownInode, openListed } from "./listed-folder.ts";
import type { WatchedFiles } from "./watched-files.ts";

/** A folder of the tree, and its path from the base. */
export interface RuledPlace {
  readonly folder: WatchedFolder;
  readonly path: string;
}

/** The rules in a folder, and all that they depend on besides the contents of ignore files. */
export interface FolderRules {
  /** The rules from above the folder. */
  readonly above: IgnoreRules;
  readonly rules: IgnoreRules;
  readonly sources: readonly RuleSource[];
}

/** An ignore file in a folder, or the folder `.git`, which has rules in `info/exclude`. */
export interface RuleSource {
  readonly key: string;
  readonly entry: WatchedEntry;
  /** For `.git`, the folder `info` and the file `exclude`, unless they are missing or denied. */
  readonly info?: WatchedEntry | undefined;
  readonly exclude?: WatchedEntry | undefined;
}

export interface ListedRulesOptions {
  readonly jail: Jail;
  readonly ignoreFiles?: IgnoreFiles | undefined;
  readonly watched: Pick<WatchedFiles, "watchRules">;
}

const noSources: readonly RuleSource[] = [];

/** The keys of ignore files, in their order. */
const sourceKeys = [".git/", ".gitignore", ".ignore", ".rgignore"];

export class ListedRules {
  /** Whether events report every change of the ignore files that were read. */
  isLasting = true;
  readonly #options: ListedRulesOptions;
  /** The rules in a folder without ignore files, which most folders share with the one above. */
  #passedOn: FolderRules = { above: IgnoreRules.none, rules: IgnoreRules.none, sources: noSources };

  constructor(options: ListedRulesOptions) {
    this.#options = options;
  }

  /**
   * Returns the rules in a folder. They are `earlier`, if given, unless its sources or the rules from above
   * have changed. Throws `Unlistable`, or `TreeChanged`.
   */
  in(place: RuledPlace, above: IgnoreRules, earlier?: FolderRules): FolderRules {
    const sources = this.#options.ignoreFiles === undefined ? noSources : this.#sourcesIn(place);
    if (earlier?.above === above && haveSameEntries(earlier.sources, sources)) return earlier;
    if (sources.length > 0) return { above, rules: this.#read(place, above, sources), sources };
    if (this.#passedOn.above !== above) this.#passedOn = { above, rules: above, sources };
    return this.#passedOn;
  }

  /** Returns whether the folder has the ignore files that its rules come from. */
  haveSameSources(place: RuledPlace, { sources }: FolderRules): boolean {
    return sources.length === 0 || haveSameEntries(sources, this.#sourcesIn(place));
  }

  /** Like `haveSameSources`, for a folder whose own entries are those of this version of the tree. */
  haveSameExcludes(place: RuledPlace, { sources }: FolderRules, version: number): boolean {
    return sources.every(
      (source) => !hasChangedInside(source, version) || isSame(source, this.#sourceOf(place, source)),
    );
  }

  /** Reads the ignore files of a folder again. Returns whether they still have these rules. */
  areUnchanged(place: RuledPlace, { above, rules, sources }: FolderRules): boolean {
    return sources.length === 0 || this.#read(place, above, sources).equals(rules);
  }

  #sourcesIn(place: RuledPlace): readonly RuleSource[] {
    const { keys, entries } = place.folder;
    const sources: RuleSource[] = [];
    for (const key of sourceKeys) {
      const index = indexOfSorted(keys, key);
      const entry = entries[index];
      if (entry === undefined || ignoreFileBitOf(key, entry) === 0) continue;
      sources.push(this.#sourceOf(place, { key, entry }));
    }
    return sources.length === 0 ? noSources : sources;
  }

  #sourceOf({ path }: RuledPlace, { key, entry }: Pick<RuleSource, "key" | "entry">): RuleSource {
    const isRead = typeof entry === "object" && !this.#denies(path, key);
    const info = isRead ? entryIn(entry, "info/") : undefined;
    const exclude = typeof info === "object" ? entryIn(info, "exclude") : undefined;
    return { key, entry, info, exclude };
  }

  /** Reads the ignore files of a folder, once their events are subscribed to. */
  #read({ folder, path }: RuledPlace, above: IgnoreRules, sources: readonly RuleSource[]): IgnoreRules {
    const inode = knownInode(folder);
    let present = 0;
    for (const { key, entry, info, exclude } of sources) {
      present |= ignoreFileBitOf(key, entry);
      if (typeof entry === "number") this.#watch({ folder, path }, key, entry);
      else if (typeof info === "object" && typeof exclude === "number")
        this.#watch({ folder: info, path: inFolder(path, ".git/info") }, "exclude", exclude);
    }
    using opened = openListed(this.#options.jail, { path, inode });
    return this.#options.ignoreFiles!.in(opened, above, present);
  }

  /** Subscribes to the events of an ignore file that is about to be read. Denied ones are not read. */
  #watch({ folder, path }: RuledPlace, key: string, file: number): void {
    const { jail, watched } = this.#options;
    if (this.#denies(path, key)) return;
    watched.watchRules(file);
    using opened = openListed(jail, { path, inode: knownInode(folder) });
    const name = Buffer.from(key, "latin1");
    this.isLasting &&= isReportedIn(opened.descriptor!, { bytes: name, from: 0, to: name.length });
  }

  #denies(path: string, key: string): boolean {
    return this.#options.jail.denies(namesOf(inFolder(path, key.replace(/\/$/, ""))));
  }
}

/** Returns whether the entries of `.git`, or of `info` in it, have changed since a version of the tree. */
const hasChangedInside = ({ entry, info }: RuleSource, version: number): boolean =>
  typeof entry === "object" &&
  (entry.changedAt > version || (typeof info === "object" && info.changedAt > version));

/** Returns an entry of a folder. Throws `Unlistable` if the tree does not know its contents. */
function entryIn(folder: WatchedFolder, key: string): WatchedEntry | undefined {
  knownInode(folder);
  return folder.entries[indexOfSorted(folder.keys, key)];
}

const haveSameEntries = (some: readonly RuleSource[], others: readonly RuleSource[]): boolean =>
  some === others ||
  (some.length === others.length && some.every((source, index) => isSame(source, others[index]!)));

const isSame = ({ key, entry, info, exclude }: RuleSource, other: RuleSource): boolean =>
  key === other.key && entry === other.entry && info === other.info && exclude === other.exclude;

function ignoreFileBitOf(key: string, entry: WatchedEntry): number {
  if (!key.startsWith(".") || typeof entry === "string") return 0;
  const bytes = Buffer.from(key, "latin1");
  const isFile = typeof entry === "number";
  return ignoreFileBit({ bytes, from: 0, to: bytes.length - (isFile ? 0 : 1) }, isFile ? "file" : "dir");
}
