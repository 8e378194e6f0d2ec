import { isUtf8 } from "node:buffer";
import type { Sequence } from "../../text/globs/parse.ts";
import { parsePattern } from "./pattern.ts";

/** One line of an ignore file. */
export interface Rule {
  readonly pattern: Sequence;
  /** Whether it takes back the effect of earlier lines. */
  readonly isNegated: boolean;
  readonly isOnlyForFolders: boolean;
}

/**
 * Parses the rules in an ignore file (gitignore(5)), as ripgrep reads them: invalid lines have no effect, nor
 * do lines after one that is not UTF-8.
 */
export function parseRules(bytes: Buffer): Rule[] {
  return textOf(bytes)
    .replace(/^\ufeff+/u, "")
    .split(/\r?\n/)
    .map(parseLine)
    .filter((rule) => rule !== undefined);
}

/** Returns the text up to the first line that is not UTF-8. */
function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let end = 0;
  for (;;) {
    const next = bytes.indexOf(0x0a, end) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(end, next))) return bytes.toString("utf8", 0, end);
    end = next;
  }
}

/** Parses a line. Returns `undefined` if it has no effect. */
export function parseLine(line: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  const trimmed = line.endsWith("\\ ") ? line : withoutTrailingSpace(line);
  return trimmed === "" ? undefined : parseTrimmed(trimmed);
}

/** The white space of Unicode, which differs from the set that `trimEnd` removes. */
const whiteSpace = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Trims a line. A regular expression for all of it would take quadratic time. */
function withoutTrailingSpace(line: string): string {
  let end = line.length;
  while (end > 0 && whiteSpace.test(line[end - 1]!)) end--;
  return line.slice(0, end);
}

function parseTrimmed(line: string): Rule | undefined {
  const isEscaped = line.startsWith("\\!") || line.startsWith("\\#");
  const isNegated = line.startsWith("!");
  const glob = isEscaped || isNegated ? line.slice(1) : line;
  const isAnchored = !isEscaped && glob.startsWith("/");
  const isOnlyForFolders = glob.endsWith("/") && !(isAnchored && glob === "/");
  const end = isOnlyForFolders ? (glob.endsWith("\\/") ? -2 : -1) : undefined;
  const pattern = parsePattern(placed(glob.slice(isAnchored ? 1 : 0, end), isAnchored));
  return pattern && { pattern, isNegated, isOnlyForFolders };
}

/** Returns the glob that has to match a whole path. Without a slash it matches names at any depth. */
function placed(glob: string, isAnchored: boolean): string {
  const isForNames = !isAnchored && !glob.includes("/") && glob !== "**";
  const anywhere = isForNames ? `**/${glob}` : glob;
  // This matches everything inside a folder, and not the folder itself.
  return anywhere.endsWith("/**") ? `${anywhere}/*` : anywhere;
}
