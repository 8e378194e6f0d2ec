/** Finds the rules of ignore files in the folders of a watched tree, and what they depend on. */
import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { isReportedIn } from "../../filesystem/jail/stamps.ts";
import type { WatchedEntry, WatchedFolder } from "../../filesystem/watch/watched-tree.ts";
import { type IgnoreFiles, ignoreFileBit } from "../ignore/ignore-files.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import { inFolder, knownInode, openListed } from "./listed-folder.ts";
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

  /** Reads the ignore files of a folder again. Returns whether they still have these rules. */
  areUnchanged(place: RuledPlace, { above, rules, sources }: FolderRules): boolean {
    return sources.length === 0 || this.#read(place, above, sources).equals(rules);
  }

  #sourcesIn({ folder, path }: RuledPlace): readonly RuleSource[] {
    if (!folder.keys.some((key) => key.startsWith("."))) return noSources;
    const sources: RuleSource[] = [];
    folder.entries.forEach((entry, index) => {
      const key = folder.keys[index]!;
      if (ignoreFileBitOf(key, entry) === 0) return;
      const isRead = typeof entry === "object" && !this.#denies(path, key);
      const info = isRead ? entryIn(entry, "info/") : undefined;
      const exclude = typeof info === "object" ? entryIn(info, "exclude") : undefined;
      sources.push({ key, entry, info, exclude });
    });
    return sources;
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

/** Returns an entry of a folder. Throws `Unlistable` if the tree does not know its contents. */
function entryIn(folder: WatchedFolder, key: string): WatchedEntry | undefined {
  knownInode(folder);
  const index = folder.keys.indexOf(key);
  return index < 0 ? undefined : folder.entries[index];
}

const haveSameEntries = (some: readonly RuleSource[], others: readonly RuleSource[]): boolean =>
  some === others ||
  (some.length === others.length &&
    some.every(({ key, entry, info, exclude }, index) => {
      const other = others[index]!;
      return key === other.key && entry === other.entry && info === other.info && exclude === other.exclude;
    }));

function ignoreFileBitOf(key: string, entry: WatchedEntry): number {
  if (!key.startsWith(".") || typeof entry === "string") return 0;
  const bytes = Buffer.from(key, "latin1");
  const isFile = typeof entry === "number";
  return ignoreFileBit({ bytes, from: 0, to: bytes.length - (isFile ? 0 : 1) }, isFile ? "file" : "dir");
}
