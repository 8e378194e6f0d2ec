import { closeSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import {
  createTimeSlice,
  createTurnSlice,
  runInSlices,
  type Steps,
} from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import { splitLast } from "../disk/hold-folder.ts";
import type { Requester } from "../disk/mutation.ts";
import type { Step } from "../disk/steps.ts";
import { hashAhead, isLarge } from "../files/revision.ts";
import { digestOfTree } from "../files/tree-digest.ts";
import { pathIn } from "../jail/backend.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, Jail, ResolvedPath } from "../jail/folder.ts";
import { entryIdentityOf } from "../jail/inode.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { temporaryName } from "../jail/temporary.ts";
import { admitPermitted } from "../operations/change-mode.ts";
import { requireTreeCopyable } from "../operations/copy-tree.ts";
import { quickRevisionOfPlace } from "../operations/expected-revision.ts";
import { refuseMove } from "../operations/move-errors.ts";
import { type Admitted, admitAll, type WriteTarget } from "../operations/path-lock.ts";
import { requireWritableFolder } from "../operations/require-writable.ts";
import type {
  EntryCopy,
  EntryPlacement,
  EntryReplacement,
  FileToMake,
  ModeStep,
  Relocation,
  SettingAside,
  WritableTree,
} from "../operations/writable-tree.ts";
import type { NewFile, NewLink, PlannedEntries } from "./entry.ts";
import type { PlannedFolder } from "./folder.ts";
import { refusePlan } from "./plan-errors.ts";
import { newFolder, PlannedChanges, type PlannedPlace } from "./planned-changes.ts";
import { PlannedReads, type Reads } from "./reads.ts";
import { requireOwner } from "./stats.ts";

interface PlanOptions {
  /** Maximum total bytes of the created and edited files. */
  readonly maxBytes: number;
  /** Whether to remember the entries that the plan is made from. Default: false. */
  readonly remembersReads?: boolean;
  /** Whether nothing will carry the plan out. Default: false. */
  readonly isTrial?: boolean;
}

/** The slice of the admissions of all plans in one turn, since each may walk a long path and hash a file. */
const admitting = createTurnSlice();

/** The state of a path, without following links. */
export type EntryState =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly revision: string | undefined;
      /** Present for a large file on disk: see `entryIdentityOf`. */
      readonly identity?: string | undefined;
    }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number }
  | { readonly kind: "other"; readonly identity?: string | undefined };

/**
 * The tree in the state that the changes so far would leave: an overlay over the disk. Its steps change
 * nothing. They are collected for a later commit, and show in the overlay.
 */
export class PlannedTree implements WritableTree {
  readonly jail: Jail;
  readonly config: Disk["config"];
  readonly isPlanned = true;
  readonly isTrial: boolean;
  readonly #changes: PlannedChanges;
  readonly #keys = new Set<string>();
  readonly #maxBytes: number;
  readonly #reads: PlannedReads | undefined;
  #bytes = 0;

  constructor({ jail, config }: Pick<Disk, "jail" | "config">, options: PlanOptions) {
    const { maxBytes, remembersReads = false, isTrial = false } = options;
    this.isTrial = isTrial;
    this.#maxBytes = maxBytes;
    this.#reads = remembersReads ? new PlannedReads(config) : undefined;
    this.#changes = new PlannedChanges(jail, { isTrial });
    this.config = config;
    const over = jail.over(this.#changes);
    this.jail = {
      ...over,
      admit: (path, admitting) => this.#remember(over.admit(path, admitting)),
      resolveForRead: (path) => this.#remember(over.admit(path)),
    };
  }

  /** Returns the steps of all changes so far. */
  get steps(): readonly Step[] {
    return this.#changes.list.steps;
  }

  /** Returns the keys of the queues of all paths that were admitted. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** Returns the entries that the plan is made from, if they are remembered. */
  get reads(): Reads {
    return this.#reads?.seen ?? new Map();
  }

  /** Sets the index of the change that is being made. */
  set change(index: number) {
    this.#changes.list.change = index;
    this.#changes.copies.begin();
  }

  #remember(place: ResolvedPath): ResolvedPath {
    this.#keys.add(this.jail.fold(place));
    this.#reads?.add(place as PlannedPlace);
    return place;
  }

  async admit<const Targets extends readonly WriteTarget[]>(targets: Targets): Promise<Admitted<Targets>> {
    if (admitting.isDue) await admitting.yieldIfDue();
    return admitAll(this.jail, targets);
  }

  holdsMount(folder: Folder): boolean | undefined {
    return (folder as PlannedFolder).holdsMount();
  }

