/**
 * Lists the files that a walk would find, from a watched tree: in the same order and by the same rules,
 * without reading folders from disk.
 */
import { isUtf8 } from "node:buffer";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { namesOf } from "../../filesystem/jail/backend.ts";
import type { RuledFolder } from "../../filesystem/jail/deny-rules.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import { isReportedIn } from "../../filesystem/jail/stamps.ts";
import type { WatchedEntry, WatchedFolder } from "../../filesystem/watch/watched-tree.ts";
import { type IgnoreFiles, ignoreFileBit } from "../ignore/ignore-files.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { UnmatchedGlob } from "../ignore/path-globs.ts";
import { EntryFilter, type EntryFilterOptions } from "../walk/entry-filter.ts";
import { maxNamesLeftOut } from "../walk/tally.ts";
import { type ListedFolder, openListed } from "./listed-folder.ts";
import type { WatchedFiles } from "./watched-files.ts";

/** The files in the order of a walk, and the entries between them that the walk leaves out and counts. */
export interface WalkList {
  /** The number of each file in the tree, or one of `leftOut`. */
  readonly files: readonly number[];
  /** The index of each entry's folder. */
  readonly folders: readonly number[];
  /** Each entry's name, one character per byte. Folder names end in "/". */
  readonly keys: readonly string[];
  readonly places: readonly ListedFolder[];
  /** The globs of the caller that have matched nothing. */
  readonly unmatchedGlobs: readonly UnmatchedGlob[];
  /** Whether events report every change of the rules that the list was made by. */
  readonly isLasting: boolean;
}

/** The kinds of entries that are left out, by cause. */
export const leftOut = { byDefault: -1, byIgnoreFiles: -2, denied: -3, byBoth: -4 } as const;

/** Counts the entries of a list that are left out, and remembers the first ones. */
export class LeftOutCounts {
  readonly byDefault: string[] = [];
  readonly alsoIgnored = new Set<string>();
  readonly byIgnoreFiles: string[] = [];
  excluded = 0;
  ignored = 0;
  denied = 0;
  readonly #list: WalkList;

  constructor(list: WalkList) {
    this.#list = list;
  }

  count(index: number): void {
    const why = this.#list.files[index];
    if (why === leftOut.denied) {
      this.denied++;
      return;
    }
    this.excluded++;
    if (why === leftOut.byIgnoreFiles) this.ignored++;
    const first = why === leftOut.byIgnoreFiles ? this.byIgnoreFiles : this.byDefault;
    if (first.length === maxNamesLeftOut) return;
    const path = basePathAt(this.#list, index);
    first.push(path);
    if (why === leftOut.byBoth) this.alsoIgnored.add(path);
  }
}

/** Returns the path of an entry relative to the start of the walk, like `Place.file`. */
export const walkedAt = ({ keys, folders, places }: WalkList, index: number): string =>
  places[folders[index]!]!.walked + keys[index]!;

/** Returns the path of an entry relative to the base. */
export const basePathAt = ({ keys, folders, places }: WalkList, index: number): string =>
  inFolder(places[folders[index]!]!.path, Buffer.from(keys[index]!, "latin1").toString());

/**
 * Returns the index of the first entry that does not come before `after`. An excluded folder comes before its
 * entries.
 */
export function firstNotBefore(list: WalkList, after: string | undefined): number {
  if (after === undefined) return 0;
  let [low, high] = [0, list.files.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (walkedAt(list, middle) < after) low = middle + 1;
    else high = middle;
  }
  const isIn = low > 0 && list.keys[low - 1]!.endsWith("/") && after.startsWith(walkedAt(list, low - 1));
  return isIn ? low - 1 : low;
}

export interface ListOptions extends EntryFilterOptions {
  readonly jail: Jail;
  readonly ignoreFiles?: IgnoreFiles | undefined;
  readonly watched: Pick<WatchedFiles, "watchRules">;
}

/** Thrown if the tree lacks something that a walk would find out. */
class Unlistable extends Error {}

/** The folders and entries of a step, since each step passes through the generators of all folders above. */
const entriesPerStep = 256;

/** Lists the files below a folder. They can be read from the list while it grows. */
export class WalkLister implements WalkList {
  readonly files: number[] = [];
  readonly folders: number[] = [];
  readonly keys: string[] = [];
  readonly places: ListedFolder[] = [];
  unmatchedGlobs: readonly UnmatchedGlob[] = [];
  isLasting = true;
  /** The folders and entries since the last step. */
  #sinceYield = 0;
  readonly #options: ListOptions;
  readonly #filter: EntryFilter;
  readonly #name = { bytes: Buffer.alloc(256), from: 0, to: 0 };

