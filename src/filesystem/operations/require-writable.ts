/** Checks by access(2), since a step replaces and removes what this process could not write to. */
import type { Stats } from "node:fs";
import { refuse } from "../../base/errors.ts";
import { mapErrno } from "../jail/errno.ts";
import type { Folder, ResolvedPath } from "../jail/folder.ts";

/** Throws unless `place` is a regular file that this process may write to. */
export function requireWritableFile(place: ResolvedPath): void {
  const stats = place.stats!;
  if (!stats.isFile()) throw refuse.notAFile(place.requested);
  // Root could write to it, and must not.
  if ((stats.mode & 0o222) === 0 && mayChangeMode(stats))
    throw refuse.readOnlyFile(place.requested, stats.mode);
  mapErrno(place.requested, () => place.requireWritable());
}

const mayChangeMode = ({ uid }: Stats): boolean => [0, uid].includes(process.geteuid!());

/** Throws unless this process may create and remove names in the folder. */
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
