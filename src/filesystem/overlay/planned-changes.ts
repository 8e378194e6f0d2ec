import type { Stats } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { EntryVersion, Expected, StagedFile } from "../disk/steps.ts";
import { namesOf, pathIn } from "../jail/backend.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, Jail, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { PlannedCopies } from "./copies.ts";
import { DiskView } from "./disk-view.ts";
import { type DiskEntry, expectedOf, type NewFile, PlannedEntries, type PlannedEntry } from "./entry.ts";
import { PlannedFolder, type PlannedView } from "./folder.ts";
import { PlannedNames } from "./names.ts";
import { StepList } from "./step-list.ts";

/** A place that the jail of a plan has admitted: in a folder of the planned tree. */
export type PlannedPlace = ResolvedPath & { readonly folder: PlannedFolder };

/** The place of an entry in the planned tree. */
export type EntryPlace = Pick<ResolvedPath, "folder" | "name" | "path" | "stats">;

/**
 * The changes so far: the differences from the disk, and the steps that make them. It does not check
 * permissions.
 */
export class PlannedChanges {
  readonly list = new StepList();
  readonly disk: DiskView;
  readonly copies: PlannedCopies;
  readonly #view: PlannedView;
  readonly #root = new PlannedEntries("");
  readonly #jail: Jail;

  constructor(jail: Jail, trial: { readonly isTrial: boolean }) {
    this.#jail = jail;
    this.disk = new DiskView(jail);
    this.copies = new PlannedCopies(this.disk, trial);
    const base = this.disk.at("", (folder) => folder.lstat("."));
    this.#view = { disk: this.disk, base, names: new PlannedNames(jail) };
  }

  /** Returns the base of the planned tree, for a walk of the path `requested`. */
  base(requested: string): PlannedFolder {
    return this.#show(this.#jail.reopenFolder(""), { requested, path: "", changes: this.#root });
  }

