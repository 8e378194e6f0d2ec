import { isUtf8 } from "node:buffer";
import type { Sequence } from "../globs/parse.ts";
import { parsePattern } from "./pattern.ts";

/** One line of an ignore file. */
export interface Rule {
  readonly pattern: Sequence;
  /** It takes back what lines before it ignore. */
  readonly isNegated: boolean;
  readonly isOnlyForFolders: boolean;
}

/**
 * The rules in an ignore file (gitignore(5)), as ripgrep reads them: lines that make no sense have no effect, and what
 * comes behind a line that is not UTF-8 has none either.
 */
export function parseRules(bytes: Buffer): Rule[] {
  return textOf(bytes)
    .replace(/^\ufeff+/u, "")
    .split(/\r?\n/)
    .map(parseLine)
    .filter((rule) => rule !== undefined);
}

/** The text up to the first line that is not UTF-8. */
function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let end = 0;
  for (;;) {
    const next = bytes.indexOf(0x0a, end) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(end, next))) return bytes.toString("utf8", 0, end);
    end = next;
  }
}

/** The rule in a line; `undefined` for a line that has no effect. */
export function parseLine(line: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  const trimmed = line.endsWith("\\ ") ? line : withoutTrailingSpace(line);
  return trimmed === "" ? undefined : parseTrimmed(trimmed);
}

/** What Unicode calls white space; `trimEnd` goes by another list. */
const whiteSpace = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** A regular expression for all of it would take quadratic time. */
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

/** The glob that has to match a whole path: without a slash it is for names at any depth. */
function placed(glob: string, isAnchored: boolean): string {
  const isForNames = !isAnchored && !glob.includes("/") && glob !== "**";
  const anywhere = isForNames ? `**/${glob}` : glob;
  // What is inside a folder, and not the folder itself.
  return anywhere.endsWith("/**") ? `${anywhere}/*` : anywhere;
}
