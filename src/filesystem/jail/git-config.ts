/**
 * Reads the paths that git runs, or reads as configuration, out of its configuration files (git-config(1)).
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * The meaning of a value: the path of a configuration file, relative to the file that names it; that of
 * another file or folder; or the path of a program, or a command.
 */
type Meaning = "include" | "path" | "command";

/** The variables that name paths, without their subsections; `*` is any key. */
const variables: Readonly<Record<Meaning, readonly string[]>> = {
  include: ["include.path", "includeif.path"],
  path: ["core.hookspath", "core.attributesfile", "init.templatedir"],
  command: [
    ...["alias.*", "browser.cmd", "browser.path", "core.askpass", "core.editor", "core.fsmonitor"],
    ...["core.gitproxy", "core.pager", "core.sshcommand", "core.alternaterefscommand", "credential.helper"],
    ...["diff.external", "diff.command", "diff.textconv", "difftool.cmd", "difftool.path", "filter.clean"],
    ...["filter.smudge", "filter.process", "gpg.program", "gpg.defaultkeycommand", "guitool.cmd"],
    ...["hook.command", "interactive.difffilter", "man.cmd", "man.path", "merge.driver", "mergetool.cmd"],
    ...["mergetool.path", "pager.*", "remote.uploadpack", "remote.receivepack", "sendemail.*"],
    ...["sequence.editor", "submodule.update", "trailer.command", "trailer.cmd"],
    ...["uploadpack.packobjectshook"],
  ],
};

/** The meanings of the variables of a section, by the hashes of their keys. */
type Section = ReadonlyMap<number, Meaning>;

/**
 * Returns the sections that have such variables, by the hashes of their names. A file may have hundreds of
 * thousands of variables, and a string for each would take a tenth of a second. A name with the hash of
 * another protects one more file.
 */
function sectionsByHash(): ReadonlyMap<number, Section> {
  const sections = new Map<number, Map<number, Meaning>>();
  for (const [meaning, names] of Object.entries(variables) as [Meaning, readonly string[]][])
    for (const name of names) {
      const [section, key] = name.split(".").map(hashOf) as [number, number];
      sections.set(section, (sections.get(section) ?? new Map()).set(key, meaning));
    }
  return sections;
}

/** Adds a byte of a name to the hash, regardless of case. */
const addToHash = (hash: number, byte: number): number => (Math.imul(hash, 31) + (byte | 0x20)) | 0;

const hashOf = (name: string): number => Buffer.from(name).reduce(addToHash, 0);

const anyKey = hashOf("*");

/** A path, or a name of it that is relative, in a configuration file. */
export interface GitName {
  readonly meaning: Meaning;
  readonly path: string;
}

/** The folders that paths in a configuration file are relative to. */
export interface GitFolders {
  /** The host path of the folder that relative paths start at: the top of the working tree. */
  readonly top: string;
  /** The home folder of the user. */
  readonly home: string | undefined;
}

/** Maximum size, in bytes, of a file that is read. */
export const maxConfigBytes = 1024 * 1024;

/** Returns the host path that a name in the configuration file `file` stands for. */
export function hostPathOf({ meaning, path }: GitName, file: string, { top, home }: GitFolders): string {
  const expanded = home === undefined ? path : path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home);
  return isAbsolute(expanded) ? expanded : join(meaning === "include" ? dirname(file) : top, expanded);
}

/**
 * Returns the names of paths in a configuration file, up to a number. Lines that git would not accept are
 * skipped.
 */
export const namesIn = (bytes: Buffer, maxNames: number): GitName[] => new Scanner(bytes).names(maxNames);

const codes = {
  tab: 0x09,
  feed: 0x0a,
  return: 0x0d,
  blank: 0x20,
  quote: 0x22,
  hash: 0x23,
  dot: 0x2e,
  slash: 0x2f,
  semicolon: 0x3b,
  equals: 0x3d,
  opening: 0x5b,
  backslash: 0x5c,
  closing: 0x5d,
} as const;

const isBlank = (byte: number): boolean =>
  byte === codes.blank || byte === codes.tab || byte === codes.feed || byte === codes.return;

/** Returns whether a byte may be in the name of a section or a key. */
const isOfName = (byte: number): boolean =>
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x2d && byte <= 0x39 && byte !== codes.slash) ||
  byte === 0x5f;