  #show(
    disk: Folder,
    {
      isCopy = false,
      origin = "",
      ...shown
    }: Pick<ResolvedPath, "requested" | "path"> & {
      readonly changes: PlannedEntries | undefined;
      readonly origin?: string;
      readonly isCopy?: boolean;
    },
  ): PlannedFolder {
    const device = disk.lstat(".").dev;
    return new PlannedFolder(this.#view, { ...shown, disk, folding: disk.folding, device, origin, isCopy });
  }

  /** Places a new entry at a free name, with the folders that it needs. */
  *place(
    place: ResolvedPath,
    entry: NewFile | Extract<PlannedEntry, { type: "symlink" }> | PlannedEntries,
  ): Steps<void> {
    const folder = yield* this.#makeFolders(place);
    this.list.add({ kind: "place", path: place.path, staged: entry.staged! });
    folder.changed.set(place.name, entry);
  }

  /** Makes the folders that a place needs. Returns the folder that contains it. */
  *#makeFolders({ folder, newFolders }: Pick<ResolvedPath, "folder" | "newFolders">): Steps<PlannedEntries> {
    let at = yield* this.#entriesAt(folder.path);
    let { path } = folder;
    for (const name of newFolders) {
      path = pathIn(path, name);
      const made = newFolder(undefined);
      this.list.add({ kind: "place", path, staged: made.staged! });
      at.changed.set(name, made);
      at = made;
    }
    return at;
  }

  /** Replaces a file or link with a new one. */
  *exchange(
    place: ResolvedPath,
    entry: NewFile | Extract<PlannedEntry, { type: "symlink" }>,
    { seen, revision }: Seen = {},
  ): Steps<void> {
    const { folder, expected } = yield* this.#expected(place, seen);
    const known = withRevision(expected, revision);
    const isEdit = seen !== undefined;
    this.list.add({ kind: "exchange", path: place.path, staged: entry.staged, expected: known, isEdit });
    folder.changed.set(place.name, entry);
  }

  /**
   * Changes the content of a file, which a planned creation then starts with. `seen` is the file's state when
   * it was read.
   */
  *rewrite(place: ResolvedPath, file: Omit<StagedFile, "kind">, { size, ...seen }: Rewritten): Steps<void> {
    const { changed } = yield* this.#entriesAt(place.folder.path);
    const old = changed.get(place.name);
    if (old?.type !== "file") {
      yield* this.exchange(place, { type: "file", staged: { kind: "file", ...file }, size }, seen);
      return;
    }
    const { attributes, owner } = old.staged;
    const staged = { kind: "file", attributes, ...(owner && { owner }), ...file } as const;
    this.#restage(changed, { name: place.name, staged, size });
  }

  #restage(changed: PlannedEntries["changed"], { name, staged, size }: Restaged): void {
    this.list.replace((changed.get(name) as NewFile).staged, staged);
    changed.set(name, { type: "file", staged, size });
  }

  /** Removes an entry, a folder with everything in it. */
  *remove(place: EntryPlace, revision?: string): Steps<void> {
    const { folder, expected } = yield* this.#expected(place);
    const known = withRevision(expected, revision);
    this.list.add({ kind: "set-aside", path: place.path, expected: known });
    folder.changed.set(place.name, undefined);
  }

  /** Removes a folder that must have this digest (`digestOfTree`) when its step runs. */
  *removeTree(place: EntryPlace, digest: string): Steps<void> {
    const { folder, expected } = yield* this.#expected(place);
    this.list.add({ kind: "set-aside", path: place.path, expected, digest });
    folder.changed.set(place.name, undefined);
  }

  /** Gives an entry a free name. */
  *rename(
    source: EntryPlace,
    target: Omit<EntryPlace, "stats"> & Pick<ResolvedPath, "newFolders">,
  ): Steps<void> {
    const { folder, expected, entry } = yield* this.#expected(source);
    const into = yield* this.#makeFolders(target);
    this.list.add({ kind: "rename", from: source.path, to: target.path, expected });
    folder.changed.set(source.name, undefined);
    into.changed.set(target.name, entry);
  }

  /** Places a copy of the entry at `source` at a free name. */
  *copy(source: PlannedPlace, target: ResolvedPath): Steps<void> {
    // A folder created for the copy is not part of it.
    const { entry, steps } = yield* this.copies.copy(source.folder, source.name, {
      path: target.path,
      requested: source.requested,
    });
    const folder = yield* this.#makeFolders(target);
    this.list.addAll(steps);
    folder.changed.set(target.name, entry);
  }

  /** Sets the permission bits of an entry. */
  *setMode(place: ResolvedPath, mode: number): Steps<void> {
    const { folder, expected, entry } = yield* this.#expected(place);
    if (entry.type === "file") {
      const { name } = place;
      this.#restage(folder.changed, { name, staged: { ...entry.staged, mode }, size: entry.size });
      return;
    }
    this.list.add({ kind: "chmod", path: place.path, mode, expected });
    if (entry.type === "dir") entry.mode = mode;
    else folder.changed.set(place.name, { ...(entry as DiskEntry), mode });
  }

  /** Returns the entry of a step, and the state that it must have then. */
  *#expected(place: EntryPlace, seen?: EntryVersion): Steps<EntryInFolder> {
    const folder = yield* this.#entriesAt(place.folder.path);
    const entry = this.#entryIn(folder, place, seen);
    return { folder, entry, expected: expectedOf(entry) };
  }

  #entryIn(folder: PlannedEntries, { name, stats }: EntryPlace, seen?: EntryVersion): PlannedEntry {
    const changed = folder.changed.get(name);
    if (changed !== undefined) {
      if (changed.type === "dir" && changed.staged === undefined)
        changed.version ??= this.disk.version(changed.origin!);
      return changed;
    }
    const origin = pathIn(folder.origin!, name);
    const version = seen ?? this.disk.version(origin);
    // Another program may have replaced it since it was admitted.
    if (Number(version.ino) !== stats!.ino) throw errnoError("ESTALE");
    const entry = entryOnDisk(origin, version, stats!);
    folder.changed.set(name, entry);
    return entry;
  }

  /** Returns the changed entries of the folder at `path`, for further changes. */
  *#entriesAt(path: string): Steps<PlannedEntries> {
    let at = this.#root;
    for (const name of namesOf(path)) {
      let inner = at.changed.get(name);
      if (inner === undefined) {
        inner = new PlannedEntries(pathIn(at.origin!, name));
        at.changed.set(name, inner);
      }
      at = inner as PlannedEntries;
      if (at.isCopy) yield* this.#expand(at);
    }
    return at;
  }

  /** Turns the copy of a folder into copies of its entries, which can be changed. */
  *#expand(copy: PlannedEntries): Steps<void> {
    const { origin = "", staged } = copy;
    if (staged?.kind !== "copy") throw new Error("a part of a copy was changed before it was expanded");
    const { requested } = staged;
    const disk = this.disk.folder(origin);
    const mode = copy.mode ?? disk.lstat(".").mode & 0o777;
    using inside = this.#show(disk, { requested, path: origin, changes: undefined, origin });
    const filled = yield* this.copies.fill(inside, { path: this.list.pathOf(staged), requested, mode });
    this.list.expand(staged, filled);
    copy.becomeNew(filled.staged, mode);
    for (const [name, inner] of filled.entry.changed) copy.changed.set(name, inner);
  }
}

/** The version of a file on disk when it was read, and the revision that it must have, if known. */
interface Seen {
  readonly seen?: EntryVersion | undefined;
  readonly revision?: string | undefined;
}

/** An entry that a step changes, in its folder, and the state that the step must find. */
interface EntryInFolder {
  readonly folder: PlannedEntries;
  readonly entry: PlannedEntry;
  readonly expected: Expected;
}

/** Another content or mode of a file that is not on disk yet. */
interface Restaged {
  readonly name: string;
  readonly staged: StagedFile;
  readonly size: number;
}

interface Rewritten extends Seen {
  readonly size: number;
}

const withRevision = (expected: Expected, revision: string | undefined): Expected =>
  revision === undefined || "staged" in expected ? expected : { ...expected, revision };

/** Returns a folder that is not on disk yet; without a mode it gets the one that the umask leaves. */
export function newFolder(mode: number | undefined): PlannedEntries {
  const made = new PlannedEntries(undefined);
  made.staged = { kind: "dir", mode };
  made.mode = mode;
  return made;
}

function entryOnDisk(origin: string, version: EntryVersion, stats: Stats): DiskEntry | PlannedEntries {
  if (!stats.isDirectory()) {
    const kind = (kindOf(stats) ?? "other") as DiskEntry["kind"];
    return { type: "disk", kind, origin, version };
  }
  const entries = new PlannedEntries(origin);
  entries.version = version;
  return entries;
}
