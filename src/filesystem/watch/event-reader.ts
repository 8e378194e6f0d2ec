/** Reads the kernel's queue: changes of contents are reported at once, changed names become pending. */
import { closeSync, constants, openSync } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { isTemporaryIn } from "../jail/temporary.ts";
import { ChangeStream } from "./change-stream.ts";
import type { ChangedNames } from "./changed-names.ts";
import type { FolderNode } from "./folder-node.ts";
import type { FolderTable } from "./folder-table.ts";
import { events, type OnEvent, type WatchQueue } from "./inotify.ts";
import { TransientWrites } from "./transient-writes.ts";
import type { IncompleteReason, OnName, TreeListener } from "./watched-tree.ts";

/**
 * Maximum steps until the queue is empty, of some thousand events each. A queue that outlasts them is filled
 * as fast as it is read.
 */
const maxSteps = 4096;

/** Minimum events of a step, unless the queue is empty. It ends with the next read of the queue. */
const eventsPerStep = 512;

/** Watches that are ended in one step. */
const watchesPerStep = 256;

const contentEvents = events.modify | events.closeWrite | events.attrib;
const nameEvents = events.create | events.delete | events.movedFrom | events.movedTo;

export interface EventReaderOptions {
  readonly inotify: WatchQueue;
  readonly table: FolderTable;
  readonly pending: ChangedNames;
  readonly listener: TreeListener;
}

export class EventReader {
  readonly #options: EventReaderOptions;
  readonly #changes: ChangeStream;
  readonly #writes = new TransientWrites();
  /** The folders outside of the tree whose names are reported, by their watches. */
  readonly #beside = new Map<number, OnName>();
  #failure: IncompleteReason | undefined;
  #events = 0;
  #steps = 0;
  #hasMore = false;
  /** Whether the listener has worked long enough for this step. */
  #isLong = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
    this.#changes = new ChangeStream((change) => {
      if (options.listener.onChange?.(change) === "long") this.#isLong = true;
    });
  }

  /** The number of events read so far. */
  get events(): number {
    return this.#events;
  }

  /** Whether the last step has left events in the queue, or may have. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /**
   * Reads events in one step, until the queue is empty or they are many. Returns a reason if the events until
   * the queue was empty do not suffice to bring the tree up to date.
   */
  read(): IncompleteReason | undefined {
    const most = this.#events + eventsPerStep;
    this.#isLong = false;
    do this.#hasMore = this.#options.inotify.read(this.#onEvent);
    while (this.#hasMore && this.#events < most && !this.#isLong);
    if (this.#hasMore && ++this.#steps < maxSteps) return undefined;
    this.#steps = 0;
    if (this.#hasMore) return "busy";
    this.#changes.flush();
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Called when the tree reflects all events read so far. Returns a reason like `read`. */
  *settle(): Steps<IncompleteReason | undefined> {
    this.#changes.forgetMoves();
    const { table, listener } = this.#options;
    if (yield* this.#writes.settle((folder) => table.holds(folder))) listener.onUnseenWrite?.();
    while (table.unwatchLeft(watchesPerStep)) {
      // The ends of thousands of watches, each an event, would overflow the queue.
      const reason = this.read();
      if (reason !== undefined) return reason;
      yield;
    }
    return undefined;
  }

  /** Watches a folder outside of the tree. Returns a function that ends it, or `undefined` if that fails. */
  watchBeside(folder: string, onName: OnName): (() => void) | undefined {
    const { inotify } = this.#options;
    const watch = watchAt(folder, inotify);
    if (watch === undefined) return undefined;
    this.#beside.set(watch, onName);
    return () => {
      if (this.#beside.delete(watch)) inotify.unwatch(watch);
    };
  }

  readonly #onEvent: OnEvent = (event) => {
    this.#note(event);
    return this.#isLong ? "last" : undefined;
  };

  #note({ watch, mask, cookie, bytes, from, to }: Parameters<OnEvent>[0]): void {
    this.#events++;
    const { table, pending, listener } = this.#options;
    if ((mask & events.overflow) !== 0) this.#failure = "overflow";
    const folder = table.ofWatch(watch);
    if (folder === undefined) {
      if (table.hasLeft(watch)) this.#onEventInLeft(watch, mask);
      else this.#onEventBeside(watch, mask, bytes.toString("latin1", from, to));
      return;
    }
    if (to === from) {
      this.#onOwnEvent(watch, mask);
      return;
    }
    if (isTemporaryIn(bytes, from, to)) return;
    const name = bytes.toString("latin1", from, to);
    // A listener may start to want changes while the tree is open.
    if (listener.onChange !== undefined) this.#changes.add({ folder, name, mask, cookie });
    const entry = folder.entryOf(name);
    const isKnown = (mask & events.isFolder) !== 0 ? isWatched(folder, name) : typeof entry === "number";
    this.#writes.add({ folder, name, mask, cookie }, !isKnown || pending.has(folder, name));
    if ((mask & contentEvents) !== 0 && (mask & events.isFolder) === 0) {
      if (typeof entry === "number") listener.onDirty?.(entry);
      else pending.add(folder, name);
    } else if ((mask & (nameEvents | events.attrib)) !== 0) pending.add(folder, name);
  }

  #onEventBeside(watch: number, mask: number, name: string): void {
    const onName = this.#beside.get(watch);
    if (onName === undefined) return;
    // A move out of the tree came before it.
    this.#changes.flush();
    if ((mask & events.ignored) !== 0) {
      this.#beside.delete(watch);
      onName(undefined, false);
    } else if (name !== "" && (mask & nameEvents) !== 0)
      onName(name, (mask & (events.create | events.movedTo)) !== 0);
  }

  /**
   * Handles an event for a folder between its old place and its new one. The listing at the new one shows the
   * names that it has then.
   */
  #onEventInLeft(watch: number, mask: number): void {
    if ((mask & events.ignored) !== 0) this.#options.table.forgetWatch(watch);
    else if ((mask & (contentEvents | nameEvents)) !== 0) this.#writes.noteLost();
  }

  /**
   * Handles an event for a watched folder itself. Folders below the base get a second event, from their
   * parent.
   */
  #onOwnEvent(watch: number, mask: number): void {
    const { table, pending } = this.#options;
    const folder = table.ofWatch(watch)!;
    const isEnd = (mask & (events.ignored | events.unmount)) !== 0;
    if (isEnd) table.forgetWatch(watch);
    if (folder === table.base) {
      if (isEnd) this.#failure = "base-gone";
      else if ((mask & events.attrib) !== 0) table.unlisted.push(folder);
    } else if (isEnd && folder.parent !== undefined) pending.add(folder.parent, folder.name);
  }
}

function watchAt(folder: string, inotify: WatchQueue): number | undefined {
  try {
    const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const watch = inotify.watch(descriptor);
      return typeof watch === "number" ? watch : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

function isWatched(folder: FolderNode, name: string): boolean {
  const child = folder.entryOf(`${name}/`);
  return typeof child === "object" && child.watch !== undefined;
}