  constructor(start: Folder, options: ListOptions) {
    this.#options = options;
    this.#filter = new EntryFilter(options, start);
  }

  /**
   * Lists the files. `path` has the folders from the base to the start of the walk, both included. Returns
   * false if the tree does not know all files. The tree must not change while the list is made. Throws
   * `TreeChanged` if a folder differs from the tree.
   */
  *run(path: readonly WatchedFolder[]): Steps<boolean> {
    try {
      yield* this.#list(path);
      return true;
    } catch (error) {
      if (error instanceof Unlistable) return false;
      throw error;
    }
  }

  *#list(path: readonly WatchedFolder[]): Steps<void> {
    const start = path.at(-1)!;
    const names = path.slice(1).map(({ name }) => textOf(name));
    let rules = IgnoreRules.none;
    path.slice(0, -1).forEach((folder, depth) => {
      rules = this.#rulesIn(folder, names.slice(0, depth).join("/"), rules);
    });
    yield* this.#listFolder(start, { path: names.join("/"), walked: "", rules });
    this.unmatchedGlobs = this.#filter.unmatchedGlobs;
  }

  *#listFolder(folder: WatchedFolder, { path, walked, rules: above }: Above): Steps<void> {
    const { keys, entries } = folder;
    const inode = inodeOf(folder);
    const place: RuledFolder = { path, folding: "exact" };
    const rules = this.#rulesIn(folder, path, above);
    const index = this.places.push({ path, walked, inode }) - 1;
    this.#sinceYield += keys.length + 1;
    for (let i = 0; i < keys.length; i++) {
      const [key, entry] = [keys[i]!, entries[i]!];
      if (typeof entry === "string") continue;
      const { excluded, ignored, denied } = this.#filter;
      const isWanted = this.#isWanted(place, { key, isFolder: typeof entry !== "number", rules });
      if (this.#filter.denied > denied) this.#add(leftOut.denied, index, key);
      else if (this.#filter.ignored > ignored) this.#add(leftOut.byIgnoreFiles, index, key);
      else if (this.#filter.excluded > excluded) this.#add(this.#reasonByDefault(key), index, key);
      else if (isWanted && typeof entry === "number") this.#add(entry, index, key);
      else if (isWanted) yield* this.#listChild(entry as WatchedFolder, { path, walked, rules });
    }
    if (this.#sinceYield < entriesPerStep) return;
    this.#sinceYield = 0;
    yield;
  }

  /**
   * Returns the reason for an entry that default excludes have just left out. Only folders are also checked
   * against ignore files.
   */
  #reasonByDefault(key: string): number {
    return key.endsWith("/") && this.#filter.isAlsoIgnored ? leftOut.byBoth : leftOut.byDefault;
  }

  /** Returns whether to search the file, or to enter the folder. The filter counts the reason if not. */
  #isWanted(place: RuledFolder, { key, isFolder, rules }: KeyOfEntry): boolean {
    if (this.#isDenied(place, key)) {
      this.#filter.noteDenied(place, this.#name, isFolder);
      return false;
    }
    return isFolder
      ? this.#filter.entersFolder(place, this.#name, rules)
      : this.#filter.wantsFile(place, this.#name, rules);
  }

  #listChild(folder: WatchedFolder, { path, walked, rules }: Above): Steps<void> {
    const name = textOf(folder.name);
    return this.#listFolder(folder, {
      path: inFolder(path, name),
      walked: `${walked}${folder.name}/`,
      rules,
    });
  }

  #add(file: number, folder: number, key: string): void {
    this.files.push(file);
    this.folders.push(folder);
    this.keys.push(key);
  }

  /** Returns whether the entry is denied. Writes its name to `#name`. */
  #isDenied(place: RuledFolder, key: string): boolean {
    const name = this.#name;
    const length = key.endsWith("/") ? key.length - 1 : key.length;
    name.bytes.write(key, 0, length, "latin1");
    name.to = length;
    return this.#options.jail.deniesBytesIn(place, name.bytes, 0, length);
  }

  /** Returns the rules in a folder, and reads its ignore files, if any. */
  #rulesIn(folder: WatchedFolder, path: string, above: IgnoreRules): IgnoreRules {
    const { ignoreFiles, jail } = this.#options;
    if (ignoreFiles === undefined || !folder.keys.some((key) => key.startsWith("."))) return above;
    let present = 0;
    const inode = inodeOf(folder);
    folder.entries.forEach((entry, index) => {
      const bit = ignoreFileBitOf(folder.keys[index]!, entry);
      present |= bit;
      if (bit !== 0) this.#watchRules(entry, { folder, path, key: folder.keys[index]! });
    });
    if (present === 0) return above;
    using opened = openListed(jail, { path, inode });
    return ignoreFiles.in(opened, above, present);
  }

  /** Subscribes to the events of an ignore file that is about to be read. Denied ones are not read. */
  #watchRules(
    entry: WatchedEntry,
    { folder, path, key }: { folder: WatchedFolder; path: string; key: string },
  ): void {
    const { jail, watched } = this.#options;
    if (jail.denies(namesOf(inFolder(path, key.replace(/\/$/, ""))))) return;
    if (typeof entry === "object") {
      // The rules of a `.git` are in `info/exclude`.
      const info = entryIn(entry, "info/");
      const exclude = typeof info === "object" ? entryIn(info, "exclude") : undefined;
      if (typeof info === "object" && typeof exclude === "number")
        this.#watchRules(exclude, { folder: info, path: inFolder(path, ".git/info"), key: "exclude" });
    } else if (typeof entry === "number") {
      watched.watchRules(entry);
      using opened = openListed(jail, { path, inode: inodeOf(folder) });
      const name = Buffer.from(key, "latin1");
      this.isLasting &&= isReportedIn(opened.descriptor!, { bytes: name, from: 0, to: name.length });
    }
  }
}

