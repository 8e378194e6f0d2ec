/** Brings a tree up to date with the disk: lists folders, and reads the entries of changed names. */
import { closeSync } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { linksAt } from "../jail/statx.ts";
import { ChangedNames } from "./changed-names.ts";
import { FolderNode } from "./folder-node.ts";
import type { FolderReader, Listing, OpenedFolder } from "./folder-reader.ts";
import type { FolderTable } from "./folder-table.ts";
import type { WatchQueue } from "./inotify.ts";
import type { IncompleteReason, TreeListener } from "./watched-tree.ts";

/** Maximum depth of a folder that a walk enters. */
const maxDepth = 256;

/** Maximum attempts to follow entries that keep moving, each with the events since the last. */
const maxRetries = 100;

/** Folders listed between two reads of the queue, so that it does not overflow. */
const foldersPerRead = 64;

export interface TreeUpdaterOptions {
  readonly inotify: WatchQueue;
  readonly table: FolderTable;
  readonly reader: FolderReader;
  readonly pending: ChangedNames;
  readonly listener: TreeListener;
  /** Returns the maximum number of folders to watch. Called before each build. */
  readonly maxFolders: () => number;
  /** Reads the queue; see `EventReader.read`. If it is not empty then, it is before the next step. */
  readonly readEvents: () => IncompleteReason | undefined;
}

export class TreeUpdater {
  readonly #options: TreeUpdaterOptions;
  /** Names in folders that were not found at their paths. */
  readonly #retries = new ChangedNames();
  /** Whether a build is running. Every file is dirty until it ends. */
  #isBuild = false;
  #maxFolders = Number.POSITIVE_INFINITY;

  constructor(options: TreeUpdaterOptions) {
    this.#options = options;
  }

  /** Lists all folders, including known ones. Returns the reason if it fails. */
  *build(): Steps<IncompleteReason | undefined> {
    const { table, maxFolders } = this.#options;
    this.#maxFolders = maxFolders();
    this.#isBuild = true;
    table.unlisted.length = 0;
    // Folders are taken from the end, so each comes before those in it: if it has a new watch, they are
    // different folders too.
    for (const folder of [...table.all()].reverse()) table.unlisted.push(folder);
    return yield* this.settle();
  }

  /**
   * Lists the unlisted folders and reads pending names until none are left. Returns the reason if it fails.
   */
  *settle(): Steps<IncompleteReason | undefined> {
    const { table, pending, readEvents } = this.#options;
    try {
      for (let retries = 0; retries < maxRetries; retries++) {
        yield* this.#settleOnce();
        if (this.#isBuild || !this.#retries.isEmpty) {
          requireComplete(readEvents());
          yield;
        }
        // Events for these names were read before their entries were known.
        if (!this.#isBuild && !this.#retries.isEmpty) this.#options.listener.onUnseenWrite?.();
        for (let next = this.#retries.take(); next !== undefined; next = this.#retries.take())
          for (const name of next[1]) pending.add(next[0], name);
        if (pending.isEmpty && table.unlisted.length === 0) return undefined;
      }
      return "busy";
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
      if (error.reason === "limit") yield* this.#forgetAll();
      return error.reason;
    } finally {
      this.#isBuild = false;
      this.#retries.clear();
    }
  }

  /**
   * Gives the useless watches back to other programs of the user, and forgets the folders. The next build
   * counts the folders that exist then.
   */
  *#forgetAll(): Steps<void> {
    const { table, inotify } = this.#options;
    let forgotten = 0;
    // Folders are cleared before their parents, so that no step takes long.
    for (const folder of [...table.all()].reverse()) {
      table.clear(folder);
      if (++forgotten % namesPerStep !== 0) continue;
      // The end of each watch is an event. The ends of thousands of watches would overflow the queue and fail
      // the next build.
      table.unwatchLeft();
      inotify.read(() => {});
      yield;
    }
    table.unwatchLeft();
  }

  *#settleOnce(): Steps<void> {
    const { table, pending, readEvents } = this.#options;
    for (let listed = 1; ; ) {
      const folder = table.unlisted.pop();
      if (folder !== undefined) {
        if (table.holds(folder)) yield* this.#list(folder);
        if (listed++ % foldersPerRead === 0) requireComplete(readEvents());
      } else {
        const next = pending.take();
        if (next === undefined) return;
        if (table.holds(next[0])) yield* this.#updateNames(...next);
      }
      yield;
    }
  }

