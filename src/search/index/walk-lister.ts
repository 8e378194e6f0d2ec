/**
 * Lists the files that a walk would find, from a watched tree: in the same order and by the same rules,
 * without reading folders from disk. Copies the parts of an earlier list that have not changed since.
 */
import { isUtf8 } from "node:buffer";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { RuledFolder } from "../../filesystem/jail/deny-rules.ts";
import type { Folder } from "../../filesystem/jail/folder.ts";
import type { WatchedFolder } from "../../filesystem/watch/watched-tree.ts";
import { entriesPerClockCheck, maxEntriesPerClockCheck } from "../ignore/ignore-file.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { UnmatchedGlob } from "../ignore/path-globs.ts";
import { EntryFilter, type EntryFilterOptions } from "../walk/entry-filter.ts";
import { inFolder, knownInode, type ListedFolder, Unlistable } from "./listed-folder.ts";
import { type FolderRules, ListedRules, type ListedRulesOptions, type RuledPlace } from "./listed-rules.ts";
import { leftOut, type WalkList } from "./walk-list.ts";

export interface ListOptions extends EntryFilterOptions, ListedRulesOptions {}

/**
 * A list with the same options, and the version of the tree (`WatchedTree.version`) that it was made from.
 */
export interface EarlierList {
  readonly list: WalkLister;
  readonly version: number;
  /** Whether no ignore file has changed since. If unknown, they are read again. */
  readonly hasSameRules: boolean;
}

/** A folder above the start of the walk. */
interface FolderAbove extends RuledPlace {
  readonly rules: FolderRules;
}

/** A folder in the list. */
interface Place extends ListedFolder, FolderAbove {}

/** A folder that is about to be listed. */
interface FolderToList extends RuledPlace {
  readonly walked: string;
  readonly rulesAbove: IgnoreRules;
  /** Its index in the earlier list, if it is there. */
  readonly earlier: number | undefined;
}

/** The folders and entries of a step, since each step passes through the generators of all folders above. */
const entriesPerStep = maxEntriesPerClockCheck;
/** The copied entries of a step. */
const copiedPerStep = 4096;
/** The compared folders of a step. Each may have ignore files to read. */
const comparedPerStep = 16;

/** Lists the files below a folder. They can be read from the list while it grows. */
export class WalkLister implements WalkList {
  readonly files: number[] = [];
  readonly folders: number[] = [];
  readonly keys: string[] = [];
  readonly places: Place[] = [];
  unmatchedGlobs: readonly UnmatchedGlob[] = [];
  readonly #above: FolderAbove[] = [];
  /** For each place the range of its entries and of those below it, and the end of the places below it. */
  readonly #firsts: number[] = [];
  readonly #ends: number[] = [];
  readonly #endPlaces: number[] = [];
  /** The folders and entries since the last step. */
  #sinceYield = 0;
  readonly #options: ListOptions;
  readonly #rules: ListedRules;
  readonly #filter: EntryFilter;
  readonly #name = { bytes: Buffer.alloc(256), from: 0, to: 0 };
  #earlier: WalkLister | undefined;
  /** For each place of the earlier list, the number of those before it that have changed since. */
  #changedBefore = new Uint32Array();

  constructor(start: Folder, options: ListOptions) {
    this.#options = options;
    this.#rules = new ListedRules(options);
    this.#filter = new EntryFilter(options, start);
  }

  /** Returns whether events report every change of the ignore files that were read. */
  get isLasting(): boolean {
    return this.#rules.isLasting;
  }

  /**
   * Lists the files. `path` has the folders from the base to the start of the walk, both included. Returns
   * false if the tree does not know all files. The tree must not change while the list is made. Throws
   * `TreeChanged` if a folder differs from the tree.
   */
  *run(path: readonly WatchedFolder[], earlier?: EarlierList): Steps<boolean> {
    try {
      // A list does not say where in it a glob has matched.
      if (earlier !== undefined && this.#options.globs === undefined) yield* this.#compare(earlier);
      yield* this.#list(path);
      this.#earlier = undefined;
      return true;
    } catch (error) {
      if (error instanceof Unlistable) return false;
      throw error;
    }
  }

  /** Returns whether all names in the list, and all ignore files, are those of this version of the tree. */
  isCurrent(version: number): boolean {
    try {
      const isCurrent = (place: FolderAbove) => this.#isCurrent(place, version);
      return this.#above.every(isCurrent) && this.places.every(isCurrent);
    } catch (error) {
      if (error instanceof Unlistable) return false;
      throw error;
    }
  }

  #isCurrent(place: FolderAbove, version: number): boolean {
    return place.folder.changedAt <= version && this.#rules.haveSameExcludes(place, place.rules, version);
  }

