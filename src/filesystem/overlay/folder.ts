import type { Stats } from "node:fs";
import type { EntryVersion } from "../disk/steps.ts";
import { namesOf, nameText, pathIn } from "../jail/backend.ts";
import type { OnDirent } from "../jail/dirents.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, JailedPath, Name, PathHandle } from "../jail/folder.ts";
import { holdsMount } from "../jail/mounts.ts";
import type { Folding } from "../jail/name-comparison.ts";
import { type DiskView, versionIn } from "./disk-view.ts";
import { kindOfPlanned, type PlannedEntries, type PlannedEntry } from "./entry.ts";
import { PlannedHandle } from "./handle.ts";
import type { PlannedNames } from "./names.ts";
import { access, defaultFolderMode, requireAccess, statsOfCopy, statsOfNew, statsWithMode } from "./stats.ts";

/** The view that all folders of one planned tree share. */
export interface PlannedView {
  readonly disk: DiskView;
  /** The stats of the base. */
  readonly base: Stats;
  readonly names: PlannedNames;
}

/** The source of a folder's entries. */
interface Source {
  /** The changed entries in it, if any. */
  readonly changes: PlannedEntries | undefined;
  /** The folder on disk that has its other entries, and its path. */
  readonly disk: Folder | undefined;
  readonly origin: string;
  readonly isCopy: boolean;
}

interface Init extends Source {
  readonly requested: string;
  readonly path: string;
  /** Documented at `Folder.isText`. Default: true. */
  readonly isText?: boolean;
  readonly folding: Folding;
  readonly device: number;
}

/**
 * A folder in the state that the changes so far would leave. It shows the entries on disk, combined with the
 * changed ones. Paths of the system cannot change it.
 */
export class PlannedFolder implements Folder {
  readonly requested: string;
  readonly path: string;
  readonly isText: boolean;
  readonly folding: Folding;
  /** The device of its nearest folder on disk. */
  readonly device: number;
  readonly #view: PlannedView;
  readonly #source: Source;

  constructor(view: PlannedView, { requested, path, isText = true, folding, device, ...source }: Init) {
    this.#view = view;
    this.#source = source;
    this.requested = requested;
    this.path = path;
    this.isText = isText;
    this.folding = folding;
    this.device = device;
  }

  get names(): readonly string[] {
    return namesOf(this.path);
  }

  /** Returns the descriptor of the folder on disk, if any. */
  get descriptor(): number | undefined {
    return this.#source.disk?.descriptor;
  }

  enter<T>(_: (at: (name: Name) => JailedPath) => T): T {
    throw new Error("a folder that is pending has no path of the system");
  }

  /** Returns the changed entry of the name, with an `undefined` entry if the name is now free. */
  change(name: Name): { readonly entry: PlannedEntry | undefined } | undefined {
    return this.#view.names.find(this, this.#source, nameText(name));
  }

  /** Like `change`, if the pending mode of this folder lets this process reach its entries. Throws EACCES. */
  #find(name: Name): ReturnType<PlannedFolder["change"]> {
    if (this.#source.changes?.mode !== undefined) requireAccess(this.lstat("."), access.execute);
    return this.change(name);
  }

  /** Returns whether the disk determines the entry of the name. */
  isOnDisk(name: Name): boolean {
    const { disk, isCopy } = this.#source;
    return disk !== undefined && !isCopy && this.change(name) === undefined;
  }

