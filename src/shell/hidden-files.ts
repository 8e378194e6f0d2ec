/**
 * Settings that make git treat denied files under a mask as unchanged if they are tracked, and as ignored
 * otherwise.
 */
import { relative } from "node:path";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import type { GitSetting } from "./command-environment.ts";

/** The name of the filter that git runs instead of reading a mask as content. */
const filter = "hidden-file";

/** The paths of two files with the same patterns, rendered by `renderAttributes` and `renderExcludes`. */
export interface PatternFiles {
  readonly attributes: string;
  readonly excludes: string;
}

export const hiddenFileSettings = (files: PatternFiles): GitSetting[] => [
  ...Object.entries(settingsOf(files)),
  ...filterSettings,
];

const settingsOf = ({ attributes, excludes }: PatternFiles) => ({
  "core.attributesFile": attributes,
  "core.excludesFile": excludes,
});

/** The settings that do not depend on the files. */
export const filterSettings: readonly GitSetting[] = [
  // A mask differs from its file in inode and time of status change.
  ["core.checkStat", "minimal"],
  // Git reads a file whose time equals that of its index, as in a fresh clone. The filter then returns the
  // recorded content, and fails for an untracked file, so that git never records blank lines. While a reset
  // or a merge writes a new index, the file is only in HEAD.
  [`filter.${filter}.clean`, "git cat-file blob :0:%f 2>/dev/null || git cat-file blob HEAD:%f"],
  [`filter.${filter}.smudge`, "cat"],
  [`filter.${filter}.required`, "true"],
];

/** Renders a configuration of git with these files. */
export const renderFileSettings = ({ attributes, excludes }: PatternFiles): string => {
  const quote = (path: string) => `"${path.replaceAll(/["\\]/g, "\\$&")}"`;
  return `[core]\n\tattributesFile = ${quote(attributes)}\n\texcludesFile = ${quote(excludes)}\n`;
};

/** Makes git read a configuration in repositories below a folder. The last one that it reads counts. */
export const includeBelow = (folder: string, file: string): GitSetting => [
  `includeIf.gitdir:${escapeGlob(folder)}/.path`,
  file,
];

/** A root, by its name in globs and its path on the host. */
export interface PatternRoot {
  readonly name: string;
  readonly hostPath: string;
}

/**
 * Returns the patterns for repositories in one of several roots: those of its rules, and for each root in it
 * those of that one alone. `globs` begin with the name of a root, or match in each.
 */
export function patternsInRoot({ hostPath }: PatternRoot, { globs, denied, roots }: RootPatterns): string[] {
  const inside = roots.filter(
    (root) => root.hostPath === hostPath || root.hostPath.startsWith(`${hostPath}/`),
  );
  const ofRoots = inside
    .toSorted((one, other) => one.hostPath.length - other.hostPath.length)
    .flatMap((root) => {
      const patterns = globPatterns(globsInRoot(globs, root.name));
      if (root.hostPath === hostPath) return patterns;
      // Whichever folder between the roots is a repository.
      return pathPatterns([root.hostPath], hostPath).flatMap((at) => [
        `!${at}/**`,
        ...patterns.map((pattern) => (pattern.startsWith("/") ? at + pattern : `${at}/${pattern}`)),
      ]);
    });
  // Beside hundreds of roots there may be thousands of denied paths, nearly all in others.
  const beginning = hostPath.endsWith("/") ? hostPath : `${hostPath}/`;
  const below = denied.filter((path) => path.startsWith(beginning));
  return [...ofRoots, ...pathPatterns(below, hostPath)];
}

interface RootPatterns {
  readonly globs: readonly string[];
  readonly denied: readonly string[];
  readonly roots: readonly PatternRoot[];
}

/** Returns globs of paths from the top as globs of paths from a root. */
const globsInRoot = (globs: readonly string[], name: string): string[] =>
  globs.flatMap((glob) => {
    if (glob.startsWith("**/")) return glob;
    const slash = glob.indexOf("/");
    return slash !== -1 && isNameMatched(glob.slice(0, slash), name) ? glob.slice(slash + 1) : [];
  });

/** Returns whether a glob matches a name. One that ends in the middle of braces does not. */
function isNameMatched(glob: string, name: string): boolean {
  try {
    return compileGlobSet([glob]).matches(name);
  } catch {
    return false;
  }
}

const escapeGlob = (path: string): string => path.replaceAll(/[*?[\\]/g, "\\$&");

/**
 * Returns patterns (gitignore(5)) of denied paths below a folder, whichever folder above them is a
 * repository.
 */
export function pathPatterns(denied: readonly string[], folder: string): string[] {
  const patterns = denied
    .map((path) => relative(folder, path))
    .filter((path) => path !== "" && !path.startsWith(".."))
    .flatMap((path) => {
      const names = path.split("/");
      return names.map((_, index) => `/${names.slice(index).join("/")}`);
    });
  return [...new Set(patterns)].map(escapeGlob);
}

/**
 * Returns the patterns of paths that globs cover, even if they are created later. Globs with braces, which
 * git lacks, are left out.
 */
export const globPatterns = (globs: readonly string[]): string[] =>
  globs.filter((glob) => !/[{}\n]/.test(glob)).map((glob) => (glob.startsWith("**/") ? glob : `/${glob}`));

/** Renders a file of attributes (gitattributes(5)) that assigns the filter, or takes it back after "!". */
export const renderAttributes = (patterns: readonly string[]): string =>
  patterns
    .map((pattern) => pattern.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n"))
    .map((pattern) =>
      pattern.startsWith("!") ? `"${pattern.slice(1)}" !filter\n` : `"${pattern}" filter=${filter}\n`,
    )
    .join("");

/** Renders a file of patterns to ignore. Names with line feeds have no form there, and are left out. */
export const renderExcludes = (patterns: readonly string[]): string =>
  patterns
    .filter((pattern) => !pattern.includes("\n"))
    .map((pattern) => `${pattern.replace(/ $/, "\\ ")}\n`)
    .join("");
