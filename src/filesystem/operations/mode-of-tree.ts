import { refuse } from "../../base/errors.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import { changePermissions, type Permitted, permissionChange } from "../disk/chmod.ts";
import type { Disk } from "../disk/disk.ts";
import type { Permissions, Requester } from "../disk/mutation.ts";
import { changeTree, type MutationScope } from "../disk/scope.ts";
import { ignoreMissing } from "../files/ignore-missing.ts";
import { type TreeVisitor, type Visit, walkTree } from "../files/tree-walk.ts";
import { pathIn } from "../jail/backend.ts";
import { type Folder, isTextIn, type Name } from "../jail/folder.ts";
import { requireAllowed, type TreeOperation } from "./require-allowed.ts";
import type { ModeStep } from "./writable-tree.ts";

/** Sets permissions on the disk. The first failure ends it, and earlier changes stay. */
export async function changeModeOf(
  { jail, mutations }: Disk,
  change: ModeStep,
  requester: Requester,
): Promise<number> {
  const { place, recursive } = change;
  const scope = { mutations, requester };
  const stats = place.stats!;
  const top = { path: place.path, handle: place, stats };
  if (!recursive || !stats.isDirectory()) return apply(scope, change, top);
  const permissions = permissionChange(stats, change);
  const description = { kind: "change-mode", path: place.path, entry: "dir", permissions } as const;
  using slice = createWalkSlice(requester);
  const whole = { jail, path: place.requested, deadline: requester.deadline, slice, change };
  return await changeTree(scope, description, (steps) =>
    changeFolder({ ...whole, scope: steps }, { folder: place.folder, name: place.name, ...top }),
  );
}

/** One call that changes a tree. */
interface TreeChange extends TreeOperation {
  readonly change: ModeStep;
  readonly scope: MutationScope;
}

interface FoundFolder extends Permitted {
  /** The folder that contains it. */
  readonly folder: Folder;
  readonly name: Name;
}

function apply(scope: MutationScope, { mode, uid, gid }: Permissions, found: Permitted): 1 {
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
  const { jail } = operation;
  const { raw, name } = entry;
  if (jail.isTemporary(name)) return undefined;
  requireAllowed(operation, folder, name);
  const handle = ignoreMissing(() => folder.openPath(raw));
  if (handle === undefined) return undefined;
  const { stats } = handle;
  if (!stats.isSymbolicLink() && !jail.isProtected(stats)) {
    const found = { path: pathIn(folder.path, name), isText: isTextIn(folder, raw), handle, stats };
    return { ...found, [Symbol.dispose]: () => handle.close() };
  }
  handle.close();
  if (stats.isSymbolicLink()) return undefined;
  throw refuse.absent(operation.path, "denied");
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
