import { lstatSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import { entriesAt, type PinnedEntry, pinEntry } from "../disk/held-entry.ts";
import type { Requester } from "../disk/mutation.ts";
import { changeTree, type MutationScope } from "../disk/scope.ts";
import { removeEntry, removeVerified, reportMoved } from "../disk/set-aside.ts";
import { sweepWithFolders } from "../disk/sweep.ts";
import { flushFolder } from "../disk/write.ts";
import { readEntries, readFewEntries } from "../files/entries.ts";
import { ignoreMissing } from "../files/ignore-missing.ts";
import { isLarge } from "../files/revision.ts";
import { type TreeVisitor, walkTree } from "../files/tree-walk.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { Folder, JailedPath, Name, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { isTemporary } from "../jail/temporary.ts";
import { requireRevisionAt } from "./expected-revision.ts";
import { allowedOnly, type RemovalProgress, requireAllowed, type TreeOperation } from "./require-allowed.ts";
import type { FolderContents, SettingAside } from "./writable-tree.ts";

/** Removes an entry from the disk. */
export async function removeFromDisk(disk: Disk, step: SettingAside, requester: Requester): Promise<void> {
  const { place, expectedRevision: expected, contents } = step;
  const { folder, name: raw, stats } = place;
  const scope = { mutations: disk.mutations, requester };
  if (expected !== undefined) {
    const verify = (at: JailedPath) => requireRevisionAt(at, { path: place.requested, expected });
    await readAhead(scope, folder, raw);
    await disk.editLock({ folder, deadline: requester.deadline }, () =>
      removeVerified(scope, folder, { raw, kind: "file", verify }),
    );
  } else if (!stats!.isDirectory()) {
    await readAhead(scope, folder, raw);
    removeEntry(scope, folder, { raw, kind: kindOf(stats!) ?? "other" });
  } else if (contents !== undefined) await removeTree(scope, place, contents);
  else await removeEmpty(disk, scope, place);
  if (disk.config.fsync) await flushFolder(folder);
}

/** Lets listeners read a large file before the step that removes it. */
async function readAhead({ mutations, requester }: MutationScope, folder: Folder, name: Name): Promise<void> {
  // Not `folder.lstat`: when descriptors are short, no step may need more than the walk did.
  const stats = ignoreMissing(() => folder.enter((at) => lstatSync(at(name))));
  if (stats !== undefined && isLarge(stats))
    await mutations.readAhead(entriesAt({ folder, name }), requester);
}

async function removeTree(
  scope: MutationScope,
  { folder, name, path }: ResolvedPath,
  { inside, operation }: FolderContents,
): Promise<void> {
  const { progress = { removed: 0 } } = operation;
  const entry = { raw: name, kind: "dir" } as const;
  try {
    await changeTree(scope, { kind: "remove", path, entry: "dir" }, async (steps) => {
      using emptied = EmptiedFolder.at(folder, name, { steps, progress });
      if (emptied === undefined) throw errnoError("ENOENT");
      await removeInside({ steps, progress, parent: emptied }, operation, inside);
      emptied.isRemoved = removeOf(progress, path, () => removeEntry(steps, folder, entry));
    });
  } catch (error) {
    throw errnoOf(error) === "ENOTEMPTY" ? refuse.refilled(operation.path) : error;
  }
}

/** Removes everything in the folder. A link is removed as a link. */
function removeInside(emptying: Emptying, operation: TreeOperation, inside: Folder): Promise<void> {
  const { steps, progress, parent: held } = emptying;
  // This check is repeated, since a denied entry may have been put there later.
  const { onUnreadable, onTooDeep } = allowedOnly(operation);
  const visitor: TreeVisitor<EmptiedFolder> = {
    ...{ onUnreadable, onTooDeep },
    preorder({ folder, entry, parent }) {
      requireAllowed(operation, folder, entry.name);
      return entry.kind === "dir" ? EmptiedFolder.at(folder, entry.raw, { ...emptying, parent }) : undefined;
    },
    open: ({ folder, entry }, emptied) => (emptied === undefined ? undefined : folder.child(entry.raw)),
    async postorder({ folder, entry }, emptied) {
      if (entry.kind === "file") await readAhead(steps, folder, entry.raw);
      const path = pathIn(folder.path, entry.name);
      const isRemoved = removeOf(progress, path, () => removeEntry(steps, folder, entry));
      if (emptied !== undefined) emptied.isRemoved = isRemoved;
    },
  };
  return walkTree({ ...operation, visitor }, inside, held);
}

interface Emptying {
  readonly steps: MutationScope;
  readonly progress: RemovalProgress;
  /** The folder that contains it, if that is being emptied too. */
  readonly parent?: EmptiedFolder | undefined;
}

/**
 * A folder of a tree that is being removed. When it is disposed of, and another program has moved it away, or
 * one above it, after something in it was removed, its removal is reported.
 */
class EmptiedFolder implements Disposable {
  readonly #folder: Folder;
  readonly #name: Name;
  readonly #pinned: PinnedEntry;
  readonly #emptying: Emptying;
  readonly #removedBefore: number;
  /** Whether it was removed itself, or could not be since it was away; `undefined` before. */
  isRemoved: boolean | undefined;

  private constructor(folder: Folder, name: Name, emptying: Emptying & { readonly pinned: PinnedEntry }) {
    this.#folder = folder;
    this.#name = name;
    this.#pinned = emptying.pinned;
    this.#emptying = emptying;
    this.#removedBefore = emptying.progress.removed;
  }

  /** Returns the folder with the name, or `undefined` if that is free. */
  static at(folder: Folder, name: Name, emptying: Emptying): EmptiedFolder | undefined {
    const pinned = pinEntry(folder, name);
    return pinned === undefined ? undefined : new EmptiedFolder(folder, name, { ...emptying, pinned });
  }

  [Symbol.dispose](): void {
    const { steps, progress } = this.#emptying;
    if (this.isRemoved === true || progress.removed === this.#removedBefore) return;
    if (this.isRemoved === false || this.isAway()) reportMoved(steps, this.#folder, this.#name, this.#pinned);
  }

  /** Returns whether its path leads elsewhere now. */
  isAway(): boolean {
    if (this.#emptying.parent?.isAway() === true) return true;
    try {
      this.#folder.enter((at) => this.#pinned.requireSame(at(this.#name), true));
      return false;
    } catch {
      // It has no name there, or the folder above it cannot be entered any longer.
      return true;
    }
  }
}

/** Removes an entry of a tree, and notes the progress. Returns false if it is gone. */
function removeOf(progress: RemovalProgress, path: string, remove: () => void): boolean {
  const removed = ignoreMissing(() => {
    try {
      remove();
    } catch (error) {
      progress.stop = { path, error };
      throw error;
    }
    progress.removed++;
    return true;
  });
  return removed === true;
}

/** Removes a folder that looks empty to a caller, since it contains only leftovers. */
async function removeEmpty(disk: Disk, scope: MutationScope, { folder, name }: ResolvedPath): Promise<void> {
  const entry = { raw: name, kind: "dir" } as const;
  try {
    removeEntry(scope, folder, entry);
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY") throw error;
    using inside = folder.child(name);
    if (readFewEntries(inside, { most: 0, isLeftOut: isTemporary }) === undefined) throw error;
    await sweepWithFolders(scope, { folder: inside, entries: runAtOnce(readEntries(inside)), disk });
    inside.close();
    removeEntry(scope, folder, entry);
  }
}
