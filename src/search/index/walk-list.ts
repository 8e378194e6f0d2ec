import type { UnmatchedGlob } from "../ignore/path-globs.ts";
import { maxNamesLeftOut } from "../walk/tally.ts";
import { inFolder, type ListedFolder } from "./listed-folder.ts";

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
