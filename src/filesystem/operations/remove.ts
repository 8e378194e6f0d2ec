import { refuse } from "../../base/errors.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import type { GoingEntry, Requester } from "../disk/mutation.ts";
import { readFewEntries } from "../files/entries.ts";
import { ignoreMissing, isMissing } from "../files/ignore-missing.ts";
import type { Entry } from "../files/types.ts";
import { type Folder, isTextIn, type ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { requireRevision } from "./expected-revision.ts";
import { type LinkOptions, lastLinkOf } from "./last-link.ts";
import { refusalOfRemoval } from "./partly-removed.ts";
import {
  jailWithoutProtection,
  type RemovalProgress,
  requireNothingDenied,
  type TreeOperation,
} from "./require-allowed.ts";
import { requireWritableFolder } from "./require-writable.ts";
import type { WritableTree } from "./writable-tree.ts";

export interface Removal extends LinkOptions {
  readonly path: string;
  readonly recursive: boolean;
  /** The revision that the removed file must have. Throws revision-mismatch otherwise. */
  readonly expectedRevision?: string | undefined;
  /** Receives the progress in a folder. */
  readonly progress?: RemovalProgress | undefined;
  /** Receives each entry of a folder before anything in it is removed. */
  readonly onEntry?: ((entry: Entry) => void) | undefined;
}

/** Removes a file, a link (not its target) or a folder. Returns false if nothing was there. */
export async function removePath(
  tree: WritableTree,
  removal: Removal,
  requester: Requester,
): Promise<boolean> {
  const { path } = removal;
  try {
    using admitted = await tree.admit(
      [{ path, changes: "tree", lastLink: lastLinkOf(path, removal) }],
      requester.deadline,
    );
    await removeAt(tree, removal, { place: admitted.places[0], requester });
    return true;
  } catch (error) {
    const refusal = refusalOfRemoval(error, path);
    if (!isMissing(refusal)) throw refusal;
    // Entries of it may be missing because another program has renamed or exchanged a folder.
    if ((removal.progress?.removed ?? 0) > 0) throw refuse.refilledInside(path);
    return false;
  }
}

/** Like `removePath`, but a link may lead anywhere, and it throws if nothing is there. */
export async function unlinkPath(tree: WritableTree, removal: Removal, requester: Requester): Promise<void> {
  const { path } = removal;
  try {
    using admitted = await tree.admit([{ path, changes: "tree", lastLink: "bare" }], requester.deadline);
    await removeAt(tree, removal, { place: admitted.places[0], requester });
  } catch (error) {
    throw refusalOfRemoval(error, path);
  }
}

interface Admitted {
  readonly place: ResolvedPath;
  readonly requester: Requester;
}

/** Removes the entry at an admitted place. */
export async function removeAt(tree: WritableTree, removal: Removal, admitted: Admitted): Promise<void> {
  const { path, recursive, expectedRevision, onEntry, progress } = removal;
  const { place, requester } = admitted;
  const { folder, name, stats } = place;
  if (name === ".") throw refuse.baseIsKept();
  if (expectedRevision !== undefined) requireRevision(place, expectedRevision, tree.config);
  const { isPlanned, isTrial } = tree;
  const going = isPlanned ? requester.forecast?.removal({ isOneStep: !isTrial }) : undefined;
  if (stats!.isDirectory() && recursive) {
    using inside = folder.child(name);
    using slice = createWalkSlice(requester);
    const jail = tree.jail.mayGoWhole(place) ? jailWithoutProtection(tree.jail) : tree.jail;
    const foreseeing = (entry: Entry, at: Folder) => {
      onEntry?.(entry);
      going?.add(goingEntry(entry, at));
    };
    const whole = { jail, path, deadline: requester.deadline, slice, onEntry: foreseeing, progress };
    const operation = await requireRemovableTree(tree, whole, { folder, inside });
    if (isPlanned) requireWritableFolder(folder, path);
    going?.add({ kind: "dir", size: 0, isText: true });
    going?.end();
    await tree.setAside({ place, contents: { inside, operation } }, requester);
    return;
  }
  if (isPlanned && stats!.isDirectory()) requireEmpty(tree, path, place);
  if (isPlanned) requireWritableFolder(folder, path);
  going?.add({ kind: kindOf(stats!) ?? "other", size: stats!.size, isText: true });
  going?.end();
  await tree.setAside({ place, expectedRevision }, requester);
}

/** Returns an entry of a folder that would be removed. */
function goingEntry({ kind, raw }: Entry, folder: Folder): GoingEntry {
  const size = kind === "file" ? (ignoreMissing(() => folder.lstat(raw))?.size ?? 0) : 0;
  return { kind, size, isText: isTextIn(folder, raw) };
}

/** Throws if a caller can see anything in the folder. */
export function requireEmpty({ jail }: WritableTree, path: string, { folder, name }: ResolvedPath): void {
  using inside = folder.child(name);
  const isLeftOut = (entry: string) => jail.isTemporary(entry);
  if (readFewEntries(inside, { most: 0, isLeftOut }) === undefined) throw refuse.notEmpty(path);
}

/** Throws if anything inside must not be removed. */
async function requireRemovableTree(
  tree: WritableTree,
  whole: TreeOperation,
  { folder, inside }: { readonly folder: Folder; readonly inside: Folder },
): Promise<TreeOperation> {
  const isMounted = tree.holdsMount(inside);
  const operation = { ...whole, device: isMounted === undefined ? folder.lstat(".").dev : undefined };
  await requireNothingDenied(operation, inside);
  if (isMounted) throw refuse.holdsMount(whole.path);
  return operation;
}
