import { refuse } from "../errors.ts";
import { errnoOf, mapErrno } from "../jail/errno.ts";
import { makeDirectory } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { NewFolders } from "./new-folders.ts";
import type { FilesContext } from "./types.ts";

export interface FolderOptions {
  /** The permission bits of the folder, exactly. */
  readonly mode: number;
  /** Whether missing folders on the way are made, with the permissions that the umask leaves. */
  readonly parents: boolean;
}

interface Making extends FolderOptions {
  readonly path: string;
}

/** See `Files.makeFolder`. */
export function makeFolder(
  { jail, mutations }: FilesContext,
  { path, mode, parents }: Making,
  requester: Requester,
): boolean {
  const scope = { mutations, requester };
  using place = jail.admit(path, { changes: "entry", mayBeMissing: true, parents });
  if (place.stats !== undefined) {
    if (parents && place.stats.isDirectory()) return false;
    throw refuse.exists(path);
  }
  using folders = new NewFolders(place, scope);
  return mapErrno(path, () => {
    const folder = folders.make();
    try {
      makeDirectory(scope, folder, { name: place.name, mode });
    } catch (error) {
      throw errnoOf(error) === "EEXIST" ? refuse.exists(path) : error;
    }
    folders.keep();
    return true;
  });
}
