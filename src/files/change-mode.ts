import { refuse } from "../errors.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, Name, PathHandle } from "../jail/folder.ts";
import { runInSlices } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { readEntries } from "./entries.ts";
import {
  changePermissions,
  changeTree,
  type MutationScope,
  type Permitted,
  permissionChange,
} from "./mutate.ts";
import type { Permissions, Requester } from "./mutation.ts";
import { requireAllowed, type TreeOperation, yieldToEventLoop } from "./remove.ts";
import type { FilesContext } from "./types.ts";

/** The permission bits, exactly, and who shall own it; undefined leaves that as it is. */
export interface ModeOptions extends Permissions {
  /** Changes what is in a folder too. A link is refused then. */
  readonly recursive: boolean;
}

interface ModeChange extends ModeOptions {
  readonly path: string;
}

/** See `Files.changeMode`. The first failure ends it; what was changed before stays changed. */
export async function changeMode(
  { jail, mutations }: FilesContext,
  change: ModeChange,
  requester: Requester,
): Promise<number> {
  const { path, recursive } = change;
  const scope = { mutations, requester };
  try {
    using place = jail.admit(path, { changes: "tree", lastLink: recursive ? "stay" : "follow" });
    const stats = place.stats!;
    if (place.name === ".") throw refuse.rootIsKept(path);
    if (stats.isSymbolicLink()) throw refuse.notAFolder(path);
    const top = { path: place.path, handle: place, stats };
    if (!recursive || !stats.isDirectory()) return apply(scope, change, top);
    const permissions = permissionChange(stats, change);
    const description = { kind: "change-mode", path: place.path, entry: "dir", permissions } as const;
    using slice = createWalkSlice(requester);
    return await changeTree(scope, description, (steps) => {
      const operation = { jail, path, deadline: requester.deadline, slice, entries: 0, change, scope: steps };
      return changeFolder(operation, { folder: place.folder, name: place.name, ...top });
    });
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

/** One call that changes a tree. */
interface TreeChange extends TreeOperation {
  readonly change: ModeChange;
  readonly scope: MutationScope;
}

interface FoundFolder extends Permitted {
  /** The folder that it is in. */
  readonly folder: Folder;
  readonly name: Name;
}

function apply(scope: MutationScope, { mode, uid, gid }: ModeChange, found: Permitted): 1 {
  changePermissions(scope, found, { mode, uid, gid });
  return 1;
}

/** The folder itself comes last: its new mode may keep us out of it. */
async function changeFolder(operation: TreeChange, found: FoundFolder): Promise<number> {
  const { jail, scope, change } = operation;
  let changed = 0;
  using folder = enter(operation, found);
  for (const { raw, name } of await runInSlices(readEntries(folder), operation.slice)) {
    await yieldToEventLoop(operation);
    if (jail.isTemporary(name)) continue;
    requireAllowed(operation, folder, name);
    using handle = openUnlessGone(folder, raw);
    if (handle === undefined || handle.stats.isSymbolicLink()) continue;
    const { stats } = handle;
    if (jail.isProtected(stats)) throw refuse.absent(change.path, "denied");
    const inner = { path: pathIn(folder.path, name), folder, name: raw, handle, stats };
    changed += stats.isDirectory() ? await changeFolder(operation, inner) : apply(scope, change, inner);
  }
  return changed + apply(scope, change, found);
}

/** Holds the folder; where its old mode keeps us out, it gets the new one first. */
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

function openUnlessGone(folder: Folder, name: Name): (PathHandle & Disposable) | undefined {
  try {
    const handle = folder.openPath(name);
    return Object.assign(handle, { [Symbol.dispose]: () => handle.close() });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
