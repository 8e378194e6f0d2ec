/**
 * Finds the files and folders that programs may not read, or not change, for rules that know paths but no
 * globs.
 */
import { isUtf8 } from "node:buffer";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { pathIn } from "./backend.ts";
import type { Folder, Jail } from "./folder.ts";
import { type EntryKind, kindOf } from "./kind.ts";
import { openBelow } from "./open-below.ts";

export interface GuardedPaths {
  /** Host paths of denied files, and of denied folders with many files. */
  readonly denied: readonly string[];
  /** Host paths of files and folders that may be read and not changed. */
  readonly kept: readonly string[];
}

export interface GuardedFinder {
  /** The result of the last search. */
  readonly found: GuardedPaths;
  /** Searches again. Then `found` is at least as new as this call. */
  refresh(): Promise<void>;
}

type GuardedTree = Pick<
  Jail,
  | "roots"
  | "hasTop"
  | "denies"
  | "deniesIn"
  | "deniesWritingIn"
  | "deniesWritingAllIn"
  | "namedByGit"
  | "protectedPaths"
  | "reopenFolder"
  | "isReadOnly"
  | "isTemporary"
>;

/** The kind of a folder, which decides what is kept in it. */
type Zone =
  /** A folder like any other: what may not be written is kept. */
  | "tree"
  /** A repository: git writes it, and the files that name programs are kept. */
  | "repository"
  /**
   * A folder in which nothing is kept: git's objects and references, what package managers and compilers
   * made, and what is in a kept folder.
   */
  | "open";

interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
  /** Whether `name` is not its name, because that is not UTF-8. */
  readonly isRenamed: boolean;
}

/** The entries of a folder. */
interface SortedFolder {
  readonly denied: readonly Entry[];
  readonly kept: readonly string[];
  /** The folders in it, with their zones. */
  readonly folders: readonly (readonly [name: string, zone: Zone])[];
  readonly hasRepository: boolean;
}

/** The state of a folder when it was last read. */
interface KnownFolder extends SortedFolder {
  /** The version, which changes whenever names in the folder do. */
  readonly version: string;
}

/** Milliseconds in which two changes of a folder may get the same time. */
const settlingMs = 50;

/** Maximum files that stand for a denied folder. A folder with more stands for itself. */
const maxFiles = 256;

/** Maximum kept paths. Each becomes a mount. */
const maxKept = 1000;

/** Entries of a repository that make git run programs, or name the files that do. */
const keptByGit: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir", "gitdir", "hooks"]);

/** Folders of a repository that git fills with names from elsewhere. */
const namedByContent: ReadonlySet<string> = new Set(["objects", "refs", "logs"]);

/** Folders that package managers and compilers fill, and remove as a whole. */
const generated: ReadonlySet<string> = new Set(["node_modules", "target", "dist", ".venv", "__pycache__"]);

/**
 * Opens a finder for the roots of a jail, and searches once. It follows no links, and rereads only folders
 * that have changed. Files of a denied folder are found one by one, because to git a folder that is hidden as
 * a whole looks as if its files were deleted. In repositories only the files are kept that make git run
 * programs, so that git can work, and in folders that package managers fill, such as `node_modules`, none. A
 * root that lies in another one is searched by its own rules alone.
 */
export async function openGuardedFinder(tree: GuardedTree): Promise<GuardedFinder> {
  const known = new Map<string, KnownFolder>();
  let found: GuardedPaths = { denied: [], kept: [] };
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function search(): Promise<void> {
    const work = new Search(tree, known);
    found = await work.run();
  }

  const begin = () => {
    running = search().finally(() => {
      running = undefined;
    });
    return running;
  };
  const finder = {
    get found() {
      return found;
    },
    refresh() {
      if (running === undefined) return begin();
      // The search under way may have passed what has changed since it began.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined;
          return begin();
        });
      return next;
    },
  };
  await finder.refresh();
  return finder;
}

class Search {
  readonly #tree: GuardedTree;
  readonly #known: Map<string, KnownFolder>;
  readonly #slice: TimeSlice = createTimeSlice();
  readonly #denied: string[] = [];
  readonly #kept = new Set<string>();
  readonly #bases: ReadonlySet<string>;

