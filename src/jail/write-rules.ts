/** Decides what callers may read, and never make or change. */
import { join } from "node:path";
import { compileGlobSet, type GlobSet } from "../globs/glob-set.ts";
import { autorunProgramOf } from "./autorun.ts";
import { namesOf } from "./backend.ts";
import { denyRules } from "./deny.ts";
import type { Folder, ProtectedChange } from "./folder.ts";
import type { Folding } from "./folding.ts";
import { GitPaths, type GitUser, isReadByGit } from "./git-paths.ts";
import { type ChangedPlace, protectFiles } from "./protected.ts";

export interface WriteDenial {
  readonly globs: GlobSet;
  /** What is open all the same. Default: nothing. */
  readonly except?: GlobSet | undefined;
  /** Whose git runs what is changed: what that reads and runs is denied as well. Default: that is not looked at. */
  readonly gitUser?: GitUser | undefined;
}

interface WriteDenialKeys {
  /** What the configuration has; null where it does not say. */
  readonly globs: readonly string[] | null;
  readonly except: readonly string[];
  /** What the profile has, which is `autorunGlobs` or nothing. */
  readonly byDefault: readonly string[];
  readonly gitUser: GitUser;
}

export const writeDenialOf = ({ globs, except, byDefault, gitUser }: WriteDenialKeys): WriteDenial => ({
  globs: compileGlobSet(globs ?? byDefault),
  except: compileGlobSet(except),
  gitUser: globs === null && byDefault.length > 0 ? gitUser : undefined,
});

/** Why a change is refused. */
export interface WriteRefusal {
  /** The program that would act on it, where that is known. */
  readonly program: string | undefined;
}

/** A changed place, by its path from the top and by that from its root. */
export interface WritePlace extends ChangedPlace {
  readonly names: readonly string[];
  readonly folding: Folding;
}

export interface WriteRules {
  /** Why the change is refused; undefined if it is not. */
  refusalOf(place: WritePlace, change: ProtectedChange): WriteRefusal | undefined;
  /** Whether a glob matches `name` in a folder. */
  deniesIn(folder: Pick<Folder, "path" | "folding">, name: string): boolean;
  /** Whether a glob can match something below a path. */
  mayDenyBelow(names: readonly string[], folding: Folding): boolean;
}

/** The rules for a root at the canonical host path `base`; `folds` as for deny rules. */
export function writeRules(
  { globs, except = compileGlobSet([]), gitUser }: WriteDenial,
  { base, folds }: { readonly base: string; readonly folds: boolean },
): WriteRules {
  const rules = denyRules(globs, folds);
  const above = denyRules(compileGlobSet(foldersOf(globs.patterns)), folds);
  const git = gitUser && new GitPaths(gitUser);
  const isOpen = (names: readonly string[]) =>
    names.some((_, index) => except.matches(names.slice(0, index + 1).join("/")));
  const isNamedByGit = (place: WritePlace, change: ProtectedChange) => {
    if (git === undefined) return false;
    const fold = (path: string) => rules.fold(path, place.folding);
    const inRoot = namesOf(place.path);
    let folder = base;
    for (const name of inRoot) {
      if (isReadByGit(folder, fold(name))) return true;
      folder = join(folder, name);
    }
    const named = protectFiles(base, git.namedFor(join(base, ...inRoot.slice(0, -1))));
    return named.covers(place, change, fold) || named.holds(place.path, fold);
  };
  return {
    refusalOf(place, change) {
      const { names, folding } = place;
      if (!rules.deniesBelow(names, folding) && !isNamedByGit(place, change)) return undefined;
      if (isOpen(names)) return undefined;
      const glob = rules.denyingGlob(names);
      return { program: glob === undefined ? gitUser && "git" : autorunProgramOf(glob) };
    },
    deniesIn: (folder, name) => rules.deniesIn(folder, name) && !isOpen([...namesOf(folder.path), name]),
    mayDenyBelow: (names, folding) => above.denies(names.join("/"), folding) && !isOpen(names),
  };
}

/** Globs of the folders in which a glob can match something, as far as it spells them out. */
const foldersOf = (globs: readonly string[]): string[] =>
  globs.flatMap((glob) => {
    const names = splitOutsideBraces(glob);
    return names.flatMap((name, index) =>
      index === names.length - 1 || /^\*+$/.test(name) ? [] : [names.slice(0, index + 1).join("/")],
    );
  });

/** Splits at each "/" that is in no braces and no class. */
const splitOutsideBraces = (glob: string): string[] =>
  glob.match(/(?:\{[^}]*\}|\[[^\]]*\]|\\.|[^/])+/g) ?? [];