  async place({ place, made }: EntryPlacement, requester: Requester): Promise<void> {
    if (made.kind === "copy") {
      await this.#reads?.addTree(made.source as PlannedPlace, requester);
      await takeSteps(this.#changes.copy(made.source as PlannedPlace, place), requester);
    } else await takeSteps(this.#changes.place(place, this.#entryOf(made)), requester);
  }

  #entryOf(made: Exclude<EntryPlacement["made"], EntryCopy>): NewFile | NewLink | PlannedEntries {
    if (made.kind === "dir") return newFolder(made.mode);
    if (made.kind === "symlink") return { type: "symlink", staged: made };
    return { type: "file", staged: made, size: this.#takeBytes(made) };
  }

  async exchange({ place, made, expected }: EntryReplacement, requester: Requester): Promise<void> {
    // Read once, since each access hashes the content.
    const version = expected?.version;
    const seen = { seen: version, revision: expected?.revision };
    if (made.kind === "copy") {
      const source = made.source as PlannedPlace;
      await this.#reads?.addTree(source, requester);
      const entry = this.#changes.copies.copyLeaf(source.folder, source.name);
      await takeSteps(this.#changes.exchange(place, entry), requester);
    } else if (made.kind === "symlink") {
      await takeSteps(this.#changes.exchange(place, { type: "symlink", staged: made }, seen), requester);
    } else {
      const size = this.#takeBytes(made);
      // Unchanged pieces of a file that was read are views of memory that is reused.
      const content = version === undefined ? made.content : [Buffer.concat(made.content)];
      await takeSteps(this.#changes.rewrite(place, { ...made, content }, { size, ...seen }), requester);
    }
  }

  async setAside({ place, expectedRevision }: SettingAside, requester: Requester): Promise<void> {
    await this.#reads?.addTree(place as PlannedPlace, requester);
    await takeSteps(this.#changes.remove(place, expectedRevision), requester);
  }

  async rename({ relation, ...ends }: Relocation, requester: Requester): Promise<void> {
    const source = ends.source as PlannedPlace;
    const target = ends.target as PlannedPlace;
    if (admitting.isDue) await admitting.yieldIfDue();
    await this.#reads?.addTree(source, requester);
    if (relation === "respelled") await takeSteps(this.#respell(source, target), requester);
    else if (relation === "linked") await takeSteps(this.#changes.remove(source), requester);
    else if (this.#isToOtherRoot(source, target) && source.stats!.isDirectory())
      await this.#moveTreeAcross(source, target, requester);
    else if (this.#isCrossing(source, target)) await takeSteps(this.#moveAcross(source, target), requester);
    else {
      if (target.stats !== undefined) await takeSteps(this.#changes.remove(target), requester);
      await takeSteps(this.#changes.rename(source, target), requester);
    }
  }

  /** Sets the mode of one entry, without the tree below it. */
  async setPermissions({ place, mode }: ModeStep, requester: Requester): Promise<number> {
    requireOwner(place.stats!);
    await takeSteps(this.#changes.setMode(place, mode), requester);
    return 1;
  }

  /** Counts the bytes of a new file, and returns them. Throws too-large if their total exceeds the limit. */
  #takeBytes({ content }: FileToMake): number {
    const size = content.reduce((sum, { length }) => sum + length, 0);
    this.#bytes += size;
    if (this.#bytes > this.#maxBytes) throw refusePlan.tooMuch(this.#maxBytes);
    return size;
  }

  /** Renames in two steps, because the file system takes the two spellings for one. */
  *#respell(source: PlannedPlace, target: PlannedPlace): Steps<void> {
    const { folder, stats } = source;
    const name = temporaryName();
    const third = { folder, name, path: pathIn(folder.path, name), stats, newFolders: [] };
    yield* this.#changes.rename(source, third);
    const path = pathIn(target.folder.path, target.sentName);
    const free = { folder: target.folder, name: target.sentName, path, newFolders: [] };
    yield* this.#changes.rename(third, free);
  }

  #isToOtherRoot(source: PlannedPlace, target: PlannedPlace): boolean {
    return this.jail.rootOf(source.path) !== this.jail.rootOf(target.path);
  }

  /**
   * Returns whether a move cannot be a rename, which works neither across file systems nor between folders
   * that cannot be held at once.
   */
  #isCrossing(source: PlannedPlace, target: PlannedPlace): boolean {
    return (
      this.#isToOtherRoot(source, target) ||
      source.folder.device !== target.folder.device ||
      (this.jail.backend === "current-directory" &&
        (source.folder.path !== target.folder.path || target.newFolders.length > 0))
    );
  }

  /** Copies a file or a link, and removes the old one. */
  *#moveAcross(source: PlannedPlace, target: PlannedPlace): Steps<void> {
    const { stats, folder, name, requested } = source;
    const isOneFolder = folder.device === target.folder.device;
    if (!stats!.isFile() && !stats!.isSymbolicLink())
      throw refuseMove.cannotCross(requested, isOneFolder ? "folder" : "file system");
    const { copies } = this.#changes;
    const entry = stats!.isFile()
      ? copies.copyFile(folder, name, { keepsTimes: true })
      : copies.copyLeaf(folder, name);
    if (target.stats === undefined) yield* this.#changes.place(target, entry);
    else yield* this.#changes.exchange(target, entry);
    yield* this.#changes.remove(source);
  }

  /** Copies a folder, and removes the old one if it has not changed. */
  async #moveTreeAcross(source: PlannedPlace, target: PlannedPlace, requester: Requester): Promise<void> {
    const { folder, name, requested } = source;
    if (this.isTrial) {
      await requireTreeCopyable(this, requested, { source, target, requester });
      await takeSteps(this.#changes.copy(source, target), requester);
      await takeSteps(this.#changes.remove(source), requester);
      return;
    }
    // Its contents will be those that earlier changes leave, which the current digest cannot match.
    if (!folder.isOnDisk(name)) throw refuseMove.changedInTransaction(requested);
    await requireTreeCopyable(this, requested, { source, target, requester });
    const { outer, name: origin } = splitLast(folder.originOf(name));
    using onDisk = this.#changes.disk.folder(outer);
    const digest = await digestOfTree({ folder: onDisk, name: origin }, requester);
    await takeSteps(this.#changes.copy(source, target), requester);
    await takeSteps(this.#changes.removeTree(source, digest), requester);
  }

  /**
   * Sets the mode of a file or folder under this path alone. A file with other names, which may be where no
   * call reaches, is replaced by a copy with that mode. Returns whether the mode was another. Throws
   * wrong-kind for anything else.
   */
  async changeOwnMode(path: string, mode: number): Promise<boolean> {
    try {
      using place = admitPermitted(this.jail, { path, recursive: false }) as PlannedPlace;
      const stats = place.stats!;
      requireOwner(stats);
      if ((stats.mode & 0o7777) === mode && !stats.isSymbolicLink()) return false;
      if (stats.isDirectory() || (stats.isFile() && stats.nlink === 1)) {
        await takeSteps(this.#changes.setMode(place, mode));
        return true;
      }
      if (!stats.isFile()) throw refuse.notAFile(path);
      const limit = { key: "max_write_bytes", bytes: this.config.max_write_bytes };
      if (stats.size > limit.bytes)
        throw refuse.tooLarge(path, limit, "leave its mode as it is, or ask the user to raise the limit");
      requireWritableFolder(place.folder, path);
      const copy = this.#changes.copies.copyFile(place.folder, place.name, { keepsTimes: true });
      await takeSteps(this.#changes.exchange(place, { ...copy, staged: { ...copy.staged, mode } }));
      return true;
    } catch (error) {
      throw refusalOfErrno(error, path);
    }
  }

  /**
   * Returns the kind of entry at a path, or at the end of the link there. Throws the jail's errors, including
   * for a missing entry.
   */
  kindAt(path: string): EntryKind | undefined {
    using place = this.jail.admit(path);
    return kindOf(place.stats!);
  }

  /** Returns the state of a path of the journal. Throws the jail's errors, except for a missing entry. */
  state(path: string): EntryState {
    using place = this.#admitState(path);
    return stateAt(place);
  }

  /** Like `state`, but hashes a large file on disk in slices, unless it has the identity `unhashed`. */
  stateInSlices(path: string, unhashed?: string): EntryState | Promise<EntryState> {
    using place = this.#admitState(path);
    const { stats, content } = place;
    const isHashedAhead = stats?.isFile() === true && isLarge(stats) && content === undefined;
    if (!isHashedAhead) return stateAt(place);
    const identity = identityAt(place);
    return identity !== undefined && identity === unhashed
      ? { kind: "file", mode: stats.mode & 0o7777, revision: undefined, identity }
      : this.#stateAfterHashing(path);
  }

  async #stateAfterHashing(path: string): Promise<EntryState> {
    using place = this.#admitState(path);
    const read = <T>(use: (descriptor: number) => T) => {
      const descriptor = mapErrno(path, () => place.open());
      try {
        return use(descriptor);
      } finally {
        closeSync(descriptor);
      }
    };
    if (place.stats?.isFile() && place.content === undefined) await hashAhead(read, createTimeSlice());
    return this.state(path);
  }

  #admitState(path: string): ResolvedPath {
    return this.jail.admit(path, { lastLink: "bare", mayBeMissing: true, parents: true, isRecorded: true });
  }
}

/**
 * Makes a change: at once, or in time slices if it needs the entries of a copied folder. Throws the errors of
 * making it.
 */
function takeSteps(steps: Steps<void>, requester?: Requester): Promise<void> | undefined {
  if (steps.next().done) return undefined;
  return runInSlices(steps, createTimeSlice(), () => requester?.deadline.check());
}

const absent = { kind: "absent" } as const;

function stateAt(place: ResolvedPath): EntryState {
  const { stats, folder, name, requested } = place;
  if (stats === undefined) return absent;
  const mode = stats.mode & 0o7777;
  if (stats.isDirectory()) return { kind: "dir", mode };
  if (stats.isSymbolicLink())
    return { kind: "symlink", text: mapErrno(requested, () => folder.readLink(name)) };
  if (!stats.isFile()) return { kind: "other", identity: identityAt(place) };
  const identity = isLarge(stats) ? identityAt(place) : undefined;
  return {
    kind: "file",
    mode,
    revision: quickRevisionOfPlace(place),
    ...(identity !== undefined && { identity }),
  };
}

/** Returns the identity of an entry that is on disk, under any name. */
function identityAt({ folder, name, requested }: ResolvedPath): string | undefined {
  const version = mapErrno(requested, () => (folder as PlannedFolder).version(name));
  return version && entryIdentityOf(version);
}
