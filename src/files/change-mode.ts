import { refuse } from "../errors.ts";
import { pathIn } from "../jail/backend.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { Folder, Jail, Name, ResolvedPath } from "../jail/folder.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import {
  changePermissions,
  changeTree,
  type MutationScope,
  type Permitted,
  permissionChange,
} from "./mutate.ts";
import type { Permissions, Requester } from "./mutation.ts";
import { requireAllowed, type TreeOperation } from "./require-allowed.ts";
import { type TreeVisitor, type Visit, walkTree } from "./tree-walk.ts";
import type { FilesContext } from "./types.ts";

/** The exact permission bits, and the new owner; `undefined` leaves a part unchanged. */
export interface ModeOptions extends Permissions {
  /** Whether to change everything in a folder too. A link is refused then. */
  readonly recursive: boolean;
}

interface ModeChange extends ModeOptions {
  readonly path: string;
}

/** Implements `Files.changeMode`. The first failure ends it, and earlier changes stay. */
export async function changeMode(
  { jail, mutations }: FilesContext,
  change: ModeChange,
  requester: Requester,
): Promise<number> {
  const { path, recursive } = change;
  const scope = { mutations, requester };
  try {
    using place = admitPermitted(jail, change);
    const stats = place.stats!;
    const top = { path: place.path, handle: place, stats };
    if (!recursive || !stats.isDirectory()) return apply(scope, change, top);
    const permissions = permissionChange(stats, change);
    const description = { kind: "change-mode", path: place.path, entry: "dir", permissions } as const;
    using slice = createWalkSlice(requester);
    return await changeTree(scope, description, (steps) => {
      const operation = { jail, path, deadline: requester.deadline, slice, change, scope: steps };
      return changeFolder(operation, { folder: place.folder, name: place.name, ...top });
    });
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

/** One call that changes a tree. */
interface TreeChange extends TreeOperation {
  readonly change: ModeChange;
  readonly scope: MutationScope;
}

interface FoundFolder extends Permitted {
  /** The folder that contains it. */
  readonly folder: Folder;
  readonly name: Name;
}

function apply(scope: MutationScope, { mode, uid, gid }: ModeChange, found: Permitted): 1 {
  changePermissions(scope, found, { mode, uid, gid });
  return 1;
}

/** Changes everything in a folder, and then the folder itself, whose new mode may deny access to it. */
async function changeFolder(operation: TreeChange, found: FoundFolder): Promise<number> {
  const { scope, change } = operation;
  let changed = 0;
  const visitor: TreeVisitor<FoundEntry> = {
    preorder: (visit) => openAllowed(operation, visit),
    open: ({ folder, entry }, inner) =>
      inner?.stats.isDirectory() ? enter(operation, { ...inner, folder, name: entry.raw }) : undefined,
    postorder(_, inner) {
      if (inner !== undefined) changed += apply(scope, change, inner);
    },
  };
  using folder = enter(operation, found);
  await walkTree({ ...operation, visitor, maxDepth: Number.POSITIVE_INFINITY }, folder);
  return changed + apply(scope, change, found);
}

type FoundEntry = Permitted & Disposable;

/**
 * Opens an entry that may be changed. Returns `undefined` for links, temporary files, and entries that are
 * gone.
 */
function openAllowed(operation: TreeChange, { folder, entry }: Visit<FoundEntry>): FoundEntry | undefined {
  const { jail, change } = operation;
  const { raw, name } = entry;
  if (jail.isTemporary(name)) return undefined;
  requireAllowed(operation, folder, name);
  const handle = ignoreMissing(() => folder.openPath(raw));
  if (handle === undefined) return undefined;
  const { stats } = handle;
  if (!stats.isSymbolicLink() && !jail.isProtected(stats))
    return { path: pathIn(folder.path, name), handle, stats, [Symbol.dispose]: () => handle.close() };
  handle.close();
  if (stats.isSymbolicLink()) return undefined;
  throw refuse.absent(change.path, "denied");
}

/** Opens the folder. If its old mode denies that, it gets the new one first. */
function enter({ scope, change }: TreeChange, found: FoundFolder): Folder {
  const { folder, name } = found;
  const child = folder.child(name);
  try {
    requireListable(child);
    child.openPath(".").close();
    return child;
  } catch {
    child.close();
    changePermissions(scope, found, { mode: change.mode, uid: undefined, gid: undefined });
    return folder.child(name);
  }
}

/** Throws the errno error unless the names in the folder may be read. */
function requireListable(folder: Folder): void {
  const listing = folder.list(() => {});
  listing.next();
  listing.return();
}
