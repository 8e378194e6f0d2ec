import { refuse } from "../errors.ts";
import type { Place } from "../jail/folder.ts";

/**
 * Throws unless `place` is a regular file that this process could write to: rename(2) would replace a read-only file
 * without asking. Returns the owner, whom the new file shall have.
 */
export function requireReplaceable(place: Place): { uid: number; gid: number } {
  const stats = place.stats!;
  if (!stats.isFile()) throw refuse.notAFile(place.asked);
  const isReadOnly = (stats.mode & 0o222) === 0; // root may write to it, and shall not
  if (isReadOnly || !place.isWritable()) throw refuse.permission(place.asked);
  return { uid: stats.uid, gid: stats.gid };
}
