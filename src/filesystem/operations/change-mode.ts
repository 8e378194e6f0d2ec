import { refuse } from "../../base/errors.ts";
import type { Permissions, Requester } from "../disk/mutation.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { Jail, ResolvedPath } from "../jail/folder.ts";
import type { WritableTree } from "./writable-tree.ts";

/** The exact permission bits, and the new owner; `undefined` leaves a part unchanged. */
export interface ModeOptions extends Permissions {
  /** Whether to change everything in a folder too. A link is refused then. */
  readonly recursive: boolean;
}

interface ModeChange extends ModeOptions {
  readonly path: string;
}

/**
 * Sets permissions and owners of a file, or of a tree without its links. Returns the number of changed
 * entries.
 */
export async function changeMode(
  tree: WritableTree,
  change: ModeChange,
  requester: Requester,
): Promise<number> {
  const { path, ...step } = change;
  try {
    using place = admitPermitted(tree.jail, change);
    return await tree.setPermissions({ place, ...step }, requester);
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

/** Admits a file or folder whose mode may change. */
export function admitPermitted(
  jail: Jail,
  { path, recursive }: Pick<ModeChange, "path" | "recursive">,
): ResolvedPath {
  const place = jail.admit(path, { changes: "tree", lastLink: recursive ? "stay" : "follow" });
  if (place.name !== "." && !place.stats!.isSymbolicLink()) return place;
  place[Symbol.dispose]();
  throw place.name === "." ? refuse.rootIsKept(path) : refuse.notAFolder(path);
}