/** Reads a file byte by byte, and makes strings only of values that name paths. */
class Scanner {
  readonly #sections = sectionsByHash();
  readonly #bytes: Buffer;
  #at = 0;
  /** The last value, without its quotes, escapes, comment and trailing blanks. */
  readonly #value: Buffer;
  #length = 0;
  #hasSlash = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#value = Buffer.allocUnsafe(bytes.length);
  }

  names(maxNames: number): GitName[] {
    const names: GitName[] = [];
    if (this.#bytes.subarray(0, 3).equals(byteOrderMark)) this.#at = 3;
    let section: Section | undefined;
    while (this.#at < this.#bytes.length) {
      const first = this.#bytes[this.#at]!;
      if (isBlank(first)) this.#at++;
      else if (first === codes.opening) {
        const header = this.#readHeader();
        if (header !== undefined) section = this.#sections.get(header);
      } else if (isOfName(first)) {
        const key = this.#readName();
        this.#skipBlanks();
        if (this.#bytes[this.#at] !== codes.equals) {
          this.#skipLine();
          continue;
        }
        this.#at++;
        this.#readValue();
        const meaning = section?.get(key) ?? section?.get(anyKey);
        // A program without "/" is looked up in PATH.
        if (meaning === undefined || (meaning === "command" && !this.#hasSlash)) continue;
        for (const path of this.#pathsAs(meaning))
          if (names.push({ meaning, path }) === maxNames) return names;
      } else this.#skipLine();
    }
    return names;
  }

  /** Returns the hash of the name of a section, or `undefined` if the line is not a header. */
  #readHeader(): number | undefined {
    this.#at++;
    this.#skipBlanks();
    const name = this.#readName();
    this.#skipBlanks();
    if (this.#bytes[this.#at] === codes.quote) {
      this.#at++;
      for (let byte = this.#bytes[this.#at]; byte !== codes.quote; byte = this.#bytes[this.#at]) {
        if (byte === undefined || byte === codes.feed) return undefined;
        this.#at += byte === codes.backslash ? 2 : 1;
      }
      this.#at++;
      this.#skipBlanks();
    }
    if (this.#bytes[this.#at] === codes.closing) {
      this.#at++;
      return name;
    }
    this.#skipLine();
    return undefined;
  }

  /** Returns the hash of a name up to the first dot. */
  #readName(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let name = 0;
    let isInner = false;
    for (let byte = bytes[at]; byte !== undefined && isOfName(byte); byte = bytes[++at]) {
      isInner ||= byte === codes.dot;
      if (!isInner) name = addToHash(name, byte);
    }
    this.#at = at;
    return name;
  }

  /** Reads a value. A backslash at the end of a line continues it, except in a comment. */
  #readValue(): void {
    const bytes = this.#bytes;
    const value = this.#value;
    let at = this.#at;
    let length = 0;
    let kept = 0;
    let isQuoted = false;
    let hasSlash = false;
    for (; at < bytes.length; at++) {
      let byte = bytes[at]!;
      if (byte === codes.feed) break;
      if (!isQuoted && isBlank(byte)) {
        // These do not count if the value ends with them.
        if (length > 0) value[length++] = byte;
        continue;
      }
      if (!isQuoted && (byte === codes.hash || byte === codes.semicolon)) {
        while (at < bytes.length && bytes[at] !== codes.feed) at++;
        break;
      }
      if (byte === codes.quote) isQuoted = !isQuoted;
      else {
        const isEscaped = byte === codes.backslash;
        if (isEscaped) {
          at++;
          if (bytes[at] === codes.return && bytes[at + 1] === codes.feed) at++;
          byte = bytes[at] ?? codes.feed;
        }
        if (isEscaped && byte === codes.feed) {
          kept = length;
          continue;
        }
        hasSlash ||= byte === codes.slash;
        value[length++] = isEscaped ? (escapes.get(byte) ?? byte) : byte;
      }
      kept = length;
    }
    this.#at = at;
    this.#length = kept;
    this.#hasSlash = hasSlash;
  }

  /** Returns the paths in the last value. */
  #pathsAs(meaning: Meaning): Iterable<string> {
    const value = this.#value.toString("utf8", 0, this.#length);
    return meaning === "command" ? wordsWithSlash(value.replace(/^!/, "")) : [value];
  }

  #skipBlanks(): void {
    while (this.#bytes[this.#at] === codes.blank || this.#bytes[this.#at] === codes.tab) this.#at++;
  }

  #skipLine(): void {
    const feed = this.#bytes.indexOf(codes.feed, this.#at);
    this.#at = feed < 0 ? this.#bytes.length : feed + 1;
  }
}

const byteOrderMark = Buffer.from("\ufeff");

/** The bytes that letters stand for after a backslash. */
const escapes: ReadonlyMap<number, number> = new Map(
  ["n\n", "t\t", "b\b"].map((pair) => [...Buffer.from(pair)] as [number, number]),
);

const separators: ReadonlySet<string> = new Set(" \t\n\r\v\f\"';|&<>()=");

/** Yields the words of a command that contain a "/". */
function* wordsWithSlash(command: string): Generator<string> {
  for (let from = 0, end = 0; ; from = end) {
    const slash = command.indexOf("/", from);
    if (slash < 0) return;
    let start = slash;
    while (start > from && !separators.has(command[start - 1]!)) start--;
    for (end = slash; end < command.length && !separators.has(command[end]!); ) end++;
    yield command.slice(start, end);
  }
}

/**
 * Returns the first bytes of a regular file, or `undefined` if it is not one or cannot be read. Never waits
 * for a FIFO or a device.
 */
export function readStart(file: string, maxBytes: number): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(stats.size, maxBytes));
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
