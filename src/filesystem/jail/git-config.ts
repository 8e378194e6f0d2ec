/**
 * Reads the paths that git runs, or reads as configuration, out of its configuration files (git-config(1)).
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** A variable, `section.subsection.key`. Only the subsection keeps its capitals. */
export interface GitVariable {
  readonly name: string;
  readonly value: string;
}

/** Variables whose value is the path of a file or folder. */
const pathVariables = /^(?:core\.hookspath|core\.attributesfile|init\.templatedir)$/;
/** Variables whose value is the path of a configuration file, relative to the file that names it. */
const includeVariables = /^(?:include|includeif\..+)\.path$/s;
/** Variables whose value is a command, or the path of a program. */
const commandVariables =
  /^(?:alias\..+|browser\..+\.(?:cmd|path)|core\.(?:askpass|editor|fsmonitor|gitproxy|pager|sshcommand|alternaterefscommand)|credential\.(?:.+\.)?helper|diff\.(?:external|.+\.(?:command|textconv))|filter\..+\.(?:clean|smudge|process)|gpg\.(?:.+\.)?(?:program|defaultkeycommand)|guitool\..+\.cmd|hook\..+\.command|interactive\.difffilter|man\..+\.(?:cmd|path)|merge\..+\.driver|(?:merge|diff)tool\..+\.(?:cmd|path)|pager\..+|remote\..+\.(?:uploadpack|receivepack)|sendemail\..+|sequence\.editor|submodule\..+\.update|trailer\..+\.(?:command|cmd)|uploadpack\.packobjectshook)$/s;

/** Returns whether the value of the variable with this name is used by `pathsIn`. */
export const mayNamePath = (name: string): boolean =>
  includeVariables.test(name) || pathVariables.test(name) || commandVariables.test(name);

/** The folders that paths in a configuration file are relative to. */
export interface GitFolders {
  /** The host path of the folder that relative paths start at: the top of the working tree. */
  readonly top: string;
  /** The home folder of the user. */
  readonly home: string | undefined;
}

/** Maximum size, in bytes, of a file that is read. */
export const maxConfigBytes = 1024 * 1024;
/** Maximum number of configuration files of a repository, with those that they include. */
const maxFiles = 64;

/**
 * Returns the host paths that configuration files make git run, or read as configuration: those of included
 * files too.
 */
export function pathsIn(
  files: readonly string[],
  place: GitFolders,
  variablesOf: (file: string) => Iterable<GitVariable>,
): string[] {
  const paths: string[] = [];
  // Iteration over a Set includes elements added during it, so the set is its own work list.
  const read = new Set(files);
  for (const file of read) {
    if (read.size > maxFiles) break;
    for (const { name, value } of variablesOf(file)) {
      if (includeVariables.test(name)) {
        const included = pathOf(value, { ...place, top: dirname(file) });
        read.add(included);
        paths.push(included);
      } else if (pathVariables.test(name)) paths.push(pathOf(value, place));
      else if (commandVariables.test(name)) paths.push(...programsIn(value, place));
    }
  }
  return paths;
}

function pathOf(value: string, { top, home }: GitFolders): string {
  const expanded = home === undefined ? value : value.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home);
  return isAbsolute(expanded) ? expanded : join(top, expanded);
}

/**
 * Returns the paths of files in a command. A name without "/" is looked up in PATH, and a folder is not run.
 */
const programsIn = (command: string, place: GitFolders): string[] =>
  (command.replace(/^!/, "").match(/[^\s"';|&<>()=]+/g) ?? [])
    .filter((word) => word.includes("/"))
    .map((word) => pathOf(word, place))
    .filter((path) => !isFolder(path));

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

/** Returns the variables of a configuration file. Lines that git would not accept are skipped. */
export function* variablesIn(text: string): Generator<GitVariable> {
  let section = "";
  const lines = text.split(/\r?\n/)[Symbol.iterator]();
  for (const line of lines) {
    const header = /^\s*\[\s*([-.\w]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      const [, outer = "", inner] = header;
      const name = outer.toLowerCase();
      section = inner === undefined ? name : `${name}.${inner.replace(/\\(.)/g, "$1")}`;
    }
    const rest = header === null ? line : line.slice(header[0].length);
    const assignment = /^\s*([A-Za-z][-A-Za-z0-9]*)\s*=\s*(.*)$/.exec(rest);
    if (assignment === null) continue;
    const [, key = "", begin = ""] = assignment;
    yield { name: `${section}.${key.toLowerCase()}`, value: readValue(begin, lines) };
  }
}

/**
 * Returns a value without its quotes, escapes, comment and trailing blanks. A backslash at the end of a line
 * continues it, except in a comment, with one of `further`.
 */
function readValue(begin: string, further: Iterator<string>): string {
  if (!/["\\#;]/.test(begin)) return begin.trimEnd();
  let value = "";
  let isQuoted = false;
  // Trailing blanks are dropped, but not those in quotes.
  let kept = 0;
  for (let line: string | undefined = begin; line !== undefined; ) {
    let next: string | undefined;
    for (const [part] of line.matchAll(/\\.?|["#;]|[^\\"#;]+/gsu)) {
      const before = value.length;
      if (part === '"') isQuoted = !isQuoted;
      else if (!isQuoted && (part === "#" || part === ";")) break;
      else if (part === "\\") next = further.next().value;
      else if (part.startsWith("\\")) value += escapes[part[1]!] ?? part[1]!;
      else value += part;
      const trimmed = part.trimEnd();
      if (isQuoted || trimmed === part) kept = value.length;
      else if (trimmed !== "" && !part.startsWith("\\")) kept = before + trimmed.length;
    }
    line = next;
  }
  return value.slice(0, kept);
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Returns the text of a regular file, if it is not large. Never waits for a FIFO or a device. */
export function readSmall(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maxConfigBytes) return undefined;
    const bytes = Buffer.alloc(stats.size);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
