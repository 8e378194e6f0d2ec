/** What a pending tree was made from: a plan holds only as long as that is the same. */
import { createHash, type Hash } from "node:crypto";
import { revisionOfPlace } from "../files/expected-revision.ts";
import { ignoreMissing } from "../files/ignore-missing.ts";
import type { Requester } from "../files/mutation.ts";
import { type TreeVisitor, walkTree } from "../files/tree-walk.ts";
import type { Entry, FilesConfig } from "../files/types.ts";
import { pathIn } from "../jail/backend.ts";
import { isTemporary } from "../jail/temporary.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import type { PendingPlace } from "./pending-changes.ts";
import type { PendingFolder } from "./pending-folder.ts";

/** By path on disk: the revision, or else the kind, of everything that was looked at. */
export type Reads = ReadonlyMap<string, string>;

/** Remembers what is on disk where a pending tree looks. */
export class PendingReads {
  readonly seen = new Map<string, string>();
  readonly #config: FilesConfig;

  constructor(config: FilesConfig) {
    this.#config = config;
  }

  /** What is at a place, unless earlier changes decide that. */
  add(place: PendingPlace): void {
    const { folder, newFolders, name } = place;
    const first = newFolders[0] ?? name;
    if (first === "." || !folder.isOnDisk(first)) return;
    const origin = folder.originOf(first);
    if (!this.seen.has(origin)) this.seen.set(origin, this.#describe(place));
  }

  #describe(place: PendingPlace): string {
    const { stats, folder, name } = place;
    if (stats === undefined) return "absent";
    const head = `${stats.mode.toString(8)} ${stats.uid}:${stats.gid}`;
    if (stats.isSymbolicLink()) return `${head} ${folder.readLink(name).toString("latin1")}`;
    if (!stats.isFile()) return `${head} ${stats.isDirectory() ? "" : stats.ino}`;
    // What is too large to be edited is not hashed.
    if (stats.size > this.#config.max_write_bytes) return `${head} ${stats.size} ${stats.mtimeMs}`;
    return `${head} ${ignoreMissing(() => revisionOfPlace(place))}`;
  }

  /** What is in the folder at a place. */
  async addTree(place: PendingPlace, requester: Requester): Promise<void> {
    const { folder, name, stats, path } = place;
    if (!stats!.isDirectory()) return;
    using inside = folder.child(name);
    using slice = createWalkSlice(requester);
    const hash = createHash("sha256");
    const visitor: TreeVisitor = {
      preorder: ({ folder: outer, entry }) =>
        isTemporary(entry.name) ? undefined : addEntry(hash, outer as PendingFolder, entry),
    };
    await walkTree({ slice, deadline: requester.deadline, visitor }, inside);
    this.seen.set(`${path}/`, hash.digest("hex"));
  }
}

/** A name, and of what is on disk what changes with its content. */
function addEntry(hash: Hash, folder: PendingFolder, { raw, name }: Entry): undefined {
  const stats = ignoreMissing(() => folder.lstat(raw));
  const own = stats === undefined || stats.isDirectory() ? [] : [stats.size, stats.mtimeMs, stats.ino];
  const facts = folder.isOnDisk(raw) ? own : [];
  hash.update(JSON.stringify([pathIn(folder.path, name), stats?.mode, ...facts]));
}

/** Whether two pending trees were made from the same. */
export const areSameReads = (one: Reads, other: Reads): boolean =>
  one.size === other.size && [...one].every(([path, seen]) => other.get(path) === seen);
