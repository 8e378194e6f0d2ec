/**
 * Settings that make git treat denied files under a mask as unchanged if they are tracked, and as ignored
 * otherwise.
 */
import { relative } from "node:path";
import type { Steps } from "../base/scheduling/time-slice.ts";
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
 * those of that one alone. Each step takes one root or one denied path.
 */
export function* patternsInRoot(
  { hostPath }: PatternRoot,
  { globs, denied, roots }: RootPatterns,
): Steps<string[]> {
  const inside = roots.filter(
    (root) => root.hostPath === hostPath || root.hostPath.startsWith(`${hostPath}/`),
  );
  const ofRoots: string[][] = [];
  for (const root of inside.toSorted((one, other) => one.hostPath.length - other.hostPath.length)) {
    const patterns = globPatterns(globs.inRoot(root.name));
    // Whichever folder between the roots is a repository.
    const places = root.hostPath === hostPath ? [] : yield* pathPatterns([root.hostPath], hostPath);
    if (root.hostPath === hostPath) ofRoots.push(patterns);
    for (const at of places)
      ofRoots.push([
        `!${at}/**`,
        ...patterns.map((pattern) => (pattern.startsWith("/") ? at + pattern : `${at}/${pattern}`)),
      ]);
    yield;
  }
  // Beside hundreds of roots there may be thousands of denied paths, nearly all in others.
  const beginning = hostPath.endsWith("/") ? hostPath : `${hostPath}/`;
  const below = denied.filter((path) => path.startsWith(beginning));
  return [...ofRoots.flat(), ...(yield* pathPatterns(below, hostPath))];
}

interface RootPatterns {
  readonly globs: RootGlobs;
  readonly denied: readonly string[];
  readonly roots: readonly PatternRoot[];
}

/** Globs of paths from the top, which begin with the name of a root, or match in each. */
export interface RootGlobs {
  /** Returns them as globs of paths from the root of this name. */
  inRoot(name: string): string[];
}

/** Compiles the first name of each glob once, one in each step, however many roots there are. */
export function* compileRootGlobs(globs: readonly string[]): Steps<RootGlobs> {
  const compiled: { readonly first: PathMatcher | undefined; readonly rest: string }[] = [];
  for (const glob of globs) {
    const slash = glob.indexOf("/");
    if (glob.startsWith("**/")) compiled.push({ first: everyName, rest: glob });
    else if (slash !== -1)
      compiled.push({ first: nameMatcherOf(glob.slice(0, slash)), rest: glob.slice(slash + 1) });
    yield;
  }
  return {
    inRoot: (name) => compiled.filter(({ first }) => first?.matches(name)).map(({ rest }) => rest),
  };
}

type PathMatcher = Pick<ReturnType<typeof compileGlobSet>, "matches">;

const everyName: PathMatcher = { matches: () => true };

/** Compiles a glob of a name. One that ends in the middle of braces matches nothing. */
function nameMatcherOf(glob: string): PathMatcher | undefined {
  try {
    return compileGlobSet([glob]);
  } catch {
    return undefined;
  }
}

const escapeGlob = (path: string): string => path.replaceAll(/[*?[\\]/g, "\\$&");

/**
 * Returns patterns (gitignore(5)) of denied paths below a folder, whichever folder above them is a
 * repository. Each step takes one path.
 */
export function* pathPatterns(denied: readonly string[], folder: string): Steps<string[]> {
  const patterns = new Set<string>();
  for (const path of denied) {
    const inside = relative(folder, path);
    if (inside !== "" && !inside.startsWith("..")) {
      const names = inside.split("/");
      for (const index of names.keys()) patterns.add(escapeGlob(`/${names.slice(index).join("/")}`));
    }
    yield;
  }
  return [...patterns];
}

/**
 * Returns the patterns of paths that globs cover, even if they are created later. Globs with braces, which
 * git lacks, are left out.
 */
export const globPatterns = (globs: readonly string[]): string[] =>
  globs.filter((glob) => !/[{}\n]/.test(glob)).map((glob) => (glob.startsWith("**/") ? glob : `/${glob}`));

/** Renders a file of attributes (gitattributes(5)) that assigns the filter, or takes it back after "!". */
export const renderAttributes = (patterns: readonly string[]): Steps<string> =>
  joinLines(patterns, (pattern) => {
    const quoted = pattern.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
    return quoted.startsWith("!") ? `"${quoted.slice(1)}" !filter\n` : `"${quoted}" filter=${filter}\n`;
  });

/** Renders a file of patterns to ignore. Names with line feeds have no form there, and are left out. */
export const renderExcludes = (patterns: readonly string[]): Steps<string> =>
  joinLines(patterns, (pattern) => (pattern.includes("\n") ? "" : `${pattern.replace(/ $/, "\\ ")}\n`));

function* joinLines(patterns: readonly string[], render: (pattern: string) => string): Steps<string> {
  let text = "";
  for (const pattern of patterns) {
    text += render(pattern);
    yield;
  }
  return text;
}
