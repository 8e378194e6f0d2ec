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
    using admitted = await tree.admit([{ path, ...optionsOf(change) }], requester.deadline);
    const [place] = admitted.places;
    requirePermitted(place, path);
    return await tree.setPermissions({ place, ...step }, requester);
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

type PermittedPath = Pick<ModeChange, "path" | "recursive">;

const optionsOf = ({ recursive }: PermittedPath) =>
  ({ changes: "tree", lastLink: recursive ? "stay" : "follow" }) as const;

/** Admits a file or folder whose mode may change. */
export function admitPermitted(jail: Pick<Jail, "admit">, permitted: PermittedPath): ResolvedPath {
  const place = jail.admit(permitted.path, optionsOf(permitted));
  try {
    requirePermitted(place, permitted.path);
    return place;
  } catch (error) {
    place[Symbol.dispose]();
    throw error;
  }
}

function requirePermitted({ name, stats }: ResolvedPath, path: string): void {
  if (name === ".") throw refuse.rootIsKept(path);
  if (stats!.isSymbolicLink()) throw refuse.notAFolder(path);
}