  /** Finds the places of an earlier list that have changed. Takes nothing from it if its rules have. */
  *#compare({ list, version, hasSameRules }: EarlierList): Steps<void> {
    // The rules of other ignore files are read when the folder is listed.
    const hasOtherRules = (place: FolderAbove) =>
      !hasSameRules &&
      this.#rules.haveSameSources(place, place.rules) &&
      !this.#rules.areUnchanged(place, place.rules);
    for (const place of list.#above) {
      if (hasOtherRules(place)) return;
      yield;
    }
    const changedBefore = new Uint32Array(list.places.length + 1);
    for (let i = 0; i < list.places.length; i++) {
      const place = list.places[i]!;
      if (hasOtherRules(place)) return;
      changedBefore[i + 1] = changedBefore[i]! + Number(!this.#isCurrent(place, version));
      if (i % comparedPerStep === 0) yield;
    }
    this.#earlier = list;
    this.#changedBefore = changedBefore;
  }

  *#list(path: readonly WatchedFolder[]): Steps<void> {
    const start = path.at(-1)!;
    const names = path.slice(1).map(({ name }) => textOf(name));
    const earlierAbove = this.#earlier === undefined ? [] : this.#earlier.#above;
    let rulesAbove = IgnoreRules.none;
    for (const [depth, folder] of path.slice(0, -1).entries()) {
      const place = { folder, path: names.slice(0, depth).join("/") };
      const rules = this.#rules.in(place, rulesAbove, earlierAbove[depth]?.rules);
      this.#above.push({ ...place, rules });
      rulesAbove = rules.rules;
      yield;
    }
    const ofStart = names.join("/");
    yield* rulesAbove.follow(ofStart);
    if (this.#options.globs !== undefined) yield* this.#options.globs.follow(ofStart);
    const earlier = this.#earlier?.places[0]?.folder === start ? 0 : undefined;
    yield* this.#listFolder({ folder: start, path: ofStart, walked: "", rulesAbove, earlier });
    this.unmatchedGlobs = this.#filter.unmatchedGlobs;
  }

