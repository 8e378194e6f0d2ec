/** Brings a tree up to date with the disk: lists folders, and finds out what changed names are now. */
import { closeSync } from "node:fs";
import { linksAt } from "../jail/statx.ts";
import type { Steps } from "../scheduling/time-slice.ts";
import { ChangedNames } from "./changed-names.ts";
import { FolderNode } from "./folder-node.ts";
import type { FolderReader, Listing, OpenedFolder } from "./folder-reader.ts";
import type { FolderTable } from "./folder-table.ts";
import type { WatchQueue } from "./inotify.ts";
import type { IncompleteReason, TreeListener } from "./tree.ts";

/** A walk enters no deeper folder. */
const maxDepth = 256;

/** How often what moved meanwhile is tried again, with the events that have come since. */
const maxRetries = 100;

/** Folders listed between two reads of the queue, which must not overflow meanwhile. */
const foldersPerRead = 64;

export interface TreeUpdaterOptions {
  readonly inotify: WatchQueue;
  readonly table: FolderTable;
  readonly reader: FolderReader;
  readonly pending: ChangedNames;
  readonly listener: TreeListener;
  /** How many folders it may watch; asked before each build. */
  readonly mostFolders: () => number;
  /** Reads the queue; see `EventReader.read`. */
  readonly readEvents: () => IncompleteReason | undefined;
}

export class TreeUpdater {
  readonly #options: TreeUpdaterOptions;
  /** Names in folders that could not be found where they were. */
  readonly #retries = new ChangedNames();
  /** Everything is dirty until this ends. */
  #isBuild = false;
  #mostFolders = Number.POSITIVE_INFINITY;

  constructor(options: TreeUpdaterOptions) {
    this.#options = options;
  }

  /** Lists all folders, known ones too. Returns why it failed. */
  *build(): Steps<IncompleteReason | undefined> {
    const { table, mostFolders } = this.#options;
    this.#mostFolders = mostFolders();
    this.#isBuild = true;
    table.unlisted.length = 0;
    // Taken from the end, so each folder comes before those in it: where it has another watch, they are other folders too.
    for (const folder of [...table.all()].reverse()) table.unlisted.push(folder);
    return yield* this.settle();
  }

  /** Lists what is unlisted and finds out what pending names are, until there is neither. Returns why it failed. */
  *settle(): Steps<IncompleteReason | undefined> {
    const { table, pending, readEvents } = this.#options;
    try {
      for (let retries = 0; retries < maxRetries; retries++) {
        yield* this.#settleOnce();
        const reason = this.#isBuild || !this.#retries.isEmpty ? readEvents() : undefined;
        if (reason !== undefined) return reason;
        // Events for these names were read while what they are was not known.
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
   * Leaves to other programs of the user the watches that are of no use here, and forgets the folders: the next build counts those
   * that are there then.
   */
  *#forgetAll(): Steps<void> {
    const { table, inotify } = this.#options;
    let forgotten = 0;
    // Those in a folder come before it, so that no step takes long.
    for (const folder of [...table.all()].reverse()) {
      table.clear(folder);
      if (++forgotten % namesPerStep !== 0) continue;
      // The end of each watch is an event: those of thousands of folders overflow the queue, for which the next build fails.
      inotify.read(() => {});
      yield;
    }
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

  /** Watches a folder, and then lists it. */
  *#list(folder: FolderNode): Steps<void> {
    const { table, reader } = this.#options;
    const opened = folder.depth > maxDepth ? "depth" : reader.open(folder.path);
    if (opened === "gone") this.#retry(folder);
    else if (typeof opened === "string") table.setUnwatched(folder, opened);
    else {
      const { descriptor } = opened;
      try {
        if (!this.#watch(folder, opened)) return;
        const listing = yield* reader.list(descriptor);
        if (listing === undefined) table.setUnwatched(folder, "unreadable");
        else this.#setListing(folder, descriptor, listing);
      } finally {
        closeSync(descriptor);
      }
    }
  }

  #setListing(folder: FolderNode, descriptor: number, listing: Listing): void {
    const added = this.#options.table.setListing(folder, listing);
    if (!this.#isBuild) for (const name of added) this.#reportLinks(linksAt(descriptor, bytesOf(name)));
  }

  /** Watches an opened folder; false when that is not possible for this one. */
  #watch(folder: FolderNode, { descriptor, inode }: OpenedFolder): boolean {
    const { table, inotify } = this.#options;
    const watch = table.folders > this.#mostFolders ? "limit" : inotify.watch(descriptor);
    if (watch === "limit") throw new Incomplete("limit");
    if (typeof watch === "string") {
      table.setUnwatched(folder, "unreadable");
      return false;
    }
    // What was linked there before, written to and removed, raised no event.
    if (!this.#isBuild && table.ofWatch(watch) === undefined) this.#options.listener.onUnseenWrite?.();
    const earlier = table.setWatch(folder, watch);
    folder.inode = inode;
    if (earlier?.parent !== undefined) this.#retries.add(earlier.parent, earlier.name);
    return true;
  }

  /** Finds out what is under these names in a folder now. */
  *#updateNames(folder: FolderNode, names: ReadonlySet<string>): Steps<void> {
    const { reader } = this.#options;
    const opened = reader.open(folder.path);
    if (typeof opened === "string") {
      if (opened === "gone") for (const name of names) this.#retries.add(folder, name);
      this.#listLater(folder);
      return;
    }
    try {
      // The same path may lead to another folder by now. That with the same inode is this one, or an event will say that
      // this one was removed.
      if (folder.watch === undefined || opened.inode !== folder.inode) {
        this.#listLater(folder);
        return;
      }
      let done = 0;
      for (const name of names) {
        this.#updateName(folder, opened.descriptor, name);
        if (++done % namesPerStep === 0) yield;
      }
    } finally {
      closeSync(opened.descriptor);
    }
  }

  /** Lists the folder instead: that does not say whether a file is still the one that had its name. */
  #listLater(folder: FolderNode): void {
    const { table, listener } = this.#options;
    table.unlisted.push(folder);
    listener.onUnseenWrite?.();
  }

  #updateName(folder: FolderNode, descriptor: number, name: string): void {
    const { table, listener } = this.#options;
    const links = linksAt(descriptor, bytesOf(name));
    if (links === undefined) {
      this.#listLater(folder);
      return;
    }
    const old = folder.entryOf(name) ?? folder.entryOf(`${name}/`);
    const entry = table.setEntry(folder, name, links === "missing" ? undefined : links.kind);
    if (typeof entry === "number") {
      this.#reportLinks(links);
      if (entry === old) listener.onDirty?.(entry);
      // Another folder may be there now, or the same one with other permissions.
    } else if (entry instanceof FolderNode && entry === old) table.unlisted.push(entry);
  }

  #reportLinks(links: ReturnType<typeof linksAt>): void {
    if (typeof links === "object" && links.kind === "file" && links.links > 1)
      this.#options.listener.onLinked?.(links.inode);
  }

  /** The folder is not where it was. An event of a folder above says where it is, or will come. */
  #retry(folder: FolderNode): void {
    if (folder.parent === undefined) throw new Incomplete("base-gone");
    this.#retries.add(folder.parent, folder.name);
  }
}

const namesPerStep = 256;

/** One character per byte. */
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
