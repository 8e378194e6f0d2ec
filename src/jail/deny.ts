import { compileGlobSet, type GlobSet } from "../globs/glob-set.ts";
import { pathIn } from "./backend.ts";
import { isTemporary, isTemporaryIn } from "./temporary.ts";

/** Which paths are denied, in every spelling that reaches the same file. */
export interface DenyRules {
  /** True when `path` itself is denied, by a glob or as a temporary file; folders above it are not asked. */
  denies(path: string): boolean;
  /** The same for `name` in the folder at `path`. */
  deniesIn(path: string, name: string): boolean;
  /** The same for the name in `bytes[from, to)`. */
  deniesBytesIn(path: string, bytes: Buffer, from: number, to: number): boolean;
  /** True when the path of these names, or a folder above it, is denied. */
  deniesAny(names: readonly string[]): boolean;
  isTemporary(name: string): boolean;
  /** One spelling for all that the file system takes for the same. */
  fold(path: string): string;
}

/**
 * The rules for a file system that tells all names apart, or, when it is `blind`, for one that does not tell case or
 * Unicode forms apart (specification, section 5). Throws a `GlobError` for a glob that has no folded form.
 */
export function denyRules(globs: GlobSet, blind: boolean): DenyRules {
  if (blind) return blindRules(globs);
  const rules = rulesBy({
    matches: (path) => globs.matches(path),
    matchesIn: (path, name) => globs.matchesIn(path, name),
    foldPath: (path) => path,
  });
  return {
    ...rules,
    deniesBytesIn: (path, bytes, from, to) =>
      isTemporaryIn(bytes, from, to) || globs.matchesBytesIn(path, bytes, from, to),
  };
}

function blindRules(globs: GlobSet): DenyRules {
  const folded = compileGlobSet(globs.patterns.map(fold));
  const matches = (path: string) => globs.matches(path) || folded.matches(fold(path));
  return rulesBy({ matches, matchesIn: (path, name) => matches(pathIn(path, name)), foldPath: fold });
}

interface Matching {
  matches(path: string): boolean;
  matchesIn(path: string, name: string): boolean;
  foldPath(path: string): string;
}

function rulesBy({ matches, matchesIn, foldPath }: Matching): DenyRules {
  const isTemporaryName = (name: string) => isTemporary(foldPath(name));
  const denies = (path: string) => isTemporaryName(path.slice(path.lastIndexOf("/") + 1)) || matches(path);
  const deniesIn = (path: string, name: string) => isTemporaryName(name) || matchesIn(path, name);
  return {
    denies,
    deniesIn,
    deniesBytesIn: (path, bytes, from, to) => deniesIn(path, bytes.toString("utf8", from, to)),
    deniesAny(names) {
      let path = "";
      return names.some((name) => {
        path = pathIn(path, name);
        return denies(path);
      });
    },
    isTemporary: isTemporaryName,
    fold: foldPath,
  };
}

/** The code points that HFS+ leaves out when it compares names. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Upper case first: it brings together letters that have one lower case form each, such as the long s and s. Where
 * this folds more than the file system does, more is denied.
 */
function fold(text: string): string {
  return text.replace(ignorable, "").normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}
