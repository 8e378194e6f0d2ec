import { changeMode, type ModeOptions } from "../changes/change-mode.ts";
import { revisionOfPlace } from "../changes/expected-revision.ts";
import type { ModeStep, WritableTree } from "../changes/tree.ts";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import type { Step } from "../disk/steps.ts";
import type { Files } from "../files/files.ts";
import type { Use } from "../files/read.ts";
import { ScratchBuffer } from "../files/scratch-buffer.ts";
import { describe } from "../files/stats.ts";
import type { Limit } from "../files/types.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Jail, ResolvedPath } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { PendingChanges, type PendingPlace } from "./pending-changes.ts";
import { changeOwnMode, createPending, readAt, updatePending } from "./pending-content.ts";
import { admitPending, type EntryState, type PendingContext } from "./pending-context.ts";
import { refusePending } from "./pending-errors.ts";
import { copyPending, makePendingFolder, movePending, removePending } from "./pending-places.ts";
import { PendingReads, type Reads } from "./pending-reads.ts";
import { PendingRestore } from "./pending-restore.ts";
import { requireOwner } from "./pending-stats.ts";

/** The verbs of a pending tree. */
export type PendingFiles = Pick<
  Files,
  "read" | "create" | "update" | "remove" | "move" | "copy" | "makeFolder" | "changeMode"
>;

interface TreeOptions {
  /** Maximum total bytes of the created and edited files. */
  readonly maxBytes: number;
  /** Whether to remember the entries that the tree is made from. Default: false. */
  readonly remembersReads?: boolean;
}

/**
 * The tree in the state that the changes so far would leave: an overlay over the disk. Its verbs make the
 * checks of `Files`, with its functions, and throw its errors. They change nothing, and collect the steps of
 * a later commit.
 */
export class PendingTree implements PendingFiles, WritableTree {
  readonly jail: Jail;
  readonly config: Disk["config"];
  readonly #context: PendingContext;
  readonly #changes: PendingChanges;
  readonly #keys = new Set<string>();
  #bytes = 0;

  readonly #reads: PendingReads | undefined;

  constructor({ jail, config }: Pick<Disk, "jail" | "config">, options: TreeOptions) {
    const { maxBytes, remembersReads = false } = options;
    this.#reads = remembersReads ? new PendingReads(config) : undefined;
    this.#changes = new PendingChanges(jail);
    this.config = config;
    const over = jail.over(this.#changes);
    this.jail = { ...over, admit: (path, options) => this.#remember(over.admit(path, options)) };
    this.#context = {
      jail: this.jail,
      config,
      changes: this.#changes,
      rememberTree: async (place, requester) => this.#reads?.addTree(place, requester),
      takeBytes: (bytes) => {
        this.#bytes += bytes;
        if (this.#bytes > maxBytes) throw refusePending.tooMuch(maxBytes);
      },
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

  /** Returns the entries that the tree is made from, if they are remembered. */
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
    this.#reads?.add(place as PendingPlace);
    return place;
  }

  read<T>(path: string, limit: Limit, use: Use<T>): T {
    using place = admitPending(this.#context, { path });
    using scratch = new ScratchBuffer();
    const { body } = readAt(place, limit, scratch);
    return use(body, { ...describe(place.stats!), size: body.length });
  }

  create: Files["create"] = (path, content, options) =>
    refusing(path, async () => createPending(this.#context, { path, content, ...options }));

  update: Files["update"] = (path, change, _, options) =>
    refusing(path, () => updatePending(this.#context, { path, change, ...options }));

  remove: Files["remove"] = (path, options, requester) =>
    refusing(path, () => removePending(this.#context, { path, ...options }, requester));

  move: Files["move"] = (moving, requester) =>
    refusing(moving.from, () => movePending(this.#context, moving, requester));

  copy: Files["copy"] = (copying, requester) =>
    refusing(copying.from, () => copyPending(this.#context, copying, requester));

  makeFolder: Files["makeFolder"] = (path, options) =>
    mapErrno(path, () => makePendingFolder(this.#context, { path, ...options }));

  changeMode(path: string, { mode }: Pick<ModeOptions, "mode">, requester: Requester): Promise<number> {
    const change = { path, mode, uid: undefined, gid: undefined, recursive: false };
    return changeMode(this, change, requester);
  }

  /** Sets the mode of one entry, without the tree below it. */
  async setPermissions({ place, mode }: ModeStep): Promise<number> {
    requireOwner(place.stats!);
    this.#changes.setMode(place, mode);
    return 1;
  }

  /**
   * Sets the mode of a file or folder under this path alone. A file with other names, which may be where no
   * call reaches, is replaced by a copy with that mode. Throws wrong-kind for anything else.
   */
  changeOwnMode(path: string, mode: number): Promise<void> {
    return refusing(path, async () => changeOwnMode(this.#context, path, mode));
  }

  /**
   * Returns the kind of entry at a path, or at the end of the link there. Throws the jail's errors, also for
   * a missing entry.
   */
  kindAt(path: string): EntryKind | undefined {
    using place = admitPending(this.#context, { path });
    return kindOf(place.stats!);
  }

  /** Returns the state of a path. Throws the jail's errors, except for a missing entry. */
  state(path: string): EntryState {
    using place = admitPending(this.#context, { path, lastLink: "bare", mayBeMissing: true, parents: true });
    const { stats, folder, name } = place;
    if (stats === undefined) return { kind: "absent" };
    const mode = stats.mode & 0o7777;
    if (stats.isDirectory()) return { kind: "dir", mode };
    if (stats.isSymbolicLink()) return { kind: "symlink", text: mapErrno(path, () => folder.readLink(name)) };
    return stats.isFile() ? { kind: "file", mode, revision: revisionOfPlace(place) } : { kind: "other" };
  }

  /** Returns the verbs that restore an earlier state. */
  restoring(requester: Requester): PendingRestore {
    return new PendingRestore({
      pending: this.#context,
      requester,
      state: (path) => this.state(path),
      changeMode: (path, options) => this.changeMode(path, options, requester),
    });
  }

  /** Makes a link with this text at a free path, and the folders that it needs. */
  putLink(path: string, text: Buffer): void {
    mapErrno(path, () => {
      using place = admitPending(this.#context, {
        path,
        changes: "entry",
        lastLink: "bare",
        mayBeMissing: true,
        parents: true,
      });
      this.#changes.place(place, { type: "symlink", staged: { kind: "symlink", text } });
    });
  }
}

async function refusing<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
