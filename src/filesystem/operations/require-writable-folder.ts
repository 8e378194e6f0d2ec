import { mapErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";

/** Throws unless access(2) says that this process may create and remove names in the folder. */
export function requireWritableFolder(folder: Folder, requested: string): void {
  mapErrno(requested, () => {
    const handle = folder.openPath(".");
    try {
      handle.requireWritable();
    } finally {
      handle.close();
    }
  });
}
