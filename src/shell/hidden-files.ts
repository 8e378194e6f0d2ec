/**
 * Settings that make git treat denied files under a mask as unchanged if they are tracked, and as ignored
 * otherwise.
 */
import { relative } from "node:path";
import type { GitSetting } from "./command-environment.ts";

/** The name of the filter that git runs instead of reading a mask as content. */
const filter = "hidden-file";

/** The paths of two files with the same patterns, rendered by `renderAttributes` and `renderExcludes`. */
export interface PatternFiles {
  readonly attributes: string;
  readonly excludes: string;
}

export const hiddenFileSettings = ({ attributes, excludes }: PatternFiles): GitSetting[] => [
  // A mask differs from its file in inode and time of status change.
  ["core.checkStat", "minimal"],
  ["core.attributesFile", attributes],
  ["core.excludesFile", excludes],
  // Git reads a file whose time equals that of its index, as in a fresh clone. The filter then returns the
  // recorded content, and fails for an untracked file, so that git never records blank lines. While a reset
  // or a merge writes a new index, the file is only in HEAD.
  [`filter.${filter}.clean`, "git cat-file blob :0:%f 2>/dev/null || git cat-file blob HEAD:%f"],
  [`filter.${filter}.smudge`, "cat"],
  [`filter.${filter}.required`, "true"],
];

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
  return [...new Set(patterns)].map((pattern) => pattern.replaceAll(/[*?[\\]/g, "\\$&"));
}

/**
 * Returns the patterns of paths that globs cover, even if they are created later. Globs with braces, which
 * git lacks, are left out.
 */
export const globPatterns = (globs: readonly string[]): string[] =>
  globs.filter((glob) => !/[{}\n]/.test(glob)).map((glob) => (glob.startsWith("**/") ? glob : `/${glob}`));

/** Renders a file of attributes (gitattributes(5)) that assigns the filter. */
export const renderAttributes = (patterns: readonly string[]): string =>
  patterns
    .map((pattern) => pattern.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n"))
    .map((pattern) => `"${pattern}" filter=${filter}\n`)
    .join("");

/** Renders a file of patterns to ignore. Names with line feeds have no form there, and are left out. */
export const renderExcludes = (patterns: readonly string[]): string =>
  patterns
    .filter((pattern) => !pattern.includes("\n"))
    .map((pattern) => `${pattern.replace(/ $/, "\\ ")}\n`)
    .join("");
