/**
 * The changes that were found while a command ran. Changes by other programs at that time are included,
 * because nothing distinguishes them.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { ancestorsOf, pathIn } from "../jail/backend.ts";
import type { WatchedFolder } from "../watch/watched-tree.ts";
import type { Cause, FoundChange } from "./change.ts";

/** The distinct changed paths in the tree, without those in `.git`. */
export interface ChangeSummary {
  /** Changed files that are in none of the folders below. */
  readonly files: readonly string[];
  /** New folders that are in no other new one. */
  readonly made: readonly NewFolder[];
  /** Folders that were moved here, deleted, or got other permissions. */
  readonly moved: readonly string[];
  readonly deleted: readonly string[];
  readonly modified: readonly string[];
  /** Whether something in `.git` was changed, besides what git changes to read it. */
  readonly hasGit: boolean;
  /** Whether there may have been more. */
  readonly isIncomplete: boolean;
  /** Whether a denied path was changed, which is left out. */
  readonly hasDenied: boolean;
}

export interface NewFolder {
  readonly path: string;
  /** The number of files in it, at any depth. */
  readonly files: number;
  /** Whether there may be more. */
  readonly isIncomplete: boolean;
}

/** Maximum number of distinct paths of one kind that are kept. */
const maxPaths = 100_000;

/** Files that git writes whenever it reads a repository: the index with its newest times, and locks. */
const ownOfGit = /\.lock$|^(?!.*\/refs\/).*\/index$/;

const isInGit = /(?:^|\/)\.git(?:\/|$)/;

/** The tree that new folders are listed in. */
export interface ListedTree {
  /** Returns the folder at a path, if it is there and watched. */
  folderAt(path: string): WatchedFolder | undefined;
  denies(path: string): boolean;
}

export class CommandChanges {
  readonly cause: Cause;
  readonly #files = new Set<string>();
  /** All folders that were created, including those that are gone. */
  readonly #made = new Set<string>();
  readonly #moved = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #modified = new Set<string>();
  /** The files of each new folder that is there. */
  readonly #listed = new Map<string, { readonly files: string[]; isIncomplete: boolean }>();
  #hasGit = false;
  #isIncomplete = false;
  #hasDenied = false;

  constructor(cause: Cause) {
    this.cause = cause;
  }

  note(change: FoundChange): void {
    const { path, kind, from, isFolder, isGap = false } = change;
    if (isInGit.test(path)) {
      if (!ownOfGit.test(path)) this.#hasGit = true;
      return;
    }
    const isOfNew = kind === "moved" && this.#made.has(from!);
    const folders = isOfNew ? this.#made : this.#foldersOf(kind);
    const paths = isFolder ? folders : this.#files;
    if (isFolder && kind === "deleted" && this.#made.has(path)) return;
    if ((isGap && kind === "modified") || paths.size >= maxPaths) this.#isIncomplete = true;
    else paths.add(path);
  }

  noteDenied(): void {
    this.#hasDenied = true;
  }

  #foldersOf(kind: FoundChange["kind"]): Set<string> {
    const sets = {
      ...{ created: this.#made, moved: this.#moved, deleted: this.#deleted },
      modified: this.#modified,
    };
    return sets[kind];
  }

  /** Lists the files in new folders: a folder is not watched before it was found, so they had no events. */
  *listNewFolders(tree: ListedTree): Steps<void> {
    for (const path of this.#made) {
      const folder = isBelow(path, this.#made) ? undefined : tree.folderAt(path);
      if (folder === undefined) continue;
      const listed = { files: [] as string[], isIncomplete: false };
      this.#listed.set(path, listed);
      const folders: [folder: WatchedFolder, path: string][] = [[folder, path]];
      for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
        const [{ keys, entries, unwatched }, above] = next;
        if (unwatched !== undefined || listed.files.length > maxPaths) listed.isIncomplete = true;
        for (const [index, key] of unwatched === undefined ? keys.entries() : []) {
          const name = Buffer.from(key.replace(/\/$/, ""), "latin1").toString();
          const [entry, at] = [entries[index]!, pathIn(above, name)];
          if (name === ".git") this.#hasGit = true;
          else if (!tree.denies(at)) {
            if (typeof entry === "object") folders.push([entry, at]);
            else listed.files.push(at);
          }
          yield;
        }
      }
    }
  }

  /** Counts the changed files that are not among these. */
  filesBeside(paths: ReadonlySet<string>): number {
    const all = [...this.#changedFiles(), ...[...this.#listed.values()].flatMap(({ files }) => files)];
    return all.filter((path) => !paths.has(path)).length;
  }

  /** Returns the files outside of new and deleted folders. */
  #changedFiles(): string[] {
    const folders = new Set([...this.#made, ...this.#deleted]);
    return [...this.#files].filter((path) => !isBelow(path, folders));
  }

  summarize(): ChangeSummary {
    const outermost = (paths: ReadonlySet<string>) =>
      [...paths].filter(
        (path) => !this.#made.has(path) && !isBelow(path, this.#made) && !isBelow(path, paths),
      );
    return {
      files: this.#changedFiles(),
      made: [...this.#listed].map(([path, { files, isIncomplete }]) => ({
        path,
        files: files.length,
        isIncomplete,
      })),
      moved: outermost(this.#moved),
      deleted: outermost(this.#deleted),
      modified: outermost(this.#modified),
      hasGit: this.#hasGit,
      isIncomplete: this.#isIncomplete,
      hasDenied: this.#hasDenied,
    };
  }
}

const isBelow = (path: string, folders: ReadonlySet<string>): boolean =>
  folders.size > 0 && ancestorsOf(path).some((folder) => folders.has(folder));
