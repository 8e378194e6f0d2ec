/** Copies entries in a planned tree. */
import { closeSync, type Stats } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { StagedFolder } from "../disk/steps.ts";
import { readFewEntries } from "../files/entries.ts";
import { type Attributes, readAttributes } from "../jail/attributes.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoError } from "../jail/errno.ts";
import type { PathHandle } from "../jail/folder.ts";
import { isTemporary } from "../jail/temporary.ts";
import { refuseMove } from "../operations/move-errors.ts";
import type { DiskView } from "./disk-view.ts";
import { type NewFile, type NewLink, PlannedEntries } from "./entry.ts";
import type { PlannedFolder } from "./folder.ts";
import { refusePlan } from "./plan-errors.ts";
import type { NewStep } from "./step-list.ts";

/** A future entry, and the steps that make it. */
export interface Copied {
  readonly entry: NewFile | NewLink | PlannedEntries;
  readonly steps: readonly NewStep[];
}

/** The place of the copy, and the path of its source as the caller sent it. */
interface Destination {
  readonly path: string;
  readonly requested: string;
}

/** Maximum number of entries that one change copies one by one, or that all changes of a trial do. */
const maxEntries = { ofChange: 2000, ofTrial: 100_000 } as const;

/** Makes copies of entries in the state that the changes so far would leave. */
export class PlannedCopies {
  readonly #disk: DiskView;
  readonly #maxEntries: number;
  #entries = 0;

  constructor(disk: DiskView, { isTrial }: { readonly isTrial: boolean }) {
    this.#disk = disk;
    this.#maxEntries = isTrial ? maxEntries.ofTrial : maxEntries.ofChange;
  }

  /** Returns a copy of an entry, a folder with everything in it. Throws the errno error. */
  *copy(folder: PlannedFolder, name: string, to: Destination): Steps<Copied> {
    const stats = folder.lstat(name);
    if (stats.isDirectory()) return yield* this.#copyFolder(folder, name, { ...to, stats });
    const entry = stats.isSymbolicLink() ? this.#copyLink(folder, name) : this.copyFile(folder, name);
    return { entry, steps: [{ kind: "place", path: to.path, staged: entry.staged }] };
  }

  /** Returns a copy of a file or link, for a step of the caller's choice. */
  copyLeaf(folder: PlannedFolder, name: string): NewFile | NewLink {
    return folder.lstat(name).isSymbolicLink() ? this.#copyLink(folder, name) : this.copyFile(folder, name);
  }

  /** Begins to count the entries of a change. */
  begin(): void {
    this.#entries = 0;
  }

  /** Returns a copy of a folder, which is placed empty and then filled by steps. */
  *fill(
    inside: PlannedFolder,
    { path, requested, mode }: Destination & { readonly mode: number },
  ): Steps<Filled> {
    const staged: StagedFolder = { kind: "dir", mode: mode | 0o700 };
    const entry = new PlannedEntries(undefined);
    entry.becomeNew(staged, mode);
    const steps: NewStep[] = [];
    const few = readFewEntries(inside, { most: this.#maxEntries - this.#entries, isLeftOut: isTemporary });
    if (few === undefined) throw refusePlan.manyEntries(requested, this.#maxEntries);
    this.#entries += few.length;
    for (const { raw, kind } of few) {
      if (typeof raw !== "string") throw errnoError("EILSEQ");
      if (kind === "other") throw refuseMove.holdsSpecialFile(requested);
      const copied = yield* this.copy(inside, raw, { path: pathIn(path, raw), requested });
      entry.changed.set(raw, copied.entry);
      for (const step of copied.steps) steps.push(step);
      yield;
    }
    // The folder must be filled before its mode denies access.
    if (staged.mode !== mode) steps.push({ kind: "chmod", path, mode, expected: { staged } });
    return { staged, entry, steps };
  }

  *#copyFolder(
    folder: PlannedFolder,
    name: string,
    to: Destination & { readonly stats: Stats },
  ): Steps<Copied> {
    const change = folder.change(name)?.entry as PlannedEntries | undefined;
    const origin = change === undefined ? folder.originOf(name) : change.origin;
    const mode = to.stats.mode & 0o777;
    if (origin === undefined || (change !== undefined && change.changed.size > 0)) {
      using inside = folder.child(name);
      const { staged, entry, steps } = yield* this.fill(inside, { ...to, mode });
      return { entry, steps: [{ kind: "place", path: to.path, staged }, ...steps] };
    }
    const staged = {
      kind: "copy",
      of: {
        path: origin,
        expected: change === undefined ? folder.originalVersion(name) : this.#disk.version(origin),
      },
      requested: to.requested,
    } as const;
    const entry = new PlannedEntries(origin);
    entry.becomeCopy(staged, change?.mode);
    const place = { kind: "place", path: to.path, staged } as const;
    if (change?.mode === undefined) return { entry, steps: [place] };
    return { entry, steps: [place, { kind: "chmod", path: to.path, mode, expected: { staged } }] };
  }

  #copyLink(folder: PlannedFolder, name: string): NewLink {
    return { type: "symlink", staged: { kind: "symlink", text: folder.readLink(name) } };
  }

  /** Returns a copy of a file, with its times if required. */
  copyFile(folder: PlannedFolder, name: string, { keepsTimes = false } = {}): NewFile {
    const entry = folder.change(name)?.entry;
    const handle = folder.openPath(name);
    try {
      const { stats } = handle;
      const { mode, uid, gid, atime, mtime } = stats;
      const times = keepsTimes ? { times: { atime, mtime } } : {};
      if (entry?.type === "file") {
        const staged = { ...entry.staged, mode: mode & 0o777, ...times };
        return { ...entry, staged };
      }
      const path = entry?.type === "disk" ? entry.origin : folder.originOf(name);
      const expected = entry?.type === "disk" ? entry.version : folder.originalVersion(name);
      const staged = {
        kind: "file",
        content: { cloneOf: { path, expected } },
        mode: mode & 0o777,
        owner: { uid, gid },
        attributes: attributesOf(handle),
        ...times,
      } as const;
      return { type: "file", staged, size: stats.size };
    } finally {
      handle.close();
    }
  }
}

/** A future folder, before it is filled. */
interface Filled {
  readonly staged: StagedFolder;
  readonly entry: PlannedEntries;
  readonly steps: readonly NewStep[];
}

/** Throws the errno error of a file that may not be read. */
function attributesOf(handle: Pick<PathHandle, "open">): Attributes | undefined {
  const descriptor = handle.open();
  try {
    return readAttributes(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
