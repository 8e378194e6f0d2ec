import { mkdirSync } from "node:fs";
import { refuse } from "../errors.ts";
import { errnoOf, mapErrno } from "../jail/errno.ts";
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
export function makeFolder({ jail }: FilesContext, { path, mode, parents }: Making): boolean {
  using place = jail.admit(path, { changes: "entry", mayBeMissing: true, parents });
  if (place.stats !== undefined) {
    if (parents && place.stats.isDirectory()) return false;
    throw refuse.exists(path);
  }
  using folders = new NewFolders(place);
  return mapErrno(path, () => {
    const folder = folders.make();
    try {
      // Nobody else may enter before it has its mode.
      folder.enter((at) => mkdirSync(at(place.name), 0o700));
    } catch (error) {
      throw errnoOf(error) === "EEXIST" ? refuse.exists(path) : error;
    }
    folders.keep();
    const sight = folder.openPath(place.name);
    try {
      sight.chmod(mode);
    } finally {
      sight.close();
    }
    return true;
  });
}
