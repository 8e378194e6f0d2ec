/**
 * Sums up the changes that were found while a command ran. Changes by other programs at that time are
 * included, because nothing distinguishes them.
 */
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { ancestorsOf, namesOf, pathIn } from "../jail/backend.ts";
import type { WatchedFolder } from "../watch/watched-tree.ts";
import type { CallCause, FoundChange } from "./change.ts";
import type { Presence } from "./external-changes.ts";

/** The distinct changed paths in the tree, without those in `.git`. */
export interface ChangeSummary {
  /** Files that were created or modified and are in none of the new folders below. */
  readonly files: readonly string[];
  readonly deletedFiles: readonly string[];
  readonly movedFiles: readonly MovedEntry[];
  /** New folders that are in no other new one. */
  readonly made: readonly NewFolder[];
  /** Folders that were moved, deleted, or got other permissions. */
  readonly moved: readonly MovedEntry[];
  readonly deleted: readonly string[];
  readonly modified: readonly string[];
  /** Whether something in `.git` was changed, besides what git changes to read it. */
  readonly hasGit: boolean;
  /** Whether there may have been more. */
  readonly isIncomplete: boolean;
  /** Whether a denied path was changed, which is left out. */
  readonly hasDenied: boolean;
}

export interface MovedEntry {
  readonly from: string;
  readonly path: string;
}

export interface NewFolder {
  readonly path: string;
  /** Whether it took the place of a folder that was deleted. */
  readonly isReplacement: boolean;
  /** The number of files in it, at any depth. */
  readonly files: number;
  /** Whether there may be more. */
  readonly isIncomplete: boolean;
}

/** Maximum number of names that are kept. */
const maxNames = 100_000;

/** Changes that wait for the end of the command; more are summed up while it runs. */
const maxNoted = 1024;

/** Files that git writes whenever it reads a repository: the index with its newest times, and locks. */
const ownOfGit = /\.lock$|^(?!.*\/refs\/).*\/index$/;

const isInGit = (path: string): boolean => /(?:^|\/)\.git(?:\/|$)/.test(path);

/** The tree when the command has ended. */
export interface ListedTree {
  /** Returns the folder at a path, if it is there and watched. */
  folderAt(path: string): WatchedFolder | undefined;
  presenceAt(path: string): Presence;
  denies(path: string): boolean;
}

/** An entry that had a change. */
interface ChangedEntry {
  /** Its path before the command; `undefined` if it is new. */
  readonly from: string | undefined;
  readonly isFolder: boolean;
  readonly isModified: boolean;
}

/** A name that is on the path to a changed entry, or is that of one. */
class ChangedName {
  readonly inside = new Map<string, ChangedName>();
  entry: ChangedEntry | undefined;
}

export class CommandChanges {
  readonly cause: CallCause;
  /** The noted changes, the number of them that are taken up, and the work on the last of these, if any. */
  #noted: FoundChange[] = [];
  #next = 0;
  #adding: Steps<void> | undefined;
  /** Whether they are being summed up in the background. */
  #isReading = false;
  /** The current names. A moved folder takes those inside it along. */
  readonly #top = new ChangedName();
  #names = 0;
  /** The earlier paths of entries that were removed, and whether they were folders. */
  readonly #removed = new Map<string, boolean>();
  /** The changed files, once they are summarized. */
  readonly #files = new Set<string>();
  #hasGit = false;
  #isIncomplete = false;
  #hasDenied = false;

  constructor(cause: CallCause) {
    this.cause = cause;
  }

  /** Notes a change, which is summed up later, because many commands may run beside many changes. */
  note(change: FoundChange): void {
    this.#noted.push(change);
    if (this.#isReading || this.#noted.length < maxNoted) return;
    this.#isReading = true;
    void runInSlices(this.#sumUp(), createTimeSlice()).finally(() => {
      this.#isReading = false;
    });
  }

  /** Sums up the noted changes in order, whichever caller takes the next step. */
  *#sumUp(): Steps<void> {
    while (this.#adding !== undefined || this.#next < this.#noted.length) {
      this.#adding ??= this.#add(this.#noted[this.#next++]!);
      if (this.#adding.next().done) this.#adding = undefined;
      yield;
    }
    this.#noted = [];
    this.#next = 0;
  }

