import { refuse } from "../../base/errors.ts";
import { holdForDeferredClose } from "../disk/deferred-close.ts";
import type { Metadata } from "../disk/metadata.ts";
import type { Requester } from "../disk/mutation.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import type { DiskTree } from "./disk-tree.ts";
import { metadataToKeep } from "./kept-metadata.ts";

export interface Storing {
  readonly path: string;
  /** The content, whose errors are rethrown. */
  readonly content: AsyncIterable<Uint8Array>;
  /**
   * The exact permission bits of the file; `undefined` keeps the current ones, or sets 0644 for a new file.
   */
  readonly mode: number | undefined;
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
}

/**
 * Stores `content` at the place where `path` leads, through links, whatever was there before, in a single
 * step once all of it has arrived. It keeps the owner and, without a `mode`, the permission bits of a
 * replaced file. If it throws, nothing was created, replaced or left over. It takes no lock: a slow sender
 * must not hold up others, and the name changes hands in one step that no edit misses.
 */
export async function storeFile(tree: DiskTree, storing: Storing, requester: Requester): Promise<void> {
  const { path, content, mode, parents } = storing;
  try {
    using place = tree.jail.admit(path, { changes: "entry", mayBeMissing: true, parents });
    const file = { kind: "file", content } as const;
    if (place.stats === undefined)
      await tree.place({ place, made: { ...file, mode: mode ?? 0o644 }, mayReplace: true }, requester);
    else {
      const kept = metadataOf(place, place.stats);
      await tree.exchange({ place, made: { ...file, ...kept, mode: mode ?? kept.mode } }, requester);
    }
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

/** Throws io for anything but a regular file. */
function metadataOf(place: ResolvedPath, stats: NonNullable<ResolvedPath["stats"]>): Metadata {
  if (!stats.isFile())
    throw refuse.io(
      place.requested,
      stats.isDirectory() ? "it is a folder (EISDIR)" : "it is not a regular file (EINVAL)",
    );
  using held = holdForDeferredClose(place);
  return metadataToKeep(place, held);
}
