import { compileGlobSet, type GlobSet, maxSetUnits } from "../../text/globs/glob-set.ts";
import { pathIn } from "./backend.ts";
import { fold, foldGlob } from "./fold-path.ts";
import type { Folder } from "./folder.ts";
import type { Folding } from "./name-comparison.ts";
import { isStateFolderName, isStateFolderNameIn } from "./state-name.ts";
import { isTemporary, isTemporaryIn } from "./temporary.ts";

/** The part of a folder that the rules use. */
export type RuledFolder = Pick<Folder, "path" | "folding">;

/** Decides which paths are denied, in every spelling that reaches the same file. */
export interface DenyRules {
  /**
   * Returns whether `path` itself is denied, by a glob, as a temporary file or as a state folder, regardless
   * of the folders above it. `folding` is that of its folder.
   */
  denies(path: string, folding: Folding): boolean;
  /** Like `denies`, for `name` in a folder. */
  deniesIn(folder: RuledFolder, name: string): boolean;
  /** Like `deniesIn`, for the name in `bytes[from, to)`. */
  deniesBytesIn(folder: RuledFolder, bytes: Buffer, from: number, to: number): boolean;
  /**
   * Returns whether the path of these names, or a folder above it, is denied, with names compared as in the
   * base.
   */
  deniesAny(names: readonly string[]): boolean;
  /** Like `deniesAny`, with names compared according to `folding`. */
  deniesBelow(names: readonly string[], folding: Folding): boolean;
  /**
   * Returns the first glob that denies the path of these names, or a folder above it, with names compared as
   * in the base.
   */
  denyingGlob(names: readonly string[]): string | undefined;
  isTemporary(name: string): boolean;
  /** Returns one spelling for all that the file system treats as the same name. */
  fold(path: string, folding: Folding): string;
}

/**
 * Returns the rules for a base that distinguishes all names, or, if it `folds`, for one in which case and
 * Unicode forms do not count (coder §5). In a folder that folds, the folded globs apply besides the exact
 * ones.
 */
export function denyRules(globs: GlobSet, folds: boolean): DenyRules {
  const isFolded = (folding: Folding) => folds || folding !== "exact";
  // Few bases have a folder that folds.
  let folded: GlobSet | undefined;
  const foldedGlobs = () => {
    // Folding may make a glob longer.
    folded ??= compileGlobSet(globs.patterns.map(foldGlob), 4 * maxSetUnits.ofOperator);
    return folded;
  };
  const matchesFolded = (path: string) => foldedGlobs().matches(fold(path));
  const isTemporaryName = (name: string, folding: Folding = "exact") =>
    isTemporary(isFolded(folding) ? fold(name) : name);
  const isReserved = (name: string, folding: Folding) =>
    isTemporaryName(name, folding) || isStateFolderName(isFolded(folding) ? fold(name) : name);
  const deniesIn = ({ path, folding }: RuledFolder, name: string) =>
    isReserved(name, folding) ||
    globs.matchesIn(path, name) ||
    (isFolded(folding) && matchesFolded(pathIn(path, name)));
  const denies = (path: string, folding: Folding) => {
    const slash = path.lastIndexOf("/");
    return deniesIn({ path: path.slice(0, Math.max(slash, 0)), folding }, path.slice(slash + 1));
  };
  const deniesBelow = (names: readonly string[], folding: Folding) =>
    names.some((name) => isReserved(name, folding)) ||
    globs.matchesOnWay(names) ||
    (isFolded(folding) && foldedGlobs().matchesOnWay(names.map(fold)));
  return {
    denies,
    deniesIn,
    deniesBytesIn(folder, bytes, from, to) {
      if (isFolded(folder.folding)) return deniesIn(folder, bytes.toString("utf8", from, to));
      return (
        isTemporaryIn(bytes, from, to) ||
        isStateFolderNameIn(bytes, from, to) ||
        globs.matchesBytesIn(folder.path, bytes, from, to)
      );
    },
    deniesAny: (names) => deniesBelow(names, "exact"),
    deniesBelow,
    denyingGlob(names) {
      let path = "";
      for (const name of names) {
        path = pathIn(path, name);
        if (globs.matches(path)) return globs.patterns.find((glob) => compileGlobSet([glob]).matches(path));
        if (!folds || !matchesFolded(path)) continue;
        const folded = fold(path);
        return globs.patterns.find((glob) =>
          compileGlobSet([foldGlob(glob)], 4 * maxSetUnits.ofOperator).matches(folded),
        );
      }
      return undefined;
    },
    isTemporary: isTemporaryName,
    fold: (path, folding) => (isFolded(folding) ? fold(path) : path),
  };
}
