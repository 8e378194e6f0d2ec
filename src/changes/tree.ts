import type { Permissions, Requester } from "../disk/mutation.ts";
import type { FilesConfig } from "../files/types.ts";
import type { Jail, ResolvedPath } from "../jail/folder.ts";

/** The permission bits, and the owners if they change, for a file or folder. */
export interface ModeStep extends Permissions {
  readonly place: ResolvedPath;
  /** Whether to change everything in a folder too. */
  readonly recursive: boolean;
}

/**
 * A tree that verbs change: the disk (`DiskTree`), or a plan over it (`PendingTree`). The methods are the
 * steps of decision 27, each for a place that the jail of this tree has admitted. They throw errno errors.
 */
export interface WritableTree {
  readonly jail: Jail;
  readonly config: FilesConfig;
  /** Sets permissions. Returns the number of changed entries. */
  setPermissions(step: ModeStep, requester: Requester): Promise<number>;
}
