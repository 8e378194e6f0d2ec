/**
 * Files that a program may change, held before it starts. Its changes to them become a checkpoint of the
 * journal, which can be undone like that of a call.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import {
  createTimeSlice,
  runInSlices,
  type Steps,
  type TimeSlice,
} from "../../base/scheduling/time-slice.ts";
import { createWalkSlice, type Walker } from "../../base/scheduling/walk-slice.ts";
import { contentFrom, entriesAt, noContent } from "../disk/held-entry.ts";
import type { Owner } from "../disk/metadata.ts";
import type { HeldEntry, Mutation, Requester } from "../disk/mutation.ts";
import { revisionInSteps } from "../files/revision.ts";
import { walkTree } from "../files/tree-walk.ts";
import type { Entry } from "../files/types.ts";
import { pathIn } from "../jail/backend.ts";
import { type Folder, isTextIn, type Jail, type Name } from "../jail/folder.ts";
import type { NameBytes } from "../jail/name.ts";
import { isGone, makerOf, temporaryName } from "../jail/temporary.ts";
import type { Journal } from "./journal.ts";
import { readRecords } from "./read-record.ts";
import { copyToNew } from "./segments.ts";

/** Maximum files and bytes held for one command. */
const snapshotBounds = { files: 10_000, bytes: 64 * 1024 * 1024 };

/** A change that cannot be undone, and the reason. */
export interface LostChange {
  readonly path: string;
  readonly reason: string;
}

/** The changes of a command to the held files. */
export interface SnapshotOutcome {
  /** `undefined` if nothing was recorded. */
  readonly checkpoint: number | undefined;
  /** The files and links that the checkpoint restores. */
  readonly recorded: ReadonlySet<string>;
  readonly lost: readonly LostChange[];
  /** Whether the selected files were held. Otherwise `lost` says why, for all of them. */
  readonly hasHeld: boolean;
}

/** The reason for holding none of the selected files. */
export interface Overflow {
  /** Maximum files that are held. */
  readonly limit: number;
}

/** The files to hold, selected by folders, whose paths start at the base. */
export interface FileSelection {
  takesFile(path: string, name: NameBytes): boolean;
  entersFolder(path: string, name: NameBytes): boolean;
}

interface SnapshotOptions {
  readonly selection: FileSelection;
  readonly jail: Jail;
  readonly journal: Journal;
  /** Maximum files and bytes. Default: `snapshotBounds`. */
  readonly bounds?: typeof snapshotBounds;
}

/** A file or link before the command. */
interface Held {
  readonly kind: "file" | "symlink";
  readonly stamp: Stamp;
  readonly text: Buffer;
  /** The host path of its copy; `undefined` without room for one. */
  readonly copy: string | undefined;
}

/** A selected file or link that a walk found. */
interface Found {
  readonly folder: Folder;
  readonly name: Name;
  readonly path: string;
  readonly kind: "file" | "symlink";
}

const heldFolder = "held";

/** The milliseconds within which two changes of a file may get the same time. */
const settlingMs = 50;

/** Maximum milliseconds for finding a command's changes, which its own deadline does not limit. */
const recordingMs = 60_000;

export class FilesSnapshot {
  readonly #options: SnapshotOptions;
  readonly #location: string;
  readonly #startedAt = performance.timeOrigin + performance.now();
  readonly #files = new Map<string, Held>();
  /** The modes of the folders that were searched. */
  readonly #folders = new Map<string, number>();
  /** The folders that contain an entry that is neither selected nor a searched folder. */
  readonly #mixed = new FoldersAbove();
  #bytes = 0;
  #isOverfull = false;