  *#add(change: FoundChange): Steps<void> {
    const { path, kind, from = path, isFolder, isGap = false } = change;
    for (const end of new Set([path, from])) if (isInGit(end) && !ownOfGit.test(end)) this.#hasGit = true;
    const isFromGit = isInGit(from);
    if (isInGit(path) && (isFromGit || kind !== "moved")) return;
    if ((isGap && kind === "modified") || this.#names >= maxNames) this.#isIncomplete = true;
    else if (kind === "moved" && isInGit(path)) yield* this.#remove(from, isFolder);
    else if (kind === "deleted") yield* this.#remove(path, isFolder);
    else if (kind === "moved" && !isFromGit) yield* this.#move(change);
    else if (kind === "modified") this.#modify(path, isFolder);
    else this.#place(path, new ChangedName(), { from: undefined, isFolder, isModified: true });
  }

  noteDenied(): void {
    this.#hasDenied = true;
  }

  /** Returns the summary. Its files are then known to `filesBeside`. */
  *summarize(tree: ListedTree): Steps<ChangeSummary> {
    yield* this.#sumUp();
    const found = new Found();
    yield* found.visit(this.#top, { path: "", origin: "", isInNew: false });
    const made: NewFolder[] = [];
    for (const path of found.made) {
      yield;
      const folder = tree.folderAt(path);
      if (folder === undefined) continue;
      const isReplacement = this.#removed.get(path) === true;
      made.push({ path, isReplacement, ...(yield* this.#list(folder, path, tree)) });
    }
    const { deletedFiles, deleted } = yield* this.#deletions(tree);
    for (const path of found.files) {
      yield;
      this.#files.add(path);
    }
    for (const { path } of found.movedFiles) {
      yield;
      this.#files.add(path);
    }
    return {
      ...{ files: found.files, deletedFiles, movedFiles: found.movedFiles },
      ...{ made, moved: found.moved, deleted, modified: found.modified },
      hasGit: this.#hasGit,
      isIncomplete: this.#isIncomplete,
      hasDenied: this.#hasDenied,
    };
  }

  /** Counts the changed files that are not among these. */
  *filesBeside(paths: ReadonlySet<string>): Steps<number> {
    let count = 0;
    for (const path of this.#files) {
      if (!paths.has(path)) count++;
      yield;
    }
    return count;
  }

  /** Lists the files in a new folder: it was not watched before it was found, so they had no events. */
  *#list(
    folder: WatchedFolder,
    path: string,
    tree: ListedTree,
  ): Steps<Pick<NewFolder, "files" | "isIncomplete">> {
    let files = 0;
    let isIncomplete = false;
    const folders: [folder: WatchedFolder, path: string][] = [[folder, path]];
    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      yield;
      const [{ keys, entries, unwatched }, above] = next;
      if (unwatched !== undefined || files > maxNames) isIncomplete = true;
      for (const [index, key] of unwatched === undefined ? keys.entries() : []) {
        const name = Buffer.from(key.replace(/\/$/, ""), "latin1").toString();
        const [entry, at] = [entries[index]!, pathIn(above, name)];
        if (name === ".git") this.#hasGit = true;
        else if (!tree.denies(at)) {
          if (typeof entry === "object") folders.push([entry, at]);
          else {
            files++;
            this.#files.add(at);
          }
        }
        yield;
      }
    }
    return { files, isIncomplete };
  }

  /** Returns the removed entries that nothing has replaced, without those in removed folders. */
  *#deletions(tree: ListedTree): Steps<{ deletedFiles: string[]; deleted: string[] }> {
    const gone: [path: string, isFolder: boolean][] = [];
    const folders = new Set<string>();
    for (const [path, isFolder] of this.#removed) {
      yield;
      const isThere =
        this.#find(path)?.entry?.isFolder === isFolder ||
        tree.presenceAt(path) === (isFolder ? "folder" : "entry");
      if (isThere) continue;
      gone.push([path, isFolder]);
      if (isFolder) folders.add(path);
      else this.#files.add(path);
    }
    const [deletedFiles, deleted]: [string[], string[]] = [[], []];
    for (const [path, isFolder] of gone) {
      yield;
      const isInOther = folders.size > 0 && ancestorsOf(path).some((folder) => folders.has(folder));
      if (!isInOther) (isFolder ? deleted : deletedFiles).push(path);
    }
    return { deletedFiles, deleted };
  }

  #place(path: string, name: ChangedName, entry: ChangedEntry): void {
    this.#take(path);
    name.entry = entry;
    const slash = path.lastIndexOf("/");
    const above = this.#nameAt(path.slice(0, Math.max(slash, 0)));
    above.inside.set(path.slice(slash + 1), name);
    this.#names++;
  }

