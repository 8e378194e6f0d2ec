import { mapErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";

/** Throws unless this process may give names in the folder and take them away, as far as access(2) says. */
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
