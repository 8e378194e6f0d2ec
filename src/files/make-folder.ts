import { refuse } from "../errors.ts";
import { errnoOf, mapErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { makeDirectory } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { NewFolders } from "./new-folders.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";
import type { FilesContext } from "./types.ts";

export interface FolderOptions {
  /** The permission bits of the folder, exactly. */
  readonly mode: number;
  /** Whether missing folders on the way are made, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** Whether the folder may be there already. Default: with `parents`. */
  readonly mayExist?: boolean;
  /** Everything is checked and nothing is made. Default false. */
  readonly dryRun?: boolean;
}

interface Making extends FolderOptions {
  readonly path: string;
}

/** See `Files.makeFolder`. */
export function createFolder(
  { jail, mutations }: FilesContext,
  making: Making,
  requester: Requester,
): boolean {
  const { path, parents, mayExist = parents, dryRun = false } = making;
  using place = jail.admit(path, { changes: "entry", mayBeMissing: true, mayBeFolder: true, parents });
  if (place.stats !== undefined) {
    if (mayExist && place.stats.isDirectory()) return false;
    throw refuse.nameIsTaken(path);
  }
  if (dryRun) requireWritableFolder(place.folder, path);
  else if (!isMadeAt(place, making, { mutations, requester })) {
    if (mayExist && place.folder.lstat(place.name).isDirectory()) return false;
    throw refuse.nameIsTaken(path);
  }
  return true;
}

/** False when something has the name by now. */
function isMadeAt(
  place: ResolvedPath,
  { path, mode }: Making,
  scope: Pick<FilesContext, "mutations"> & { readonly requester: Requester },
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
