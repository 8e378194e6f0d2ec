import { refuse } from "../../base/errors.ts";
import type { Requester } from "../disk/mutation.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import { requireWritableFolder } from "./require-writable.ts";
import type { WritableTree } from "./writable-tree.ts";

export interface Making {
  readonly path: string;
  /** The exact permission bits of the folder; `undefined` leaves them to the umask. */
  readonly mode?: number | undefined;
  /** Whether to create missing folders on the way, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** Whether the folder may already exist. Default: the value of `parents`. */
  readonly mayExist?: boolean;
}

/** Creates a folder. Returns false if it exists, which throws exists unless allowed. */
export async function makeFolderAt(
  tree: WritableTree,
  making: Making,
  requester: Requester,
): Promise<boolean> {
  const { path, mode, parents, mayExist = parents } = making;
  const options = { changes: "entry", mayBeMissing: true, mayBeFolder: true, parents } as const;
  using admitted = await tree.admit([{ path, ...options }], requester.deadline);
  const [place] = admitted.places;
  if (place.stats !== undefined) {
    if (mayExist && place.stats.isDirectory()) return false;
    throw refuse.nameIsTaken(path);
  }
  if (tree.isPlanned) requireWritableFolder(place.folder, path);
  try {
    await tree.place({ place, made: { kind: "dir", mode } }, requester);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw refusalOfErrno(error, path);
  }
  // Another program has made the folder since it was admitted.
  if (mayExist && place.folder.lstat(place.name).isDirectory()) return false;
  throw refuse.nameIsTaken(path);
}
