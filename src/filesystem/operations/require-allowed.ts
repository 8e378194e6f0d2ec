import { refuse } from "../../base/errors.ts";
import { isMissing } from "../files/ignore-missing.ts";
import { defaultMaxDepth, type TreeVisitor, type TreeWalk, walkTree } from "../files/tree-walk.ts";
import type { Entry } from "../files/types.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { refuseJailed } from "../jail/jail-errors.ts";

/** The progress of a removal, which keeps it if the removal fails. */
export interface RemovalProgress {
  /** The number of removed entries. */
  removed: number;
  /** The entry that could not be removed, by its path from the base, and the error. */
  stop?: { readonly path: string; readonly error: unknown };
}

/** A call that walks through a tree. */
export interface TreeOperation extends Pick<TreeWalk, "slice" | "deadline"> {
  readonly jail: Jail;
  /** The path as the caller sent it. */
  readonly path: string;
  /** The device that all folders must be on; `undefined` allows any. */
  readonly device?: number | undefined;
  readonly progress?: RemovalProgress | undefined;
  /** Gets each entry that is not a temporary file, while `requireNothingDenied` checks them. */
  readonly onEntry?: ((entry: Entry, folder: Folder) => void) | undefined;
}

/** Returns the jail for a walk through a folder that may be removed with what is protected in it. */
export const jailWithoutProtection = (jail: Jail): Jail => ({ ...jail, deniesWritingIn: () => false });

/**
 * Throws if anything in the folder, however deep, is denied or on a wrong device. Await it before changing
 * anything in a tree.
 */
export function requireNothingDenied(operation: TreeOperation, folder: Folder): Promise<void> {
  const { preorder, ...others } = allowedOnly(operation);
  const visitor: TreeVisitor = {
    ...others,
    onEnter: (entered) => requireSameDevice(operation, entered),
    preorder(visit) {
      if (!operation.jail.isTemporary(visit.entry.name)) operation.onEntry?.(visit.entry, visit.folder);
      return preorder?.(visit);
    },
  };
  return walkTree({ ...operation, visitor }, folder);
}

/**
 * Returns a visitor that throws for a denied entry, or one that is too deep. It ignores entries that have
 * been removed.
 */
export function allowedOnly(
  operation: TreeOperation,
): Pick<TreeVisitor, "preorder"> & Required<Pick<TreeVisitor, "onUnreadable" | "onTooDeep">> {
  const { path } = operation;
  return {
    preorder: ({ folder, entry }) => requireAllowed(operation, folder, entry.name),
    onUnreadable(error) {
      // A pseudo file system that is mounted inside counts as denied: nothing around it may be changed
      // either.
      if (errnoOf(error) === "ENODEV") throw refuse.absent(path, "denied");
      if (!isMissing(error)) throw error;
    },
    onTooDeep() {
      throw refuse.tooDeep(path, defaultMaxDepth);
    },
  };
}

/**
 * Throws for an entry that the call must not touch. Temporary files do not count, since they go with their
 * folder.
 */
export function requireAllowed(
  { jail, path }: Pick<TreeOperation, "jail" | "path">,
  folder: Folder,
  name: string,
): undefined {
  if (jail.isTemporary(name)) return;
  if (jail.deniesIn(folder, name)) throw refuse.absent(path, "denied");
  if (jail.deniesWritingIn(folder, name)) throw refuseJailed.protected(path);
}

function requireSameDevice({ device, path }: TreeOperation, folder: Folder): void {
  if (device !== undefined && folder.lstat(".").dev !== device) throw refuse.holdsMount(path);
}