  /** Watches a folder, then lists it. */
  *#list(folder: FolderNode): Steps<void> {
    const { table, reader } = this.#options;
    const opened = folder.depth > maxDepth ? "depth" : reader.open(folder.path);
    if (opened === "gone") this.#retry(folder);
    else if (typeof opened === "string") {
      yield* table.clearInSteps(folder);
      table.setUnwatched(folder, opened);
    } else {
      const { descriptor } = opened;
      try {
        // A different folder is there now.
        if (folder.keys.length > 0 && folder.inode !== opened.inode) yield* table.clearInSteps(folder);
        if (!this.#watch(folder, opened)) return;
        const listing = yield* reader.list(descriptor);
        if (listing === undefined) table.setUnwatched(folder, "unreadable");
        else yield* this.#setListing(folder, descriptor, listing);
      } finally {
        closeSync(descriptor);
      }
    }
  }

  *#setListing(folder: FolderNode, descriptor: number, listing: Listing): Steps<void> {
    const added = yield* this.#options.table.setListing(folder, listing);
    if (this.#isBuild) return;
    let done = 0;
    for (const name of added) {
      this.#reportLinks(linksAt(descriptor, bytesOf(name)));
      if (++done % namesPerStep === 0) yield;
    }
  }

  /** Watches an opened folder. Returns false if that is impossible for this one. */
  #watch(folder: FolderNode, { descriptor, inode }: OpenedFolder): boolean {
    const { table, inotify } = this.#options;
    const watch = table.folders > this.#maxFolders ? "limit" : inotify.watch(descriptor);
    if (watch === "limit") throw new Incomplete("limit");
    if (typeof watch === "string") {
      table.setUnwatched(folder, "unreadable");
      return false;
    }
    // A file that was linked here before the folder was watched, written to and removed raised no event.
    const isNew = table.ofWatch(watch) === undefined && !table.hasLeft(watch);
    if (!this.#isBuild && isNew) this.#options.listener.onUnseenWrite?.();
    const earlier = table.setWatch(folder, watch);
    folder.inode = inode;
    if (earlier?.parent !== undefined) this.#retries.add(earlier.parent, earlier.name);
    return true;
  }

  /** Reads the entries that these names of a folder have now. */
  *#updateNames(folder: FolderNode, names: ReadonlySet<string>): Steps<void> {
    const { reader } = this.#options;
    const opened = reader.open(folder.path);
    if (typeof opened === "string") {
      if (opened === "gone") for (const name of names) this.#retries.add(folder, name);
      this.#listLater(folder);
      return;
    }
    try {
      // The path may lead to a different folder now. One with the same inode is this one, or an event will
      // report that this one was removed.
      if (folder.watch === undefined || opened.inode !== folder.inode) {
        this.#listLater(folder);
        return;
      }
      let done = 0;
      for (const name of names) {
        yield* this.#updateName(folder, opened.descriptor, name);
        // A name is inserted among those that the folder has.
        if (++done % (folder.keys.length > largeFolder ? namesPerStep / 16 : namesPerStep) === 0) yield;
      }
    } finally {
      closeSync(opened.descriptor);
    }
  }

  /**
   * Lists the folder again instead. A listing does not show whether a file is still the one that had its
   * name.
   */
  #listLater(folder: FolderNode): void {
    const { table, listener } = this.#options;
    table.unlisted.push(folder);
    listener.onUnseenWrite?.();
  }

  *#updateName(folder: FolderNode, descriptor: number, name: string): Steps<void> {
    const { table, listener } = this.#options;
    const links = linksAt(descriptor, bytesOf(name));
    if (links === undefined) {
      this.#listLater(folder);
      return;
    }
    const old = folder.entryOf(name) ?? folder.entryOf(`${name}/`);
    const isGone = links === "missing" || links.kind !== "dir";
    if (old instanceof FolderNode && isGone) yield* table.clearInSteps(old);
    const entry = table.setEntry(folder, name, links === "missing" ? undefined : links.kind);
    if (typeof entry === "number") {
      this.#reportLinks(links);
      if (entry === old) listener.onDirty?.(entry);
      // This may be a different folder now, or the same one with different permissions.
    } else if (entry instanceof FolderNode && entry === old) table.unlisted.push(entry);
  }

  #reportLinks(links: ReturnType<typeof linksAt>): void {
    if (typeof links === "object" && links.kind === "file" && links.links > 1)
      this.#options.listener.onLinked?.(links.inode);
  }

  /**
   * Handles a folder that is not at its path. An event of a folder above has reported its new place, or will.
   */
  #retry(folder: FolderNode): void {
    if (folder.parent === undefined) throw new Incomplete("base-gone");
    this.#retries.add(folder.parent, folder.name);
  }
}

const namesPerStep = 256;

/** Names of a large folder. A change there takes a sixteenth of a step, because later names move up. */
const largeFolder = 10_000;

/** Encodes a name of one character per byte. */
const bytesOf = (name: string): Buffer => Buffer.from(name, "latin1");

class Incomplete extends Error {
  readonly reason: IncompleteReason;

  constructor(reason: IncompleteReason) {
    super(reason);
    this.reason = reason;
  }
}

function requireComplete(reason: IncompleteReason | undefined): void {
  if (reason !== undefined) throw new Incomplete(reason);
}
