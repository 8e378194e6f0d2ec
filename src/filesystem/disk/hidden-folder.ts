/** A folder that is built under a temporary name, invisible to callers until it gets its own. */
import { mkdirSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { walkTree } from "../files/tree-walk.ts";
import type { Entry } from "../files/types.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, JailedPath, Name } from "../jail/folder.ts";
import { inodeAt } from "../jail/inode.ts";
import { temporaryName } from "../jail/temporary.ts";
import { awaitDeferredCloses, closeRemoved, holdToRemove } from "./deferred-close.ts";

/** A hidden folder. Dispose of `folder`, and remove it if it gets no name. */
export interface HiddenFolder {
  readonly name: string;
  readonly folder: Folder;
  /** Throws ESTALE if another program has removed or replaced it. */
  requireOurs(path: JailedPath): void;
}

/** Creates a folder that only this user may enter. Throws the errno error. */
export function makeHiddenFolder(outer: Folder): HiddenFolder {
  const name = temporaryName();
  const ours = outer.enter((at) => {
    mkdirSync(at(name), 0o700);
    return inodeAt(at(name));
  });
  const requireOurs = (path: JailedPath) => {
    if (inodeAt(path) !== ours) throw errnoError("ESTALE");
  };
  const folder = outer.child(name);
  try {
    folder.enter((at) => requireOurs(at(".")));
    return { name, folder, requireOurs };
  } catch (error) {
    folder.close();
    throw error;
  }
}

/**
 * Creates an empty folder with this name and mode, or with the mode that the umask leaves. Throws the errno
 * error.
 */
export function makeStagedFolder(outer: Folder, name: string, mode: number | undefined): void {
  if (mode === undefined) {
    outer.enter((at) => mkdirSync(at(name)));
    return;
  }
  outer.enter((at) => mkdirSync(at(name), 0o700));
  const handle = outer.openPath(name);
  try {
    handle.chmod(mode);
  } finally {
    handle.close();
  }
}

/** Creates a folder in a hidden one. */
export function makeInnerFolder(outer: Folder, name: Name): Folder {
  outer.enter((at) => mkdirSync(at(name), 0o700));
  return outer.child(name);
}

/** Removes an empty folder in a hidden one. */
export const removeInnerFolder = (outer: Folder, name: Name): void =>
  outer.enter((at) => rmdirSync(at(name)));

/** Creates a link in a hidden folder. */
export const makeInnerLink = (folder: Folder, name: Name, text: Buffer): void =>
  folder.enter((at) => symlinkSync(text, at(name)));

/**
 * Removes a hidden folder with everything in it, in time slices, and frees its blocks. Throws the errno
 * error.
 */
export async function removeHiddenFolder(
  outer: Folder,
  name: Name,
  slice: TimeSlice = createTimeSlice(),
): Promise<void> {
  {
    using folder = enter(outer, name);
    await walkTree(
      {
        slice,
        visitor: {
          open: (visit) => (visit.entry.kind === "dir" ? enter(visit.folder, visit.entry.raw) : undefined),
          postorder: ({ folder: holder, entry }) => removeInner(holder, entry),
        },
      },
      folder,
    );
  }
  outer.enter((at) => rmdirSync(at(name)));
  await awaitDeferredCloses();
}

/**
 * Removes an entry, a folder once it is empty. Nearly all the time of a removed file goes into freeing its
 * blocks, which waits for other writers of a busy disk: so several are freed at once, in the background.
 */
async function removeInner(holder: Folder, { kind, raw }: Entry): Promise<void> {
  const held = kind === "file" ? holdToRemove(holder, raw) : undefined;
  try {
    holder.enter((at) => (kind === "dir" ? rmdirSync(at(raw)) : unlinkSync(at(raw))));
  } finally {
    if (held !== undefined) await closeRemoved(held);
  }
}

/** Enters a folder, even if its mode denies access. */
function enter(outer: Folder, name: Name): Folder {
  const handle = outer.openPath(name);
  try {
    if (handle.stats.isDirectory() && (handle.stats.mode & 0o700) !== 0o700) handle.chmod(0o700);
  } finally {
    handle.close();
  }
  return outer.child(name);
}
