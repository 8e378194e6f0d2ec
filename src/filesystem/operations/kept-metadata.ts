import type { DeferredClose } from "../disk/deferred-close.ts";
import type { Metadata } from "../disk/metadata.ts";
import { readAttributes } from "../jail/attributes.ts";
import type { ResolvedPath } from "../jail/folder.ts";

/**
 * Returns the metadata that the file at `place` keeps when its content is replaced. `held` is that file,
 * unless it may not be read, which hides its attributes. A file that is not on disk yet has its own already.
 */
export function metadataToKeep(place: ResolvedPath, held: DeferredClose | undefined): Metadata {
  const { mode, uid, gid } = place.stats!;
  const kept = { mode: mode & 0o777, owner: { uid, gid } };
  return place.content === undefined ? { ...kept, attributes: readAttributes(held?.descriptor) } : kept;
}