  /** Returns the path on disk of an unchanged entry, or of the original of a copy. */
  originOf(name: string): string {
    return pathIn(this.#source.origin, name);
  }

  child(name: Name): PlannedFolder {
    const { disk, origin, isCopy } = this.#source;
    const change = this.#find(name);
    const text = nameText(name);
    if (change === undefined) {
      const inner = requireThere(disk).child(name);
      return this.#inner(name, { changes: undefined, disk: inner, origin: pathIn(origin, text), isCopy });
    }
    const { entry } = change;
    if (entry === undefined) throw errnoError("ENOENT");
    if (entry.type !== "dir") throw errnoError("ENOTDIR");
    const inner = this.#originals(entry, name);
    return this.#inner(name, {
      changes: entry,
      disk: inner,
      origin: entry.origin ?? "",
      isCopy: entry.isCopy,
    });
  }

  /**
   * Opens a folder in one step. Returns `undefined` also if the mode of a folder on the way is pending, if
   * the last one is not on disk yet, and if names have several spellings.
   */
  openFolderBeneath(path: string): PlannedFolder | undefined {
    const found = sourceBeneath(this.#source, namesOf(path));
    if (found === undefined) return undefined;
    const disk = this.#view.disk.folderInOneStep(found.origin);
    if (disk === undefined) return undefined;
    const inner = this.#inner(path, { ...found, disk });
    if (!this.#view.names.folds(inner)) return inner;
    inner.close();
    return undefined;
  }

  /** Returns the folder on disk that has the other entries of a changed one, if any. */
  #originals({ origin, isCopy }: PlannedEntries, name: Name): Folder | undefined {
    const { disk, isCopy: isInCopy } = this.#source;
    if (origin === undefined) return undefined;
    // From here it takes one step, and from the base one for each level.
    const isInPlace = disk !== undefined && isCopy === isInCopy && origin === this.originOf(nameText(name));
    return isInPlace ? disk.child(name) : this.#view.disk.folder(origin);
  }

  #inner(name: Name, source: Source): PlannedFolder {
    const { disk } = source;
    return new PlannedFolder(this.#view, {
      ...source,
      requested: this.requested,
      path: pathIn(this.path, nameText(name)),
      isText: this.isText && typeof name === "string",
      folding: disk?.folding ?? this.folding,
      device: disk?.lstat(".").dev ?? this.device,
    });
  }

  *list(onDirent: OnDirent): Generator<void, void, void> {
    const { disk, changes } = this.#source;
    if (changes?.mode !== undefined) requireAccess(this.lstat("."), access.read);
    if (disk !== undefined) {
      yield* disk.list((bytes, from, to, kind) => {
        // A name that the disk lists is changed only under this very spelling.
        if (changes?.changed.has(bytes.toString("utf8", from, to)) !== true) onDirent(bytes, from, to, kind);
      });
    }
    for (const [name, entry] of changes?.changed ?? []) {
      if (entry === undefined) continue;
      const bytes = Buffer.from(name);
      onDirent(bytes, 0, bytes.length, kindOfPlanned(entry));
    }
  }

  openPath(name: Name): PathHandle {
    if (name === ".") return this.#openSelf();
    const { disk, isCopy } = this.#source;
    const change = this.#find(name);
    if (change === undefined) {
      const handle = requireThere(disk).openPath(name);
      return isCopy ? new PlannedHandle({ stats: statsOfCopy(handle.stats), disk: handle }) : handle;
    }
    if (change.entry === undefined) throw errnoError("ENOENT");
    return this.#openChanged(change.entry);
  }

  #openSelf(): PathHandle {
    const { disk, changes, isCopy } = this.#source;
    const isAsOnDisk = !isCopy && changes?.mode === undefined;
    if (disk !== undefined && isAsOnDisk) return disk.openPath(".");
    return new PlannedHandle({ stats: this.#statsOf(disk?.lstat("."), { changes, isCopy }) });
  }

  /** Returns the stats of a folder that currently has `onDisk`, if it exists. */
  #statsOf(onDisk: Stats | undefined, { changes, isCopy }: Pick<Source, "changes" | "isCopy">): Stats {
    const mode = changes?.mode;
    if (onDisk === undefined)
      return statsOfNew({ kind: "dir", mode: mode ?? defaultFolderMode(), size: 0 }, this.#base());
    return statsWithMode(isCopy ? statsOfCopy(onDisk) : onDisk, mode);
  }

  #base(): Stats {
    const { base } = this.#view;
    return this.device === base.dev ? base : Object.create(base, { dev: { value: this.device } });
  }

  #openChanged(entry: PlannedEntry): PathHandle {
    const { disk } = this.#view;
    if (entry.type === "disk") {
      const handle = disk.openPath(entry.origin);
      if (entry.mode === undefined) return handle;
      return new PlannedHandle({ stats: statsWithMode(handle.stats, entry.mode), disk: handle });
    }
    if (entry.type === "dir") {
      const onDisk =
        entry.origin === undefined ? undefined : disk.at(entry.origin, (at, own) => at.lstat(own));
      return new PlannedHandle({ stats: this.#statsOf(onDisk, { changes: entry, isCopy: entry.isCopy }) });
    }
    return this.#openNew(entry);
  }

  #openNew(entry: Extract<PlannedEntry, { type: "file" | "symlink" }>): PlannedHandle {
    if (entry.type === "symlink") {
      const size = entry.staged.text.length;
      return new PlannedHandle({ stats: statsOfNew({ kind: "symlink", mode: 0o777, size }, this.#base()) });
    }
    const { content, mode, owner } = entry.staged;
    const stats = statsOfNew({ kind: "file", mode, owner, size: entry.size }, this.#base());
    if (!("cloneOf" in content)) return new PlannedHandle({ stats, content });
    return new PlannedHandle({ stats, disk: this.#view.disk.openPath(content.cloneOf.path) });
  }

  lstat(name: Name): Stats {
    if (name !== "." && this.#source.changes?.mode === undefined && this.isOnDisk(name))
      return this.#source.disk!.lstat(name);
    const handle = this.openPath(name);
    try {
      return handle.stats;
    } finally {
      handle.close();
    }
  }

  /** Returns the version of an entry that is on disk, under this name or another. Throws the errno error. */
  version(name: string): EntryVersion | undefined {
    const change = this.change(name);
    if (change === undefined && !this.#source.isCopy) return this.originalVersion(name);
    return change?.entry?.type === "disk" ? change.entry.version : undefined;
  }

  /** Returns the version of the entry at `originOf(name)`. Throws the errno error. */
  originalVersion(name: string): EntryVersion {
    return versionIn(requireThere(this.#source.disk), name);
  }

  identify(name: Name): string {
    const { disk, isCopy } = this.#source;
    const change = name === "." ? undefined : this.#find(name);
    if (change === undefined && (disk !== undefined || name !== ".")) {
      const own = requireThere(disk).identify(name);
      if (!isCopy) return own;
    }
    if (change !== undefined && change.entry === undefined) throw errnoError("ENOENT");
    const origin = originOnDisk(change?.entry);
    if (origin !== undefined) return this.#view.disk.at(origin, (folder, own) => folder.identify(own));
    return `pending:${pathIn(this.path, nameText(name))}`;
  }

  readLink(name: Name): Buffer {
    const change = this.#find(name);
    if (change === undefined) return requireThere(this.#source.disk).readLink(name);
    const { entry } = change;
    if (entry === undefined) throw errnoError("ENOENT");
    if (entry.type === "symlink") return entry.staged.text;
    if (entry.type !== "disk") throw errnoError("EINVAL");
    return this.#view.disk.at(entry.origin, (folder, own) => folder.readLink(own));
  }

  /** Implements `holdsMount` for all folders on disk that are now in it. */
  holdsMount(): boolean | undefined {
    const { disk, changes, isCopy } = this.#source;
    const own = disk === undefined || isCopy ? false : holdsMount(disk);
    if (own !== false || changes === undefined) return own;
    return foldersMovedInto(changes).some((origin) => {
      using folder = this.#view.disk.folder(origin);
      return holdsMount(folder) === true;
    });
  }

  close(): void {
    this.#source.disk?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Returns the path on disk of a changed entry, if it is there. */
const originOnDisk = (entry: PlannedEntry | undefined): string | undefined =>
  entry?.type === "disk" || (entry?.type === "dir" && !entry.isCopy) ? entry.origin : undefined;

/** Returns the paths on disk of the folders that come from elsewhere. */
const foldersMovedInto = (changes: PlannedEntries): string[] =>
  [...changes.changed.values()].flatMap((entry) => {
    if (entry?.type !== "dir") return [];
    const own = originOnDisk(entry);
    return [...(own === undefined ? [] : [own]), ...foldersMovedInto(entry)];
  });

/**
 * Returns the source of the folder that the names lead to, without its folder on disk. Returns `undefined`
 * unless that exists, and if a mode on the way is pending.
 */
function sourceBeneath(
  { changes, disk, origin, isCopy }: Source,
  names: readonly string[],
): Omit<Source, "disk"> | undefined {
  let at = { changes, origin: disk && origin, isCopy };
  for (const [index, name] of names.entries()) {
    if (at.changes?.mode !== undefined) return undefined;
    if (at.changes?.changed.has(name)) {
      const entry = at.changes.changed.get(name);
      if (entry?.type !== "dir") return undefined;
      at = { changes: entry, origin: entry.origin, isCopy: entry.isCopy };
    } else if (at.origin === undefined) return undefined;
    else {
      const rest = names.slice(index).join("/");
      return { changes: undefined, origin: pathIn(at.origin, rest), isCopy: at.isCopy };
    }
  }
  return at.origin === undefined ? undefined : { ...at, origin: at.origin };
}

function requireThere(disk: Folder | undefined): Folder {
  if (disk === undefined) throw errnoError("ENOENT");
  return disk;
}
