/**
 * Finds the files that git reads and runs besides its own folders: those that the configuration of a
 * repository, or of its user, names.
 */
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { foldersWith } from "./folders-with.ts";
import {
  type GitFolders,
  type GitName,
  hostPathOf,
  maxConfigBytes,
  namesIn,
  readStart,
} from "./git-config.ts";
import { LinkResolver, type ResolvedFile } from "./link-resolver.ts";

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
   * Returns the files and folders that git reads or runs for a change below the host path `folder`, which has
   * no links.
   */
  namedFor(folder: string): ResolvedFile[] {
    const named = new NamedPaths((file) => this.#namesIn(file));
    const folders: ResolvedFile[] = [];
    for (const top of foldersWith(".git", folder)) {
      const repository = repositoryAt(top, named.resolver);
      if (repository === undefined) continue;
      folders.push(...repository.folders);
      named.add([...this.#user.configFiles, ...repository.configFiles], { top, home: this.#user.home });
      if (named.isFull) break;
    }
    return [...folders, ...named.files.values()];
  }

  /**
   * Returns the host paths of the files and folders that make git run programs in the working tree `top`, as
   * its configuration names them. The configuration itself is not among them.
   */
  programsFor(top: string): string[] {
    const named = new NamedPaths((file) => this.#namesIn(file));
    const { configFiles = [] } = repositoryAt(top, named.resolver) ?? {};
    named.add([...this.#user.configFiles, ...configFiles], { top, home: this.#user.home });
    return [...named.files.keys()];
  }

  #namesIn({ path, stamps }: FileStamps): readonly GitName[] {
    const known = this.#known.get(path);
    if (known?.stamps === stamps) return known.names;
    const names = namesIn(readStart(path, maxConfigBytes) ?? Buffer.alloc(0), maxPathNames);
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(path, { stamps, names });
    return names;
  }
}

/** Maximum number of files whose names are kept. */
const maxKnown = 256;

/** Maximum bytes of a path, in a file that consists of one. */
const maxPathBytes = 4096;

/** Maximum configuration files that one admission reads, existing or not, and their bytes together. */
const [maxFiles, maxTotalBytes] = [64, 2 * maxConfigBytes];
/** Maximum names of files and folders in the paths of one admission, and in the links on them. */
const maxPathNames = 2048;

/**
 * The paths that configuration files name for one admission, which reads and looks up everything in one
 * step.
 */
class NamedPaths {
  /** The files and folders, by the paths that name them. */
  readonly files = new Map<string, ResolvedFile>();
  readonly resolver = new LinkResolver(maxPathNames);
  readonly #namesIn: (file: FileStamps) => readonly GitName[];
  readonly #read = new Map<string, readonly GitName[]>();
  #bytesLeft = maxTotalBytes;

  constructor(namesIn: (file: FileStamps) => readonly GitName[]) {
    this.#namesIn = namesIn;
  }

  /** Whether no further file is read. */
  get isFull(): boolean {
    return this.#read.size >= maxFiles || this.resolver.isFull;
  }

  /** Adds the paths that configuration files, and those that they include, name in a working tree. */
  add(files: readonly string[], folders: GitFolders): void {
    // Iteration over a Set includes elements added during it, so the set is its own work list.
    const reading = new Set(files);
    for (const file of reading)
      for (const name of this.#read.get(file) ?? this.#readFile(file)) {
        const path = hostPathOf(name, file, folders);
        if (name.meaning === "include") reading.add(path);
        if (this.files.has(path)) continue;
        const resolved = this.resolver.resolve(path);
        if (resolved === undefined) return;
        // A folder is not run.
        if (name.meaning !== "command" || !statsAt(resolved.path)?.isDirectory())
          this.files.set(path, resolved);
      }
  }

  #readFile(file: string): readonly GitName[] {
    if (this.isFull) return [];
    const found = stampsOf(this.files.get(file)?.path ?? file, this.resolver);
    const isRead = found !== undefined && found.size <= Math.min(maxConfigBytes, this.#bytesLeft);
    if (isRead) this.#bytesLeft -= found.size;
    const names = isRead ? this.#namesIn(found) : [];
    this.#read.set(file, names);
    return names;
  }
}

interface Repository {
  /** Its folders, if those lie elsewhere. */
  readonly folders: readonly ResolvedFile[];
  readonly configFiles: readonly string[];
}

/**
 * Returns the repository with the working tree `top`: a folder `.git`, or the one that a file `.git` names.
 */
function repositoryAt(top: string, resolver: LinkResolver): Repository | undefined {
  const link = join(top, ".git");
  const stats = statsAt(link);
  if (stats === undefined) return undefined;
  const target = stats.isFile() ? linkIn(link) : ".git";
  if (target === undefined) return undefined;
  const folder = stats.isDirectory() ? { links: [], path: link } : resolver.resolve(resolve(top, target));
  if (folder === undefined) return undefined;
  const sharing = stampsOf(join(folder.path, "commondir"), resolver)?.path;
  const shared = sharing === undefined ? undefined : textOf(sharing)?.trim();
  const common = shared === undefined ? folder : resolver.resolve(resolve(folder.path, shared));
  if (common === undefined) return undefined;
  return {
    folders: [...new Set([folder, common])].filter((one) => stats.isFile() || one !== folder),
    configFiles: [join(common.path, "config"), join(folder.path, "config.worktree")],
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

/**
 * Returns whether one of these folders, all of them on the way to the last, has a file `HEAD`. They contain
 * names that git reads in a repository.
 */
export function areInRepository(folders: readonly string[]): boolean {
  if (folders.length <= fewFolders)
    return folders.some((folder) => statsAt(join(folder, "HEAD")) !== undefined);
  const withHead = new Set(foldersWith("HEAD", folders.at(-1)!));
  return folders.some((folder) => withHead.has(folder));
}

/** Maximum number of folders that are looked up one by one. */
const fewFolders = 8;

/** Returns whether git reads `name` in a repository. */
export const isRepositoryName = (name: string): boolean => repositoryNames.has(name);

interface FileStamps {
  /** The host path without links. */
  readonly path: string;
  readonly stamps: string;
  readonly size: number;
}

/** Returns the stamps of a file, or of what a link leads to; `undefined` if nothing is there. */
function stampsOf(file: string, resolver: LinkResolver): FileStamps | undefined {
  const options = { bigint: true, throwIfNoEntry: false } as const;
  try {
    let path = file;
    let stats = lstatSync(file, options);
    if (stats?.isSymbolicLink()) {
      path = resolver.resolve(file)?.path ?? file;
      stats = lstatSync(path, options);
    }
    if (stats === undefined || stats.isSymbolicLink()) return undefined;
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return { path, stamps: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`, size: Number(size) };
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
