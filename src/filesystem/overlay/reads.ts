/** The entries that a planned tree was made from. A plan is valid only while they are unchanged. */
import { createHash, type Hash } from "node:crypto";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import { ignoreMissing } from "../files/ignore-missing.ts";
import { type TreeVisitor, walkTree } from "../files/tree-walk.ts";
import type { Entry, FilesConfig } from "../files/types.ts";
import { pathIn } from "../jail/backend.ts";
import { isTemporary } from "../jail/temporary.ts";
import { revisionOfPlace } from "../operations/expected-revision.ts";
import type { PlannedFolder } from "./folder.ts";
import type { PlannedPlace } from "./planned-changes.ts";

/** The revision of everything that was read, or else its kind, by path on disk. */
export type Reads = ReadonlyMap<string, string>;

/** Remembers the entries on disk that a planned tree reads. */
export class PlannedReads {
  readonly seen = new Map<string, string>();
  readonly #config: FilesConfig;

  constructor(config: FilesConfig) {
    this.#config = config;
  }

  /** Adds the entry at a place, unless earlier changes determine it. */
  add(place: PlannedPlace): void {
    const { folder, newFolders, name } = place;
    const first = newFolders[0] ?? name;
    if (first === "." || !folder.isOnDisk(first)) return;
    const origin = folder.originOf(first);
    if (!this.seen.has(origin)) this.seen.set(origin, this.#describe(place));
  }

  #describe(place: PlannedPlace): string {
    const { stats, folder, name } = place;
    if (stats === undefined) return "absent";
    const head = `${stats.mode.toString(8)} ${stats.uid}:${stats.gid}`;
    if (stats.isSymbolicLink()) return `${head} ${folder.readLink(name).toString("latin1")}`;
    if (!stats.isFile()) return `${head} ${stats.isDirectory() ? "" : stats.ino}`;
    // A file too large to be edited is not hashed.
    if (stats.size > this.#config.max_write_bytes) return `${head} ${stats.size} ${stats.mtimeMs}`;
    return `${head} ${ignoreMissing(() => revisionOfPlace(place))}`;
  }

  /** Adds the contents of the folder at a place. */
  async addTree(place: PlannedPlace, requester: Requester): Promise<void> {
    const { folder, name, stats, path } = place;
    if (!stats!.isDirectory()) return;
    using inside = folder.child(name);
    using slice = createWalkSlice(requester);
    const hash = createHash("sha256");
    const visitor: TreeVisitor = {
      preorder: ({ folder: outer, entry }) =>
        isTemporary(entry.name) ? undefined : addEntry(hash, outer as PlannedFolder, entry),
    };
    await walkTree({ slice, deadline: requester.deadline, visitor }, inside);
    this.seen.set(`${path}/`, hash.digest("hex"));
  }
}

/** Hashes a name, and for an entry on disk the stats that change with its content. */
function addEntry(hash: Hash, folder: PlannedFolder, { raw, name }: Entry): undefined {
  const stats = ignoreMissing(() => folder.lstat(raw));
  const own = stats === undefined || stats.isDirectory() ? [] : [stats.size, stats.mtimeMs, stats.ino];
  const facts = folder.isOnDisk(raw) ? own : [];
  hash.update(JSON.stringify([pathIn(folder.path, name), stats?.mode, ...facts]));
}

/** Returns whether two planned trees were made from the same entries. */
export const areSameReads = (one: Reads, other: Reads): boolean =>
  one.size === other.size && [...one].every(([path, seen]) => other.get(path) === seen);