/** An entry's key, and the rules in its folder. */
interface KeyOfEntry {
  readonly key: string;
  readonly isFolder: boolean;
  readonly rules: IgnoreRules;
}

/** A folder's paths, and the rules from above it. */
interface Above {
  readonly path: string;
  readonly walked: string;
  readonly rules: IgnoreRules;
}

const inFolder = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

function inodeOf({ unwatched, inode }: WatchedFolder): bigint {
  if (unwatched !== undefined || inode === undefined) throw new Unlistable();
  return inode;
}

function entryIn(folder: WatchedFolder, key: string): WatchedEntry | undefined {
  inodeOf(folder);
  const index = folder.keys.indexOf(key);
  return index < 0 ? undefined : folder.entries[index];
}

function ignoreFileBitOf(key: string, entry: WatchedEntry): number {
  if (!key.startsWith(".") || typeof entry === "string") return 0;
  const bytes = Buffer.from(key, "latin1");
  const isFile = typeof entry === "number";
  return ignoreFileBit({ bytes, from: 0, to: bytes.length - (isFile ? 0 : 1) }, isFile ? "file" : "dir");
}

/**
 * Returns the name of a folder as text. Throws `Unlistable` for a name that is not UTF-8, because no path
 * leads to it.
 */
function textOf(name: string): string {
  const bytes = Buffer.from(name, "latin1");
  if (!isUtf8(bytes)) throw new Unlistable();
  return bytes.toString();
}