  constructor(tree: GuardedTree, known: Map<string, KnownFolder>) {
    this.#tree = tree;
    this.#known = known;
    this.#bases = new Set(tree.roots.map(({ hostPath }) => hostPath));
  }

  async run(): Promise<GuardedPaths> {
    const { roots, hasTop, protectedPaths } = this.#tree;
    for (const path of protectedPaths) this.#keep(path);
    for (const { name, hostPath, isReadOnly } of roots) {
      if (hasTop && this.#tree.denies([name])) this.#denied.push(hostPath);
      else await this.#visit(hostPath, hasTop ? name : "", isReadOnly ? "open" : "tree");
    }
    return { denied: this.#denied, kept: [...this.#kept].slice(0, maxKept) };
  }

  /** Keeps a file or folder, if one is there. A link would keep what it leads to, and not itself. */
  #keep(path: string): void {
    const stats = tryLstat(path);
    if (stats?.isFile() || stats?.isDirectory()) this.#kept.add(path);
  }

  async #visit(host: string, path: string, zone: Zone): Promise<void> {
    await this.#slice.yieldIfDue();
    const folder = await this.#read(host, path, zone);
    if (folder === undefined) return;
    for (const entry of folder.denied) {
      await this.#slice.yieldIfDue();
      if (entry.kind === "dir") await this.#denyFolder(host, path, [entry.name]);
      else this.#denied.push(join(host, entry.name));
    }
    for (const name of folder.kept) {
      await this.#slice.yieldIfDue();
      this.#kept.add(join(host, name));
    }
    for (const named of folder.hasRepository ? this.#tree.namedByGit(path) : []) {
      await this.#slice.yieldIfDue();
      this.#keep(named);
    }
    for (const [name, below] of folder.folders)
      await this.#visit(join(host, name), pathIn(path, name), below);
  }