  /** Lists a folder and those below it. */
  *#listFolder({ folder, path, walked, rulesAbove, earlier }: FolderToList): Steps<void> {
    const known = earlier === undefined ? undefined : this.#earlier!.places[earlier]!;
    const rules = this.#rules.in({ folder, path }, rulesAbove, known?.rules);
    const hasSameRules = known?.rules === rules;
    if (hasSameRules && this.#changesIn(earlier!).below === 0) {
      yield* this.#copyPlaces(earlier!);
      return;
    }
    const index = this.places.push({ folder, path, walked, inode: knownInode(folder), rules }) - 1;
    this.#firsts[index] = this.files.length;
    if (hasSameRules && !this.#changesIn(earlier!).here) yield* this.#copyFolder(index, earlier!);
    else yield* this.#filterFolder(index, earlier);
    this.#ends[index] = this.files.length;
    this.#endPlaces[index] = this.places.length;
    if (this.#isStepOver()) yield;
  }

  /** Counts a folder or an entry, or one that takes as long as several. Returns whether the step is over. */
  #isStepOver(entries = 1): boolean {
    this.#sinceYield += entries;
    if (this.#sinceYield < entriesPerStep) return false;
    this.#sinceYield = 0;
    return true;
  }

  /** Adds the entries of a place, and those of the folders in it that a walk enters. */
  *#filterFolder(index: number, earlier: number | undefined): Steps<void> {
    const { folder, path, walked, rules: own } = this.places[index]!;
    const { keys, entries } = folder;
    const { rules } = own;
    const place: RuledFolder = { path, folding: "exact" };
    const earlierIn = new Map<WatchedFolder, number>();
    for (const [child, place] of earlier === undefined ? [] : this.#earlier!.#placesIn(earlier))
      if (earlierIn.set(child, place).size % copiedPerStep === 0) yield;
    const weight = entriesPerStep / entriesPerClockCheck(rules.cost + this.#filter.cost);
    for (let i = 0; i < keys.length; i++) {
      if (this.#isStepOver(weight)) yield;
      const [key, entry] = [keys[i]!, entries[i]!];
      if (typeof entry === "string") continue;
      const { excluded, ignored, denied } = this.#filter;
      const isWanted = this.#isWanted(place, { key, isFolder: typeof entry !== "number", rules });
      if (this.#filter.denied > denied) this.#add(leftOut.denied, index, key);
      else if (this.#filter.ignored > ignored) this.#add(leftOut.byIgnoreFiles, index, key);
      else if (this.#filter.excluded > excluded) this.#add(this.#reasonByDefault(key), index, key);
      else if (isWanted && typeof entry === "number") this.#add(entry, index, key);
      else if (isWanted) {
        const child = entry as WatchedFolder;
        const name = textOf(child.name);
        yield* this.#listFolder({
          folder: child,
          path: inFolder(path, name),
          walked: walked + key,
          rulesAbove: rules,
          earlier: earlierIn.get(child),
        });
      }
    }
  }

  /** Adds the entries of a place as they are in the earlier list, and lists the folders between them. */
  *#copyFolder(index: number, earlier: number): Steps<void> {
    const list = this.#earlier!;
    const rulesAbove = this.places[index]!.rules.rules;
    let at = list.#firsts[earlier]!;
    for (const [folder, child] of list.#placesIn(earlier)) {
      yield* this.#copyEntries(at, list.#firsts[child]!, index - earlier);
      const { path, walked } = list.places[child]!;
      yield* this.#listFolder({ folder, path, walked, rulesAbove, earlier: child });
      at = list.#ends[child]!;
    }
    yield* this.#copyEntries(at, list.#ends[earlier]!, index - earlier);
  }

  /** Copies a place of the earlier list and all places below it. */
  *#copyPlaces(earlier: number): Steps<void> {
    const list = this.#earlier!;
    const [first, end, endPlace] = [list.#firsts[earlier]!, list.#ends[earlier]!, list.#endPlaces[earlier]!];
    const byEntries = this.files.length - first;
    const byPlaces = this.places.length - earlier;
    for (let place = earlier; place < endPlace; place++) {
      this.places.push(list.places[place]!);
      this.#firsts[place + byPlaces] = list.#firsts[place]! + byEntries;
      this.#ends[place + byPlaces] = list.#ends[place]! + byEntries;
      this.#endPlaces[place + byPlaces] = list.#endPlaces[place]! + byPlaces;
      if (place % copiedPerStep === 0) yield;
    }
    yield* this.#copyEntries(first, end, byPlaces);
  }

  /** Copies entries of the earlier list, whose folders have moved by a number of places. */
  *#copyEntries(from: number, to: number, byPlaces: number): Steps<void> {
    const { files, folders, keys } = this.#earlier!;
    for (let entry = from; entry < to; entry++) {
      this.#add(files[entry]!, folders[entry]! + byPlaces, keys[entry]!);
      if (entry % copiedPerStep === 0) yield;
    }
  }

  /** Returns how many places of the earlier list have changed, from this one to the last below it. */
  #changesIn(earlier: number): { readonly here: boolean; readonly below: number } {
    const before = this.#changedBefore;
    const below = before[this.#earlier!.#endPlaces[earlier]!]! - before[earlier]!;
    return { here: before[earlier + 1]! > before[earlier]!, below };
  }

  /** Yields the folders in a place, each with its place. */
  *#placesIn(place: number): Generator<[WatchedFolder, number]> {
    for (let child = place + 1; child < this.#endPlaces[place]!; child = this.#endPlaces[child]!)
      yield [this.places[child]!.folder, child];
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
}

/** An entry's key, and the rules in its folder. */
interface KeyOfEntry {
  readonly key: string;
  readonly isFolder: boolean;
  readonly rules: IgnoreRules;
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
