import { compileGlobSet, type GlobSet } from "../globs/glob-set.ts";
import type { EntryFilterOptions, PathFilter } from "./entry-filter.ts";

/** The globs of a set. */
type Globs = readonly string[] | undefined;

/** What selects the files of a search, as a message to a thread. */
export interface PostedFilter {
  readonly include: Globs;
  readonly exclude: Globs;
  readonly fileNames: Globs;
  readonly excludedFolders: Globs;
  readonly otherExcludes: Globs;
}

/** The filter as a message to a thread; undefined where it is not made of globs alone. */
export function postFilter(options: EntryFilterOptions): PostedFilter | undefined {
  const { include, exclude, fileNames, defaultExcludes, ...unposted } = options;
  const { includesHidden, globs, otherFileNames } = unposted;
  if (includesHidden === false || globs !== undefined || otherFileNames !== undefined) return undefined;
  const sets = [include, exclude, fileNames, defaultExcludes?.folders, defaultExcludes?.others];
  if (!sets.every((set) => set === undefined || isGlobSet(set))) return undefined;
  const [included, excluded, names, folders, others] = sets.map(
    (set) => (set as GlobSet | undefined)?.patterns,
  );
  return {
    include: included,
    exclude: excluded,
    fileNames: names,
    excludedFolders: folders,
    otherExcludes: others,
  };
}

const isGlobSet = (set: PathFilter): boolean => "patterns" in set;

/** The filter of a message. */
export function filterOf(posted: PostedFilter): EntryFilterOptions {
  const { include, exclude, fileNames, excludedFolders, otherExcludes } = posted;
  const folders = compile(excludedFolders);
  return {
    include: compile(include),
    exclude: compile(exclude),
    fileNames: compile(fileNames),
    defaultExcludes: folders && { folders, others: compile(otherExcludes) },
  };
}

/** The limits have been checked where the globs came from. */
const compile = (globs: Globs): GlobSet | undefined =>
  globs && compileGlobSet(globs, Number.POSITIVE_INFINITY);
