import { compileGlobSet, type GlobSet } from "./glob-set.ts";

/**
 * Globs that exclude entries. A glob that ends in `/**` excludes a whole folder, which a walk need not enter.
 */
export interface ExcludeGlobs {
  /** Matches the folders that are excluded with everything in them. */
  readonly folders: GlobSet;
  /** The remaining globs, if any. */
  readonly others: GlobSet | undefined;
}

/** Compiles the globs. Throws a `GlobError`. */
export function compileExcludeGlobs(globs: readonly string[]): ExcludeGlobs {
  const folders = globs.filter(excludesFolder);
  const others = globs.filter((glob) => !excludesFolder(glob));
  return {
    folders: compileGlobSet(folders.map((glob) => glob.slice(0, -everythingIn.length))),
    others: others.length === 0 ? undefined : compileGlobSet(others),
  };
}

/** Returns whether the folder at `path`, or one above it, is excluded. */
export const excludesPath = ({ folders }: ExcludeGlobs, path: string): boolean =>
  path.split("/").some((_, depth, names) => folders.matches(names.slice(0, depth + 1).join("/")));

const everythingIn = "/**";
/**
 * Returns whether the glob excludes a folder. After an escape or another slash, the glob without its end
 * would be malformed or match more.
 */
const excludesFolder = (glob: string): boolean => /[^/\\]\/\*\*$/.test(glob);
