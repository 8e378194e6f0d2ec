import { lstatSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import { entriesAt } from "../disk/held-entry.ts";
import type { Requester } from "../disk/mutation.ts";
import { changeTree, type MutationScope } from "../disk/scope.ts";
import { removeEntry, removeVerified } from "../disk/set-aside.ts";
import { sweepWithFolders } from "../disk/sweep.ts";
import { flushFolder } from "../disk/write.ts";
import { readEntries, readFewEntries } from "../files/entries.ts";
import { ignoreMissing } from "../files/ignore-missing.ts";
import { isLarge } from "../files/revision.ts";
import { type TreeVisitor, walkTree } from "../files/tree-walk.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, JailedPath, Name, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { isTemporary } from "../jail/temporary.ts";
import { requireRevisionAt } from "./expected-revision.ts";
import { allowedOnly, type TreeOperation } from "./require-allowed.ts";
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
  try {
    await changeTree(scope, { kind: "remove", path, entry: "dir" }, async (steps) => {
      await removeInside(steps, operation, inside);
      removeOf(operation, path, () => removeEntry(steps, folder, { raw: name, kind: "dir" }));
    });
  } catch (error) {
    throw errnoOf(error) === "ENOTEMPTY" ? refuse.refilled(operation.path) : error;
  }
}

/** Removes everything in the folder. A link is removed as a link. */
function removeInside(steps: MutationScope, operation: TreeOperation, inside: Folder): Promise<void> {
  const visitor: TreeVisitor = {
    // This check is repeated, since a denied entry may have been put there later.
    ...allowedOnly(operation),
    async postorder({ folder, entry }) {
      if (entry.kind === "file") await readAhead(steps, folder, entry.raw);
      removeOf(operation, pathIn(folder.path, entry.name), () => removeEntry(steps, folder, entry));
    },
  };
  return walkTree({ ...operation, visitor }, inside);
}

/** Removes an entry of a tree, unless it is gone, and notes the progress. */
function removeOf({ progress }: TreeOperation, path: string, remove: () => void): void {
  ignoreMissing(() => {
    try {
      remove();
    } catch (error) {
      if (progress !== undefined) progress.stop = { path, error };
      throw error;
    }
    if (progress !== undefined) progress.removed++;
  });
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