  private constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#location = options.journal.state.path(heldFolder, temporaryName(), "0").slice(0, -2);
  }

  /** Holds the selected files. Throws the errno error of the folder that keeps them. */
  static async take(options: SnapshotOptions, walker: Walker): Promise<FilesSnapshot> {
    await runInSlices(sweep(options.journal.state.find(heldFolder)), createTimeSlice());
    const snapshot = new FilesSnapshot(options);
    try {
      await walkSelected(options, walker, {
        onFile: (found) => snapshot.#hold(found),
        onFolder: ({ folder, name, path }) => snapshot.#folders.set(path, folder.lstat(name).mode & 0o7777),
        onOther: (path) => snapshot.#mixed.add(path),
      });
      if (snapshot.#isOverfull) await snapshot.#drop();
      return snapshot;
    } catch (error) {
      await snapshot.#drop();
      throw error;
    }
  }

  /** Records the changes of the held files as a checkpoint of the requester, and drops the copies. */
  async record(requester: Requester): Promise<SnapshotOutcome> {
    try {
      const { overflow } = this;
      if (overflow !== undefined) {
        const lost = [tooMany(overflow.limit)];
        return { checkpoint: undefined, recorded: new Set(), lost, hasHeld: false };
      }
      const walker = { deadline: deadlineIn(recordingMs), caller: requester.caller };
      return await new Recording(this.#options, { ...this.#held, requester }).run(walker);
    } finally {
      await this.#drop();
    }
  }

  async #drop(): Promise<void> {
    if (existsSync(this.#location)) await runInSlices(removeCopies(this.#location), createTimeSlice());
  }

  /** `undefined` unless the selection has too many files. */
  get overflow(): Overflow | undefined {
    return this.#isOverfull ? { limit: this.#bounds.files } : undefined;
  }

  get #bounds(): typeof snapshotBounds {
    return this.#options.bounds ?? snapshotBounds;
  }

  get #held(): HeldFiles {
    return {
      files: this.#files,
      folders: this.#folders,
      mixed: this.#mixed,
      startedAt: this.#startedAt,
    };
  }

  async #hold({ folder, name, path, kind }: Found): Promise<void> {
    if (this.#files.size >= this.#bounds.files) this.#isOverfull = true;
    if (this.#isOverfull) return;
    const stamp = stampOf(folder, name);
    if (stamp === undefined) return;
    const text = kind === "symlink" ? folder.enter((at) => readlinkSync(at(name), "buffer")) : noText;
    const copy = kind === "file" ? await this.#copy(folder, name, stamp) : undefined;
    this.#files.set(path, { kind, stamp, text, copy });
  }

  /** Copies a file in slices, sharing its blocks if possible. Returns the host path of the copy. */
  async #copy(folder: Folder, name: Name, { size }: Stamp): Promise<string | undefined> {
    if (this.#bytes + size > this.#bounds.bytes) return undefined;
    const from = folder.enter((at) => openSync(at(name), readFlags));
    try {
      if (!fstatSync(from).isFile()) return undefined;
      const path = `${this.#location}/${this.#files.size}`;
      await runInSlices(copyToNew(from, path), createTimeSlice());
      this.#bytes += lstatSync(path).size;
      return path;
    } catch {
      return undefined;
    } finally {
      closeSync(from);
    }
  }
}

const noText = Buffer.alloc(0);
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const tooMany = (files: number): LostChange => ({
  path: "",
  reason: `snapshot names more than ${files} files, so none was held; name fewer`,
});

/** Removes a folder of copies. */
export function* removeCopies(location: string): Steps<void> {
  for (const name of readdirSync(location)) {
    unlinkSync(`${location}/${name}`);
    yield;
  }
  rmdirSync(location);
}

/** Removes the copies of killed processes. */
function* sweep(location: string | undefined): Steps<void> {
  if (location === undefined) return;
  try {
    for (const name of readdirSync(location)) {
      const maker = makerOf(name);
      if (maker !== undefined && isGone(maker)) yield* removeCopies(`${location}/${name}`);
    }
  } catch {
    // Another worker may sweep too.
  }
}

/** The folders above some paths. */
class FoldersAbove {
  readonly #paths = new Set<string>();

  add(path: string): void {
    for (let above = outerOf(path); above !== "" && !this.#paths.has(above); above = outerOf(above))
      this.#paths.add(above);
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }
}

interface Selecting {
  onFile(found: Found): void | Promise<void>;
  /** Receives each folder that is searched. */
  onFolder(found: Pick<Found, "folder" | "name" | "path">): void;
  /** Receives the path of everything else. */
  onOther(path: string): void;
}

/** Reports the selected files and links that calls may change. */
async function walkSelected(
  { jail, selection }: SnapshotOptions,
  walker: Walker,
  { onFile, onFolder, onOther }: Selecting,
): Promise<void> {
  using slice = createWalkSlice(walker);
  const bytesOf = ({ name }: Entry) => {
    const bytes = Buffer.from(name);
    return { bytes, from: 0, to: bytes.length };
  };
  const isOpenTo = (folder: Folder, { name }: Entry) =>
    !jail.isTemporary(name) && !jail.deniesIn(folder, name) && !jail.deniesWritingIn(folder, name);
  const entersFolder = (folder: Folder, entry: Entry) =>
    isOpenTo(folder, entry) && selection.entersFolder(folder.path, bytesOf(entry));
  const visitor = {
    async preorder({ folder, entry }: { readonly folder: Folder; readonly entry: Entry }) {
      const { name, raw, kind } = entry;
      const path = pathIn(folder.path, name);
      if (kind === "dir") {
        if (entersFolder(folder, entry)) onFolder({ folder, name: raw, path });
        else onOther(path);
      } else if (
        (kind === "file" || kind === "symlink") &&
        isTextIn(folder, raw) &&
        isOpenTo(folder, entry) &&
        selection.takesFile(folder.path, bytesOf(entry))
      )
        await onFile({ folder, name: raw, path, kind });
      else onOther(path);
      return undefined;
    },
    open: ({ folder, entry }: { readonly folder: Folder; readonly entry: Entry }) =>
      entry.kind === "dir" && entersFolder(folder, entry) ? folder.child(entry.raw) : undefined,
    onUnreadable() {},
  };
  for (const { name, isReadOnly } of jail.roots) {
    if (isReadOnly) continue;
    using root = jail.reopenFolder(jail.hasTop ? name : "");
    await walkTree({ slice, deadline: walker.deadline, visitor }, root);
  }
}

interface Stamp {
  readonly mode: number;
  readonly owner: Owner;
  readonly size: number;
  /** The facts that change with the content. */
  readonly facts: string;
  /** Whether each later change alters them. */
  readonly isSettled: boolean;
}

/** Returns the facts that change with a file; `undefined` if it is gone. */
function stampOf(folder: Folder, name: Name): Stamp | undefined {
  const options = { bigint: true, throwIfNoEntry: false } as const;
  const stats = folder.enter((at) => lstatSync(at(name), options));
  if (stats === undefined) return undefined;
  const { dev, ino, size, mode, uid, gid, mtimeNs, ctimeNs, ctimeMs } = stats;
  return {
    mode: Number(mode) & 0o7777,
    owner: { uid: Number(uid), gid: Number(gid) },
    size: Number(size),
    facts: [dev, ino, size, mode, mtimeNs, ctimeNs].join(" "),
    isSettled: Date.now() - Number(ctimeMs) > settlingMs,
  };
}

interface HeldFiles {
  readonly files: ReadonlyMap<string, Held>;
  readonly folders: ReadonlyMap<string, number>;
  readonly mixed: FoldersAbove;
  /** The time at which they were held, in milliseconds since 1970. */
  readonly startedAt: number;
}

type WrittenKind = "remove" | "make-folder" | "replace" | "create";

/** Compares the held files with the current ones, and writes the differences into the journal. */
class Recording {
  readonly #options: SnapshotOptions;
  readonly #held: HeldFiles;
  readonly #requester: Requester;
  readonly #unseen: Set<string>;
  readonly #modified: string[] = [];
  readonly #created: string[] = [];
  /** The files whose stamps differ from the held ones, and that have to be read. */
  readonly #doubtful: string[] = [];
  readonly #folders = new Set<string>();
  readonly #mixed = new FoldersAbove();
  readonly #recorded = new Set<string>();
  readonly #lost: LostChange[] = [];

  constructor(
    options: SnapshotOptions,
    { requester, ...held }: HeldFiles & { readonly requester: Requester },
  ) {
    this.#options = options;
    this.#held = held;
    this.#requester = requester;
    this.#unseen = new Set(held.files.keys());
  }

  async run(walker: Walker): Promise<SnapshotOutcome> {
    await walkSelected(this.#options, walker, {
      onFile: (found) => this.#compare(found),
      onFolder: ({ path }) => this.#folders.add(path),
      onOther: (path) => this.#mixed.add(path),
    });
    using slice = createWalkSlice(walker);
    for (const path of this.#doubtful) {
      await this.#compareContents(path, slice);
      await slice.yieldIfDue();
    }
    const changed = this.#unseen.size + this.#modified.length + this.#created.length;
    const others = changed === 0 ? undefined : await this.#changesOfCalls(walker);
    const isOwn = (path: string) => {
      const seq = others?.seqOf(path);
      if (seq !== undefined) this.#lost.push({ path, reason: `#${seq} has changed it too` });
      return seq === undefined;
    };
    const write = async (kind: WrittenKind, paths: Iterable<string>, takes = (_: string) => true) => {
      for (const path of paths) {
        if (takes(path)) await this.#write(kind, path);
        await slice.yieldIfDue();
      }
    };
    const after = { unseen: this.#unseen, folders: this.#folders, mixed: this.#mixed };
    // An undo reverts these in reverse order.
    await write("remove", this.#unseen, isOwn);
    await write("remove", await runInSlices(removedFolders(this.#held, after), slice));
    await write("make-folder", await runInSlices(madeFolders(this.#held, after), slice));
    await write("replace", this.#modified, isOwn);
    await write("create", this.#created, isOwn);
    const checkpoint = this.#options.journal.checkpointOf(this.#requester);
    return { checkpoint, recorded: this.#recorded, lost: this.#lost, hasHeld: true };
  }

  #compare({ folder, name, path }: Found): void {
    const before = this.#held.files.get(path);
    if (before === undefined) {
      this.#created.push(path);
      return;
    }
    this.#unseen.delete(path);
    const { stamp, copy } = before;
    if (stamp.facts === stampOf(folder, name)?.facts && (stamp.isSettled || copy === undefined)) return;
    this.#doubtful.push(path);
  }

  async #compareContents(path: string, slice: TimeSlice): Promise<void> {
    using folder = reopen(this.#options.jail, outerOf(path));
    const now = folder && entriesAt({ folder, name: nameOf(path) }).replaced();
    if (now === undefined) this.#unseen.add(path);
    else if (!(await runInSlices(isSame(this.#held.files.get(path)!, now), slice))) this.#modified.push(path);
  }

  async #write(kind: WrittenKind, path: string): Promise<void> {
    const { journal, jail } = this.#options;
    const before = this.#held.files.get(path);
    const mode = this.#held.folders.get(path);
    if (before !== undefined && before.kind === "file" && before.copy === undefined) {
      const { bytes } = this.#options.bounds ?? snapshotBounds;
      this.#lost.push({ path, reason: `not held, which takes ${bytes / 2 ** 20} MiB at most` });
      return;
    }
    const losses = journal.lossesOf(this.#requester);
    using folder = kind === "remove" ? undefined : reopen(jail, outerOf(path));
    if (kind !== "remove" && folder === undefined) return;
    const placed = () =>
      folder === undefined ? undefined : entriesAt({ folder, name: nameOf(path) }).replaced();
    const replaced = () => (before ? heldEntry(before) : mode === undefined ? undefined : folderOf(mode));
    const entry = before?.kind ?? (kind === "make-folder" || mode !== undefined ? "dir" : "file");
    const entries = { replaced, ...(kind !== "remove" && kind !== "make-folder" && { placed }) };
    // The step will meet and report any error.
    await journal.readAhead(entries, this.#requester).catch(() => {});
    journal.before({ ...plainMutation, kind, path, entry, entries, requester: this.#requester });
    if (journal.lossesOf(this.#requester) > losses)
      this.#lost.push({
        path,
        reason: journal.failure ? "the journal cannot be written" : "the journal has no room for it",
      });
    else if (entry !== "dir") this.#recorded.add(path);
  }

  /**
   * Returns the paths that calls have changed since the snapshot, which are in the checkpoints of those
   * calls.
   */
  async #changesOfCalls(walker: Walker): Promise<CallPaths> {
    const { state, log } = this.#options.journal;
    const { startedAt } = this.#held;
    using slice = createWalkSlice(walker);
    const paths = new Map<string, number>();
    const records = readRecords({ state, log }, { pause: () => slice.yieldIfDue() });
    for await (const { seq, ts, steps } of records) {
      for (const { at, path, from = path } of steps)
        if (at >= startedAt * 1000) for (const end of [path, from]) paths.set(end, seq);
      if (ts < startedAt - maxCallMs) break;
    }
    return {
      seqOf(path) {
        for (let at = path; at !== ""; at = outerOf(at)) if (paths.has(at)) return paths.get(at);
        return undefined;
      },
    };
  }
}

/** The folders that were searched before the command. */
interface FoldersBefore {
  readonly folders: ReadonlyMap<string, number>;
  readonly mixed: Pick<FoldersAbove, "has">;
}

/** The folders that were searched after the command. */
interface FoldersAfter {
  readonly folders: ReadonlySet<string>;
  readonly mixed: Pick<FoldersAbove, "has">;
  /** The files that are gone. */
  readonly unseen: Iterable<string>;
}

/** Returns the folders that were removed with everything in them, the innermost first. */
export function* removedFolders({ folders, mixed }: FoldersBefore, after: FoldersAfter): Steps<string[]> {
  const needed = new FoldersAbove();
  for (const path of after.unseen) {
    needed.add(path);
    yield;
  }
  const removed: string[] = [];
  for (const path of folders.keys()) {
    if (!after.folders.has(path) && (needed.has(path) || !mixed.has(path))) removed.push(path);
    yield;
  }
  return yield* mergeSort(removed, (one, other) => one > other);
}

/** Returns the new folders whose contents are all selected, the outermost first. */
function* madeFolders({ folders }: FoldersBefore, after: FoldersAfter): Steps<string[]> {
  const made: string[] = [];
  for (const path of after.folders) {
    if (!folders.has(path) && !after.mixed.has(path)) made.push(path);
    yield;
  }
  return yield* mergeSort(made, (one, other) => one < other);
}

/** The milliseconds after which any call that began before a command has ended. */
const maxCallMs = 60_000;

interface CallPaths {
  /** Returns the checkpoint that has changed the path or a folder above it, if any. */
  seqOf(path: string): number | undefined;
}

const plainMutation: Pick<Mutation, "isTree" | "revisionBefore" | "revisionAfter"> = {
  isTree: false,
  revisionBefore: () => undefined,
  revisionAfter: () => undefined,
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const outerOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

function reopen(jail: Jail, path: string): Folder | undefined {
  try {
    return jail.reopenFolder(path);
  } catch {
    return undefined;
  }
}

/** Returns whether a file or link has the content and the mode that it had. */
function* isSame({ kind, stamp, text, copy }: Held, now: HeldEntry): Steps<boolean> {
  if (kind !== now.kind || stamp.mode !== now.mode || stamp.size !== now.size) return false;
  if (kind === "symlink") return now.linkText().equals(text);
  if (copy === undefined) return false;
  const before = yield* contentOf(copy).readInSteps(revisionInSteps);
  return before === (yield* now.readInSteps(revisionInSteps));
}

const contentOf = (copy: string | undefined) =>
  copy === undefined ? noContent : contentFrom(() => openSync(copy, readFlags));

function heldEntry({ kind, stamp, text, copy }: Held): HeldEntry {
  return {
    kind,
    mode: stamp.mode,
    size: stamp.size,
    owner: stamp.owner,
    ...contentOf(copy),
    linkText: () => text,
    inside: () => [],
  };
}

const folderOf = (mode: number): HeldEntry => ({
  kind: "dir",
  mode,
  size: 0,
  ...noContent,
  linkText: () => noText,
  inside: () => [],
});
