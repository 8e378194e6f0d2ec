/**
 * Finds the files that git reads and runs besides its own folders: those that the configuration of a
 * repository, or of its user, names.
 */
import { lstatSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type GitVariable,
  maxConfigBytes,
  mayNamePath,
  pathsIn,
  readSmall,
  variablesIn,
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
  /** The variables of files that may name paths, with the stamps of those files. */
  readonly #known = new Map<
    string,
    { readonly stamps: string; readonly variables: readonly GitVariable[] }
  >();

  constructor(user: GitUser) {
    this.#user = user;
  }

  /**
   * Returns the host paths that git reads or runs for a change below the host path `folder`, which has no
   * links.
   */
  namedFor(folder: string): string[] {
    const paths: string[] = [];
    for (let top = folder; ; top = dirname(top)) {
      const repository = repositoryAt(top);
      if (repository !== undefined) {
        const { folders, configFiles } = repository;
        const place = { top, home: this.#user.home };
        const files = [...this.#user.configFiles, ...configFiles];
        paths.push(...folders, ...pathsIn(files, place, this.#reader()));
      }
      if (top === dirname(top)) return paths;
    }
  }

  /**
   * Returns the host paths of the files and folders that make git run programs in the working tree `top`, as
   * its configuration names them. The configuration itself is not among them.
   */
  programsFor(top: string): string[] {
    const { configFiles = [] } = repositoryAt(top) ?? {};
    const place = { top, home: this.#user.home };
    return pathsIn([...this.#user.configFiles, ...configFiles], place, this.#reader());
  }

  /** Returns a reader of the variables of configuration files, up to a number of bytes. */
  #reader(): (file: string) => readonly GitVariable[] {
    let left = maxTotalBytes;
    return (file) => {
      const { stamps, size } = stampsOf(file) ?? {};
      if (stamps === undefined || size! > maxConfigBytes || size! > left) return [];
      left -= size!;
      return this.#variablesOf(file, stamps);
    };
  }

  #variablesOf(file: string, stamps: string): readonly GitVariable[] {
    const known = this.#known.get(file);
    if (known?.stamps === stamps) return known.variables;
    const variables = [...variablesIn(readSmall(file) ?? "")].filter(({ name }) => mayNamePath(name));
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(file, { stamps, variables });
    return variables;
  }
}

/** Maximum number of files whose variables are kept. */
const maxKnown = 256;
/** Maximum bytes of the configuration files of one repository, which an admission reads in one step. */
const maxTotalBytes = 2 * maxConfigBytes;

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
  const target = stats.isFile() ? /^gitdir: (.+?)\s*$/s.exec(readSmall(link) ?? "")?.[1] : ".git";
  if (target === undefined) return undefined;
  const folder = resolve(top, target);
  const sharing = join(folder, "commondir");
  const shared = statsAt(sharing) === undefined ? undefined : readSmall(sharing)?.trim();
  const common = shared === undefined ? folder : resolve(folder, shared);
  return {
    folders: [...new Set([folder, common])].filter((one) => one !== link),
    configFiles: [join(common, "config"), join(folder, "config.worktree")],
  };
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
