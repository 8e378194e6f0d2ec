/**
 * Git settings for denied files that a mask hides: they are unchanged by size and time, and must never be
 * recorded.
 */
import { relative } from "node:path";
import type { GitSetting } from "./command-environment.ts";

/** The name of the filter that refuses to take the content of a mask. */
const filter = "hidden-file";

/** Returns the settings. `attributes` is the path of a file with `hiddenAttributes`. */
export const hiddenFileSettings = (attributes: string): GitSetting[] => [
  // A mask has another inode, and the time of its own change.
  ["core.checkStat", "minimal"],
  ["core.attributesFile", attributes],
  [`filter.${filter}.clean`, "false"],
  [`filter.${filter}.smudge`, "cat"],
  [`filter.${filter}.required`, "true"],
];

/**
 * Returns the attributes (gitattributes(5)) of denied paths below a folder, whichever folder above them is a
 * repository.
 */
export function hiddenAttributes(denied: readonly string[], folder: string): string {
  const patterns = denied
    .map((path) => relative(folder, path))
    .filter((path) => path !== "" && !path.startsWith(".."))
    .flatMap((path) => {
      const names = path.split("/");
      return names.map((_, index) => `/${names.slice(index).join("/")}`);
    });
  return [...new Set(patterns)].map((pattern) => `${quote(pattern)} filter=${filter}\n`).join("");
}

/**
 * Returns the attributes of paths that globs cover, even if they are created later. Globs with braces, which
 * git lacks, are left out.
 */
export const globAttributes = (globs: readonly string[]): string =>
  globs
    .filter((glob) => !/[{}\n]/.test(glob))
    .map((glob) => (glob.startsWith("**/") ? glob : `/${glob}`))
    .map((pattern) => `"${pattern.replaceAll(/["\\]/g, "\\$&")}" filter=${filter}\n`)
    .join("");

/**
 * Returns a pattern that matches its own text: special characters are escaped as in a glob, and then as in a
 * quoted text.
 */
const quote = (pattern: string): string =>
  `"${pattern
    .replaceAll(/[*?[\\]/g, "\\$&")
    .replaceAll(/["\\]/g, "\\$&")
    .replaceAll("\n", "\\n")}"`;
