import { refuse } from "../../base/errors.ts";
import { mapErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Throws unless `place` is a regular file that this process could write to, since rename(2) would replace
 * even a read-only file. Returns the owner, whom the new file should have.
 */
export function requireWritableFile(place: ResolvedPath): Owner {
  const stats = place.stats!;
  if (!stats.isFile()) throw refuse.notAFile(place.requested);
  mapErrno(place.requested, () => place.requireWritable());
  // Root could write to it, and must not.
  if ((stats.mode & 0o222) === 0) throw refuse.permission(place.requested);
  return { uid: stats.uid, gid: stats.gid };
}
