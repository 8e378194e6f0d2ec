import { createTimeSlice, runInSlices, type Steps } from "../base/scheduling/time-slice.ts";

/** Maximum number of hidden files that are named together. */
export const maxNamed = 3;

/** The characters that end a path in an output. */
export const separators = /[\s:;,'"`()<>=[\]{}]+/;

/** Hidden files by their names: relative in the served folder, absolute elsewhere. */
export interface HiddenNames {
  /** Maximum number of names in a path of a hidden file. */
  readonly depth: number;
  has(path: string): boolean;
  /**
   * Returns the first hidden files in a folder, at any depth: one more than are named. "." is the served
   * folder.
   */
  below(folder: string): readonly string[];
  /** Returns the first hidden files whose last name is this: one more than are named. */
  named(last: string): readonly string[];
  /** The last names that contain `separators`. */
  readonly separated: readonly string[];
}

/** Indexes the paths, one in each step, since an output is compared with each of very many. */
export function* indexHidden(paths: Iterable<string>): Steps<HiddenNames> {
  const all = new Set<string>();
  const inFolders = new Map<string, string[]>();
  const byLastName = new Map<string, string[]>();
  const separated: string[] = [];
  let depth = 0;
  for (const path of paths) {
    const names = path.split("/");
    const last = names.at(-1)!;
    all.add(path);
    depth = Math.max(depth, names.length);
    if (!path.startsWith("/")) {
      if (separators.test(last) && !byLastName.has(last)) separated.push(last);
      addFirst(byLastName, last, path);
      for (let end = names.length - 1; end >= 0; end--)
        addFirst(inFolders, names.slice(0, end).join("/") || ".", path);
    }
    yield;
  }
  return {
    depth,
    separated,
    has: (path) => all.has(path),
    below: (folder) => inFolders.get(folder) ?? [],
    named: (last) => byLastName.get(last) ?? [],
  };
}

/** Returns an index without some of its paths. */
export function withoutNames(hidden: HiddenNames, names: ReadonlySet<string>): HiddenNames {
  if (names.size === 0) return hidden;
  const without = (paths: readonly string[]) => paths.filter((path) => !names.has(path));
  return {
    ...hidden,
    has: (path) => hidden.has(path) && !names.has(path),
    below: (folder) => without(hidden.below(folder)),
    named: (last) => without(hidden.named(last)),
  };
}

/** Returns a function that indexes these paths, under their names, once for each array. */
export function indexHiddenOnce(
  paths: () => readonly string[],
  nameOf: (path: string) => string,
): () => Promise<HiddenNames> {
  let indexed: { readonly paths: readonly string[]; readonly names: Promise<HiddenNames> } | undefined;
  function* namesOf(found: readonly string[]): Generator<string, void, void> {
    for (const path of found) yield nameOf(path);
  }
  return () => {
    const now = paths();
    if (indexed?.paths !== now)
      indexed = { paths: now, names: runInSlices(indexHidden(namesOf(now)), createTimeSlice()) };
    return indexed.names;
  };
}

function addFirst(index: Map<string, string[]>, key: string, path: string): void {
  const paths = index.get(key);
  if (paths === undefined) index.set(key, [path]);
  else if (paths.length <= maxNamed) paths.push(path);
}
