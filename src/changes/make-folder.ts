import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { makeDirectory } from "../disk/place.ts";
import { refuse } from "../errors.ts";
import { errnoOf, mapErrno } from "../jail/errno.ts";
import type { Jail, ResolvedPath } from "../jail/folder.ts";
import { NewFolders } from "./new-folders.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";

export interface FolderOptions {
  /** The exact permission bits of the folder; `undefined` leaves them to the umask. */
  readonly mode?: number | undefined;
  /** Whether to create missing folders on the way, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** Whether the folder may already exist. Default: the value of `parents`. */
  readonly mayExist?: boolean;
  /** Whether to check everything and create nothing. Default: false. */
  readonly dryRun?: boolean;
}

export interface Making extends FolderOptions {
  readonly path: string;
}

/** Implements `Files.makeFolder`. */
export function createFolder({ jail, mutations }: Disk, making: Making, requester: Requester): boolean {
  const { path, parents, mayExist = parents, dryRun = false } = making;
  using place = admitNewFolder(jail, making);
  if (place.stats !== undefined) return false;
  if (dryRun) requireWritableFolder(place.folder, path);
  else if (!isMadeAt(place, making, { mutations, requester })) {
    if (mayExist && place.folder.lstat(place.name).isDirectory()) return false;
    throw refuse.nameIsTaken(path);
  }
  return true;
}

/** Admits the place of a new folder, or of an existing one if that is allowed. */
export function admitNewFolder(jail: Jail, { path, parents, mayExist = parents }: Making): ResolvedPath {
  const place = jail.admit(path, { changes: "entry", mayBeMissing: true, mayBeFolder: true, parents });
  if (place.stats === undefined || (mayExist && place.stats.isDirectory())) return place;
  place[Symbol.dispose]();
  throw refuse.nameIsTaken(path);
}

/** Creates the folder. Returns false if the name is already taken. */
function isMadeAt(
  place: ResolvedPath,
  { path, mode }: Making,
  scope: Pick<Disk, "mutations"> & { readonly requester: Requester },
): boolean {
  using folders = new NewFolders(place, scope);
  return mapErrno(path, () => {
    const folder = folders.make();
    try {
      makeDirectory(scope, folder, { name: place.name, mode });
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
    folders.keep();
    return true;
  });
}