  #modify(path: string, isFolder: boolean): void {
    const from = this.#originOf(path);
    const name = this.#nameAt(path);
    name.entry = { ...(name.entry ?? { from, isFolder }), isModified: true };
  }

  *#move({ path, from, isFolder, isOverOther = false }: FoundChange): Steps<void> {
    const origin = this.#originOf(from!);
    const name = this.#take(from!) ?? new ChangedName();
    if (isOverOther) yield* this.#remove(path, isFolder);
    const isModified = name.entry?.isModified ?? origin === undefined;
    this.#place(path, name, { from: origin, isFolder, isModified });
  }

  *#remove(path: string, isFolder: boolean): Steps<void> {
    const origin = this.#originOf(path);
    if (origin !== undefined) this.#noteRemoved(origin, isFolder);
    const names = [this.#take(path)];
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      // Entries that were moved here are gone too.
      for (const inside of name.inside.values()) {
        this.#names--;
        const { entry } = inside;
        if (entry?.from !== undefined) this.#noteRemoved(entry.from, entry.isFolder);
        names.push(inside);
        yield;
      }
    }
  }

  #noteRemoved(path: string, isFolder: boolean): void {
    if (this.#removed.size >= maxNames) this.#isIncomplete = true;
    else this.#removed.set(path, isFolder);
  }

  /** Returns the path before the command of what has this name; `undefined` if it is new. */
  #originOf(path: string): string | undefined {
    let name: ChangedName | undefined = this.#top;
    let origin: string | undefined = "";
    for (const part of path.split("/")) {
      name = name?.inside.get(part);
      const implied: string | undefined = origin === undefined ? undefined : pathIn(origin, part);
      origin = name?.entry === undefined ? implied : name.entry.from;
    }
    return origin;
  }

  #find(path: string): ChangedName | undefined {
    let name: ChangedName | undefined = this.#top;
    for (const part of namesOf(path)) name = name?.inside.get(part);
    return name;
  }

  /** Returns the name at a path, with those above it. */
  #nameAt(path: string): ChangedName {
    let name = this.#top;
    for (const part of namesOf(path)) {
      const inside = name.inside.get(part) ?? new ChangedName();
      if (!name.inside.has(part)) this.#names++;
      name.inside.set(part, inside);
      name = inside;
    }
    return name;
  }

  /** Takes a name with those inside it out of the folder above, if it is there. */
  #take(path: string): ChangedName | undefined {
    const slash = path.lastIndexOf("/");
    const above = this.#find(path.slice(0, Math.max(slash, 0)));
    const name = above?.inside.get(path.slice(slash + 1));
    if (above === undefined || name === undefined) return undefined;
    above.inside.delete(path.slice(slash + 1));
    this.#names--;
    return name;
  }
}

/** The place of the names in a folder. */
interface Place {
  readonly path: string;
  /** The path of the folder before the command; `undefined` if it is new. */
  readonly origin: string | undefined;
  /** Whether a new folder is above. */
  readonly isInNew: boolean;
}

/** The changed entries, by the kinds of their changes. */
class Found {
  readonly files: string[] = [];
  readonly modified: string[] = [];
  readonly movedFiles: MovedEntry[] = [];
  readonly moved: MovedEntry[] = [];
  readonly made: string[] = [];

  *visit(folder: ChangedName, { path: above, origin: originAbove, isInNew }: Place): Steps<void> {
    for (const [part, name] of folder.inside) {
      yield;
      const path = pathIn(above, part);
      const implied = originAbove === undefined ? undefined : pathIn(originAbove, part);
      const { entry } = name;
      if (entry !== undefined) this.#add(entry, { path, implied, isInNew });
      const origin = entry === undefined ? implied : entry.from;
      const isNew = isInNew || (entry !== undefined && origin === undefined);
      if (name.inside.size > 0) yield* this.visit(name, { path, origin, isInNew: isNew });
    }
  }

  #add(
    { from, isFolder, isModified }: ChangedEntry,
    { path, implied, isInNew }: Pick<Place, "path" | "isInNew"> & { readonly implied: string | undefined },
  ): void {
    const isMoved = from !== undefined && from !== path && from !== implied;
    if (isMoved) (isFolder ? this.moved : this.movedFiles).push({ from, path });
    // The new folder is named, and its files are counted.
    if (isInNew || !isModified) return;
    if (!isFolder) this.files.push(path);
    else if (from === undefined) this.made.push(path);
    else this.modified.push(path);
  }
}
