/** Decides which files callers may read, but not create or change. */
import { join, relative } from "node:path";
import { compileGlobSet, type GlobSet } from "../../text/globs/glob-set.ts";
import { autorunProgramOf } from "./autorun.ts";
import { namesOf, pathIn } from "./backend.ts";
import { denyRules } from "./deny-rules.ts";
import type { Folder, ProtectedChange } from "./folder.ts";
import { areInRepository, GitPaths, type GitUser, isRepositoryName } from "./git-paths.ts";
import type { Folding } from "./name-comparison.ts";
import { type ChangedPlace, protectResolved } from "./protected.ts";

export interface WriteDenial {
  readonly globs: GlobSet;
  /** Globs of exceptions. Default: none. */
  readonly except?: GlobSet | undefined;
  /**
   * The user whose git runs changed files; the files that it reads and runs are denied as well. Default: git
   * is ignored.
   */
  readonly gitUser?: GitUser | undefined;
}

interface WriteDenialKeys {
  /** The configured globs, or null if none are configured. */
  readonly globs: readonly string[] | null;
  readonly except: readonly string[];
  /** The globs of the profile: `autorunGlobs`, or none. */
  readonly byDefault: readonly string[];
  readonly gitUser: GitUser;
}

export const writeDenialOf = ({ globs, except, byDefault, gitUser }: WriteDenialKeys): WriteDenial => ({
  globs: compileGlobSet(globs ?? byDefault),
  except: compileGlobSet(except),
  gitUser: globs === null && byDefault.length > 0 ? gitUser : undefined,
});

/** The reason why a change is refused. */
export interface WriteRefusal {
  /** The program that would act on it, if known. */
  readonly program: string | undefined;
}

/** A changed place, by its path from the top and by that from its root. */
export interface WritePlace extends ChangedPlace {
  readonly names: readonly string[];
  readonly folding: Folding;
}

export interface WriteRules {
  /**
   * Returns why the change is refused, or `undefined` if it is not. `isRemade`: the place is in a removed
   * folder that is being restored, and `mayGoWhole` holds for that folder.
   */
  refusalOf(place: WritePlace, change: ProtectedChange, isRemade?: boolean): WriteRefusal | undefined;
  /** Returns whether a glob matches `name` in a folder. */
  deniesIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** Returns whether globs match everything below the folder `name` in a folder. */
  deniesAllIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** Returns whether a glob can match something below a path. */
  mayDenyBelow(names: readonly string[], folding: Folding): boolean;
  /**
   * Returns whether a folder that callers may remove can go with the files in it that they may not change.
   * That holds for files that programs act on by themselves, if the globs match them by names in the folder
   * alone: no program finds one in what remains.
   */
  mayGoWhole(names: readonly string[], folding: Folding): boolean;
  /**
   * Returns the paths, from the base, of what the configuration of git names for the working tree at the path
   * `top`, and lies below the base. `root` is the name of the root, for the globs of exceptions.
   */
  namedByGit(root: string, top: string): readonly string[];
}

/**
 * Returns the rules for a root at the canonical host path `base`; `folds` has the same meaning as for deny
 * rules.
 */
export function writeRules(
  { globs, except = compileGlobSet([]), gitUser }: WriteDenial,
  { base, folds }: { readonly base: string; readonly folds: boolean },
): WriteRules {
  const rules = denyRules(globs, folds);
  const above = denyRules(compileGlobSet(foldersOf(globs.patterns)), folds);
  const whole = denyRules(compileGlobSet(wholeFoldersOf(globs.patterns)), folds);
  const opened = denyRules(compileGlobSet(foldersOf(except.patterns)), folds);
  const opensAnywhere = except.patterns.some((glob) => glob.startsWith("*"));
  const git = gitUser && new GitPaths(gitUser);
  const isOpen = (names: readonly string[]) =>
    names.some((_, index) => except.matches(names.slice(0, index + 1).join("/")));
  const isNamedByGit = (place: WritePlace, change: ProtectedChange) => {
    if (git === undefined) return false;
    const fold = (path: string) => rules.fold(path, place.folding);
    const inRoot = namesOf(place.path);
    const suspects: string[] = [];
    let folder = base;
    for (const [index, name] of inRoot.entries()) {
      if (isRepositoryName(fold(name))) suspects.push(folder);
      if (index < inRoot.length - 1) folder = folder === "/" ? `/${name}` : `${folder}/${name}`;
    }
    if (areInRepository(suspects)) return true;
    const files = git.namedFor(folder);
    if (files.length === 0) return false;
    const named = protectResolved(base, files);
    return named.covers(place, change, fold) || named.holds(place.path, fold);
  };
  const mayDenyBelow = (names: readonly string[], folding: Folding) =>
    above.denies(names.join("/"), folding) && !isOpen(names);
  return {
    refusalOf(place, change, isRemade = false) {
      const { names, folding } = place;
      const isCovered = !isRemade && rules.deniesBelow(names, folding);
      if (!isCovered && !isNamedByGit(place, change)) return undefined;
      if (isOpen(names)) return undefined;
      const glob = rules.denyingGlob(names);
      return { program: glob === undefined ? gitUser && "git" : autorunProgramOf(glob) };
    },
    deniesIn: (folder, name) => rules.deniesIn(folder, name) && !isOpen([...namesOf(folder.path), name]),
    deniesAllIn(folder, name) {
      if (opensAnywhere || !whole.deniesIn(folder, name)) return false;
      const names = [...namesOf(folder.path), name];
      return !isOpen(names) && !opened.deniesBelow(names, folder.folding);
    },
    namedByGit: (root, top) =>
      (git?.programsFor(join(base, top)) ?? [])
        .map((path) => relative(base, path))
        .filter((path) => path !== "" && path !== ".." && !path.startsWith("../"))
        .filter((path) => !isOpen(namesOf(pathIn(root, path)))),
    mayDenyBelow,
    mayGoWhole: (names, folding) => git !== undefined && !mayDenyBelow(names, folding),
  };
}

/**
 * Returns globs of the folders in which a glob can match something, up to the last name that it spells out.
 */
const foldersOf = (globs: readonly string[]): string[] =>
  globs.flatMap((glob) => {
    const names = splitOutsideBraces(glob);
    return names.flatMap((name, index) =>
      index === names.length - 1 || /^\*+$/.test(name) ? [] : [names.slice(0, index + 1).join("/")],
    );
  });

/** Returns a glob for each folder that one of these covers as a whole. */
const wholeFoldersOf = (globs: readonly string[]): string[] =>
  globs.flatMap((glob) => /^(.+?)(?:\/\*\*)?\/\*\*?$/.exec(glob)?.[1] ?? []);

/** Splits at each "/" outside braces and classes. */
const splitOutsideBraces = (glob: string): string[] =>
  glob.match(/(?:\{[^}]*\}|\[[^\]]*\]|\\.|[^/])+/g) ?? [];