  async #read(host: string, path: string, zone: Zone): Promise<SortedFolder | undefined> {
    const stats = tryLstat(host);
    if (stats === undefined) return undefined;
    const version = `${zone} ${stats.dev} ${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs}`;
    const last = this.#known.get(host);
    if (last?.version === version) return last;
    const isSettled = Date.now() - Number(stats.mtimeMs) > settlingMs;
    const folder = await this.#sort(await this.#besideRoots(host, path), path, zone);
    this.#known.set(host, { ...folder, version: isSettled ? version : "" });
    return folder;
  }

  /** Sorts the entries of a folder. */
  async #sort(entries: readonly Entry[], path: string, zone: Zone): Promise<SortedFolder> {
    const here = zone === "tree" && this.#isRepository(entries, path) ? "repository" : zone;
    const sorted = { denied: [] as Entry[], kept: [] as string[], folders: [] as [string, Zone][] };
    let hasRepository = false;
    for (const entry of entries) {
      await this.#slice.yieldIfDue();
      const { name, kind } = entry;
      if (this.#tree.deniesIn({ path, folding: "exact" }, name) && !this.#tree.isTemporary(name)) {
        sorted.denied.push(entry);
        continue;
      }
      const below = this.#zoneOf(entry, path, here);
      if (below === "kept") sorted.kept.push(name);
      if (kind === "dir") sorted.folders.push([name, below === "kept" ? "open" : below]);
      hasRepository ||= name === ".git" && here === "tree";
    }
    return { ...sorted, hasRepository };
  }

  /** Returns the zone of an entry, or that it is kept. */
  #zoneOf(entry: Entry, path: string, here: Zone): Zone | "kept" {
    const { name, kind } = entry;
    const isFolder = kind === "dir";
    if (here === "open" || (!isFolder && kind !== "file")) return here;
    if (here === "repository") {
      if (namedByContent.has(name)) return "open";
      return keptByGit.has(name) ? "kept" : "repository";
    }
    if (isFolder && generated.has(name)) return "open";
    const folder = { path, folding: "exact" } as const;
    const isGit = isFolder && name === ".git";
    // As a whole, so that nothing is created in it either.
    if (isFolder && !isGit && this.#tree.deniesWritingAllIn(folder, name)) return "kept";
    if (!this.#tree.deniesWritingIn(folder, name)) return "tree";
    return isGit ? "repository" : "kept";
  }

  /** Returns whether git would take the folder for a repository without a working tree. */
  #isRepository(entries: readonly Entry[], path: string): boolean {
    return (
      ["HEAD", "objects", "refs"].every((name) => entries.some((entry) => entry.name === name)) &&
      this.#tree.deniesWritingIn({ path, folding: "exact" }, "HEAD")
    );
  }

  /**
   * Adds the host paths that stand for a denied folder: its own, or those of the files in it. A root in it is
   * not hidden with it.
   */
  async #denyFolder(host: string, path: string, at: readonly string[]): Promise<void> {
    const whole = join(host, ...at);
    if (this.#rootsBelow(whole).length === 0) {
      this.#denied.push(...((await this.#filesOf(host, path, at)) ?? [whole]));
      return;
    }
    const entries = await this.#besideRoots(host, path, at);
    // An entry without a path can be hidden with the folder only.
    if (entries.some(({ isRenamed }) => isRenamed)) {
      this.#denied.push(whole);
      return;
    }
    for (const { name, kind } of entries) {
      await this.#slice.yieldIfDue();
      if (kind === "dir") await this.#denyFolder(host, path, [...at, name]);
      else this.#denied.push(join(whole, name));
    }
  }

  /** Returns the host paths of the files in a denied folder; `undefined` if it stands for itself. */
  async #filesOf(host: string, path: string, at: readonly string[]): Promise<string[] | undefined> {
    const files: string[] = [];
    const folders = [at];
    for (let names = folders.pop(); names !== undefined; names = folders.pop()) {
      await this.#slice.yieldIfDue();
      const entries = await this.#list(path, names, { max: 2 * maxFiles });
      if (entries === undefined) return undefined;
      for (const below of entries) {
        if (below.isRenamed) return undefined;
        const found = [...names, below.name];
        if (below.kind === "dir") folders.push(found);
        else files.push(join(host, ...found));
      }
      if (files.length > maxFiles || folders.length > maxFiles) return undefined;
    }
    return files;
  }

  /** Returns the paths, from a folder, of the roots in it. */
  #rootsBelow(folder: string): string[] {
    const above = `${folder}/`;
    return [...this.#bases].filter((base) => base.startsWith(above)).map((base) => base.slice(above.length));
  }

  /** Lists a folder like `#list`, without the roots in it. */
  async #besideRoots(host: string, path: string, names: readonly string[] = []): Promise<Entry[]> {
    const entries = (await this.#list(path, names)) ?? [];
    const roots = new Set(this.#rootsBelow(join(host, ...names)));
    return roots.size === 0 ? entries : entries.filter(({ name }) => !roots.has(name));
  }

  /**
   * Lists a folder, or the one that `names` lead to below it. It has no entries if it cannot be read. Returns
   * `undefined` if it has more than `max`.
   */
  async #list(
    path: string,
    names: readonly string[],
    { max = Number.POSITIVE_INFINITY } = {},
  ): Promise<Entry[] | undefined> {
    const entries: Entry[] = [];
    let folder: Folder | undefined;
    try {
      folder = openBelow(this.#tree.reopenFolder(path), names);
      const unknown: Entry[] = [];
      const steps = folder.list((bytes, from, to, kind) => {
        const raw = bytes.subarray(from, to);
        const entry = { name: raw.toString(), kind: kind ?? "other", isRenamed: !isUtf8(raw) };
        (kind === undefined ? unknown : entries).push(entry);
      });
      for (const _ of steps) {
        if (entries.length + unknown.length > max) return undefined;
        await this.#slice.yieldIfDue();
      }
      if (entries.length + unknown.length > max) return undefined;
      for (const entry of unknown) {
        await this.#slice.yieldIfDue();
        entries.push({ ...entry, kind: kindOf(folder.lstat(entry.name)) ?? "other" });
      }
      return entries;
    } catch {
      return [];
    } finally {
      folder?.close();
    }
  }
}

/** Returns `undefined` for what has gone, and for what is in a folder that may only be listed. */
function tryLstat(path: string) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
