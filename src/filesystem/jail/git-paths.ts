/**
 * Finds the files that git reads and runs besides its own folders: those that the configuration of a
 * repository, or of its user, names.
 */
import { lstatSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type GitFolders,
  type GitName,
  hostPathOf,
  maxConfigBytes,
  namesIn,
  readStart,
} from "./git-config.ts";

export interface GitUser {
  /** The home folder of the user. */
  readonly home: string | undefined;
  /** Host paths of the configuration files that git reads for every repository. */
  readonly configFiles: readonly string[];
}

/** The entries of a folder, besides `HEAD` itself, that make git take it for a repository. */
const repositoryNames: ReadonlySet<string> = new Set([
  "commondir",
  "config",
  "config.worktree",
  "gitdir",
  "hooks",
  "index",
  "info",
  "modules",
  "objects",
  "packed-refs",
  "refs",
  "worktrees",
]);

export class GitPaths {
  readonly #user: GitUser;
  /** The names in configuration files, with the stamps of those files. */
  readonly #known = new Map<string, { readonly stamps: string; readonly names: readonly GitName[] }>();

  constructor(user: GitUser) {
    this.#user = user;
  }

  /**
   * Returns the host paths that git reads or runs for a change below the host path `folder`, which has no
   * links.
   */
  namedFor(folder: string): string[] {
    const paths: string[] = [];
    const named = new NamedPaths((file, stamps) => this.#namesIn(file, stamps));
    for (let top = folder; ; top = dirname(top)) {
      const repository = repositoryAt(top);
      if (repository !== undefined) {
        const { folders, configFiles } = repository;
        paths.push(...folders);
        named.add([...this.#user.configFiles, ...configFiles], { top, home: this.#user.home });
      }
      if (top === dirname(top) || named.isFull) return [...paths, ...named.paths];
    }
  }

  /**
   * Returns the host paths of the files and folders that make git run programs in the working tree `top`, as
   * its configuration names them. The configuration itself is not among them.
   */
  programsFor(top: string): string[] {
    const { configFiles = [] } = repositoryAt(top) ?? {};
    const named = new NamedPaths((file, stamps) => this.#namesIn(file, stamps));
    named.add([...this.#user.configFiles, ...configFiles], { top, home: this.#user.home });
    return [...named.paths];
  }

  #namesIn(file: string, stamps: string): readonly GitName[] {
    const known = this.#known.get(file);
    if (known?.stamps === stamps) return known.names;
    const names = namesIn(readStart(file, maxConfigBytes) ?? Buffer.alloc(0), maxPathNames);
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(file, { stamps, names });
    return names;
  }
}

/** Maximum number of files whose names are kept. */
const maxKnown = 256;

/** Maximum bytes of a path, in a file that consists of one. */
const maxPathBytes = 4096;

/** Maximum configuration files that one admission reads, existing or not, and their bytes together. */
const [maxFiles, maxTotalBytes] = [64, 2 * maxConfigBytes];
/** Maximum names of files and folders in the paths of one admission, each of which it looks up. */
const maxPathNames = 2048;

/**
 * The paths that configuration files name for one admission, which reads and looks up everything in one
 * step.
 */
class NamedPaths {
  readonly paths = new Set<string>();
  readonly #namesIn: (file: string, stamps: string) => readonly GitName[];
  readonly #read = new Map<string, readonly GitName[]>();
  #bytesLeft = maxTotalBytes;
  #namesLeft = maxPathNames;

  constructor(namesIn: (file: string, stamps: string) => readonly GitName[]) {
    this.#namesIn = namesIn;
  }

  /** Whether no further file is read. */
  get isFull(): boolean {
    return this.#read.size >= maxFiles || this.#namesLeft <= 0;
  }

  /** Adds the paths that configuration files, and those that they include, name in a working tree. */
  add(files: readonly string[], folders: GitFolders): void {
    // Iteration over a Set includes elements added during it, so the set is its own work list.
    const reading = new Set(files);
    for (const file of reading)
      for (const name of this.#read.get(file) ?? this.#readFile(file)) {
        const path = hostPathOf(name, file, folders);
        if (name.meaning === "include") reading.add(path);
        if (this.paths.has(path)) continue;
        this.#namesLeft -= path.split("/").length;
        if (this.#namesLeft <= 0) return;
        // A folder is not run.
        if (name.meaning !== "command" || !isFolder(path)) this.paths.add(path);
      }
  }

  #readFile(file: string): readonly GitName[] {
    if (this.isFull) return [];
    const { stamps, size = 0 } = stampsOf(file) ?? {};
    const isRead = stamps !== undefined && size <= maxConfigBytes && size <= this.#bytesLeft;
    if (isRead) this.#bytesLeft -= size;
    const names = isRead ? this.#namesIn(file, stamps) : [];
    this.#read.set(file, names);
    return names;
  }
}

interface Repository {
  /** Host paths of its folders, if those lie elsewhere. */
  readonly folders: readonly string[];
  readonly configFiles: readonly string[];
}

/**
 * Returns the repository with the working tree `top`: a folder `.git`, or the one that a file `.git` names.
 */
function repositoryAt(top: string): Repository | undefined {
  const link = join(top, ".git");
  const stats = statsAt(link);
  if (stats === undefined) return undefined;
  const target = stats.isFile() ? linkIn(link) : ".git";
  if (target === undefined) return undefined;
  const folder = resolve(top, target);
  const sharing = join(folder, "commondir");
  const shared = statsAt(sharing) === undefined ? undefined : textOf(sharing)?.trim();
  const common = shared === undefined ? folder : resolve(folder, shared);
  return {
    folders: [...new Set([folder, common])].filter((one) => one !== link),
    configFiles: [join(common, "config"), join(folder, "config.worktree")],
  };
}

/** Returns the path of a repository's folder in a file `.git`. */
function linkIn(file: string): string | undefined {
  const text = textOf(file) ?? "";
  const path = text.startsWith(linkLabel) ? text.slice(linkLabel.length).trimEnd() : "";
  return path === "" ? undefined : path;
}

const linkLabel = "gitdir: ";

/** Returns the text of a file that consists of a path. */
const textOf = (file: string): string | undefined =>
  readStart(file, linkLabel.length + maxPathBytes)?.toString();

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

/** Returns whether the folder at a host path has a file `HEAD`, and git would read `name` in it. */
export const isReadByGit = (folder: string, name: string): boolean =>
  repositoryNames.has(name) && statsAt(join(folder, "HEAD")) !== undefined;

function stampsOf(file: string): { readonly stamps: string; readonly size: number } | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return { stamps: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`, size: Number(size) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the stats, or `undefined` if nothing is there, if a file is on the way, or if a folder may not be
 * entered.
 */
function statsAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
