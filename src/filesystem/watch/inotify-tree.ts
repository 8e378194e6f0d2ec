/** Follows the kernel's events: see `WatchedTree`. */
import { createTimeSlice, runAtOnce, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { sliceMilliseconds } from "../../base/scheduling/walk-slice.ts";
import { ChangedNames } from "./changed-names.ts";
import { EventReader } from "./event-reader.ts";
import { FolderNode } from "./folder-node.ts";
import { FolderReader } from "./folder-reader.ts";
import { FolderTable } from "./folder-table.ts";
import type { WatchQueue } from "./inotify.ts";
import type { MountTable } from "./mount-table.ts";
import { TreeUpdater } from "./tree-updater.ts";
import type {
  IncompleteReason,
  OnName,
  TreeListener,
  WatchedFile,
  WatchedFolder,
  WatchedTree,
  WatchState,
} from "./watched-tree.ts";

export interface InotifyTreeOptions {
  /** The descriptor that holds the base. */
  readonly descriptor: number;
  /** The type of the base's file system. */
  readonly type: number;
  readonly inotify: WatchQueue;
  readonly mounts: MountTable;
  readonly listener: TreeListener;
  /** Returns the maximum number of folders to watch. Called before each build. */
  readonly maxFolders: () => number;
  /** The limit of the kernel's queue. Default: infinite. */
  readonly maxQueuedEvents?: number;
  /** Milliseconds that a drain or a build runs before it yields. Default: the time slice of a walk. */
  readonly sliceMilliseconds?: number;
}

export class InotifyTree implements WatchedTree {
  readonly #inotify: WatchQueue;
  readonly #mounts: MountTable;
  readonly #maxQueuedEvents: number;
  readonly #sliceMilliseconds: number;
  readonly #listener: TreeListener;
  readonly #table: FolderTable;
  readonly #pending = new ChangedNames();
  readonly #events: EventReader;
  readonly #updater: TreeUpdater;
  #state: WatchState = incomplete("unlisted");
  #isClosed = false;
  /** The operation that is changing the tree, and the drain that follows it. */
  #running: Promise<WatchState> | undefined;
  #next: Promise<WatchState> | undefined;
  /** The reason why the tree is incomplete after that operation, by the events that were read beside it. */
  #failure: IncompleteReason | undefined;

  constructor(options: InotifyTreeOptions) {
    const { descriptor, type, inotify, mounts, listener, maxFolders } = options;
    const table = new FolderTable(inotify, listener);
    const pending = this.#pending;
    this.#inotify = inotify;
    this.#mounts = mounts;
    this.#maxQueuedEvents = options.maxQueuedEvents ?? Number.POSITIVE_INFINITY;
    this.#sliceMilliseconds = options.sliceMilliseconds ?? sliceMilliseconds;
    this.#listener = listener;
    this.#table = table;
    this.#events = new EventReader({ inotify, table, pending, listener });
    const readEvents = () => this.#readEvents();
    const reader = new FolderReader(descriptor, { type, mounts });
    this.#updater = new TreeUpdater({ inotify, table, reader, pending, listener, maxFolders, readEvents });
  }

  get base(): WatchedFolder {
    return this.#table.base;
  }

  get version(): number {
    return this.#table.version;
  }

  get fileEnd(): number {
    return this.#table.numbers.end;
  }

  get files(): number {
    return this.#table.numbers.used;
  }

  get folders(): number {
    return this.#table.folders;
  }

  get unwatchedFolders(): number {
    return this.#table.unwatchedFolders;
  }

  get state(): WatchState {
    return this.#state;
  }

  get hasUnreadEvents(): boolean {
    return this.#events.hasMore;
  }

  build(): Promise<WatchState> {
    if (this.#state.isComplete) return this.drain();
    return this.#running ?? this.#run(this.#updater.build());
  }

  async drain(): Promise<WatchState> {
    if (!this.#state.isComplete || this.#isClosed) return this.#state;
    if (this.#running !== undefined) {
      // A call that is about to make a change distinguishes it from earlier ones of other programs.
      this.#failure ??= this.#readEvents();
      // Changes made since the running drain began belong to the next one, which all later callers share.
      const drainNext = () => {
        this.#next = undefined;
        return this.drain();
      };
      this.#next ??= this.#running.then(drainNext, drainNext);
      return this.#next;
    }
    const reason = this.#takeFailure() ?? this.#readEvents();
    if (reason !== undefined) this.#fail(reason);
    if (reason !== undefined || this.#isUpToDate) return this.#state;
    return this.#run(this.#updater.settle());
  }

  readEvents(): void {
    runAtOnce(this.readEventsInSteps());
  }

  *readEventsInSteps(): Steps<void> {
    // Events that come while it reads need not be read.
    const last = this.#events.events + this.#maxQueuedEvents;
    while (this.#state.isComplete && !this.#isClosed) {
      const reason = this.#readEvents();
      if (reason !== undefined && this.#running === undefined) this.#fail(reason);
      else this.#failure ??= reason;
      if (reason !== undefined || !this.#events.hasMore || this.#events.events >= last) return;
      yield;
    }
  }

  *filesBelow(folder: WatchedFolder): Generator<WatchedFile, void, void> {
    const { keys, entries } = folder;
    for (let i = 0; i < keys.length; i++) {
      const entry = entries[i]!;
      if (typeof entry === "number") yield { folder, key: keys[i]!, file: entry };
      else if (entry instanceof FolderNode) yield* this.filesBelow(entry);
    }
  }

  watchBeside(folder: string, onName: OnName): (() => void) | undefined {
    if (this.#isClosed) return undefined;
    const end = this.#events.watchBeside(folder, onName);
    return end && (() => !this.#isClosed && end());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#state = incomplete("unlisted");
    this.#inotify.close();
    this.#mounts.close();
  }

  get #isUpToDate(): boolean {
    return !this.#events.hasMore && this.#pending.isEmpty && this.#table.unlisted.length === 0;
  }

  /** Reads events in one step; see `EventReader.read`. */
  #readEvents(): IncompleteReason | undefined {
    try {
      const reason = this.#events.read();
      if (reason !== undefined || this.#events.hasMore) return reason;
      return this.#mounts.hasChanged() ? "mounts" : undefined;
    } catch (error) {
      this.#fail("busy");
      throw error;
    }
  }

  #takeFailure(): IncompleteReason | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  #run(steps: Steps<IncompleteReason | undefined>): Promise<WatchState> {
    const running = this.#finish(steps).finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #finish(steps: Steps<IncompleteReason | undefined>): Promise<WatchState> {
    const wasComplete = this.#state.isComplete;
    const slice = createTimeSlice(this.#sliceMilliseconds);
    const reason = await runInSlices(this.#untilSettled(steps), slice).catch((error: unknown) => {
      if (!this.#isClosed) this.#fail("busy");
      throw error;
    });
    if (this.#isClosed) return this.#state;
    const failure = this.#takeFailure() ?? reason;
    if (failure !== undefined) this.#fail(failure);
    else if (!wasComplete) {
      this.#state = complete;
      this.#listener.onAllDirty?.();
    }
    return this.#state;
  }

  *#untilSettled(steps: Steps<IncompleteReason | undefined>): Steps<IncompleteReason | undefined> {
    const reason = yield* this.#untilClosed(steps);
    const later = yield* this.#untilClosed(this.#events.settle());
    return reason ?? later;
  }

  /** Does the work, each step once the queue is empty, so that the tree knows both halves of each move. */
  *#untilClosed(steps: Steps<IncompleteReason | undefined>): Steps<IncompleteReason | undefined> {
    try {
      for (;;) {
        if (this.#isClosed) return "unlisted";
        if (this.#events.hasMore) {
          const reason = this.#readEvents();
          if (reason !== undefined) return reason;
        } else {
          const { done, value } = steps.next();
          if (done) return value;
        }
        yield;
      }
    } finally {
      steps.return(undefined);
    }
  }

  #fail(reason: IncompleteReason): void {
    this.#state = incomplete(reason);
    this.#pending.clear();
    this.#table.unlisted.length = 0;
    this.#listener.onAllDirty?.();
  }
}

const complete: WatchState = { isComplete: true };
const incomplete = (reason: IncompleteReason): WatchState => ({ isComplete: false, reason });
