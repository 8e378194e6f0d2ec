import { refuse } from "../errors.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, Name, PathHandle } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { runInSlices } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { readEntries } from "./entries.ts";
import { requireAllowed, type TreeOperation, yieldToEventLoop } from "./remove.ts";
import type { FilesContext } from "./types.ts";

export interface ModeOptions {
  /** The permission bits, exactly. */
  readonly mode: number;
  /** Who shall own it; undefined leaves that as it is. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** Changes what is in a folder too. A link is refused then. */
  readonly recursive: boolean;
  /** See `Walker`. */
  readonly caller?: string | undefined;
}

interface ModeChange extends ModeOptions {
  readonly path: string;
}

/** See `Files.changeMode`. The first failure ends it; what was changed before stays changed. */
export async function changeMode(
  { jail }: FilesContext,
  change: ModeChange,
  deadline: Deadline,
): Promise<number> {
  const { path, recursive, caller } = change;
  try {
    using place = jail.admit(path, { changes: "tree", lastLink: recursive ? "stay" : "follow" });
    const stats = place.stats!;
    if (place.name === ".") throw refuse.rootIsKept(path);
    if (stats.isSymbolicLink()) throw refuse.notAFolder(path);
    if (!recursive || !stats.isDirectory()) return apply(change, { sight: place, stats });
    using slice = createWalkSlice({ deadline, caller });
    const errand: TreeOperation = { jail, path, deadline, slice, entries: 0 };
    return await changeFolder(errand, change, {
      folder: place.folder,
      name: place.name,
      sight: place,
      stats,
    });
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

/** A file that was seen. */
interface Seen {
  readonly sight: Pick<PathHandle, "chmod" | "chown">;
  readonly stats: { readonly uid: number; readonly gid: number };
}

interface SeenFolder extends Seen {
  /** The folder that it is in. */
  readonly folder: Folder;
  readonly name: Name;
}

function apply({ mode, uid, gid }: ModeChange, { sight, stats }: Seen): 1 {
  sight.chmod(mode);
  if (uid === undefined && gid === undefined) return 1;
  sight.chown(uid ?? stats.uid, gid ?? stats.gid);
  // A new owner costs a file its special bits.
  if (mode > 0o777) sight.chmod(mode);
  return 1;
}

/** The folder itself comes last: its new mode may keep us out of it. */
async function changeFolder(errand: TreeOperation, change: ModeChange, seen: SeenFolder): Promise<number> {
  let changed = 0;
  using folder = enter(change, seen);
  for (const { raw, name } of await runInSlices(readEntries(folder), errand.slice)) {
    await yieldToEventLoop(errand);
    if (errand.jail.isTemporary(name)) continue;
    requireAllowed(errand, folder, name);
    using sight = lookOrGone(folder, raw);
    if (sight === undefined || sight.stats.isSymbolicLink()) continue;
    if (errand.jail.isProtected(sight.stats)) throw refuse.absent(change.path, "denied");
    const inner = { folder, name: raw, sight, stats: sight.stats };
    changed += sight.stats.isDirectory() ? await changeFolder(errand, change, inner) : apply(change, inner);
  }
  return changed + apply(change, seen);
}

/** Holds the folder; where its old mode keeps us out, it gets the new one first. */
function enter({ mode }: ModeChange, { folder, name, sight }: SeenFolder): Folder {
  const child = folder.child(name);
  try {
    requireListable(child);
    child.openPath(".").close();
    return child;
  } catch {
    child.close();
    sight.chmod(mode);
    return folder.child(name);
  }
}

/** Throws the errno error unless the names in the folder may be read. */
function requireListable(folder: Folder): void {
  const listing = folder.list(() => {});
  listing.next();
  listing.return();
}

function lookOrGone(folder: Folder, name: Name): (PathHandle & Disposable) | undefined {
  try {
    const sight = folder.openPath(name);
    return Object.assign(sight, { [Symbol.dispose]: () => sight.close() });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
