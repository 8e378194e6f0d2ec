import { holdForDeferredClose } from "../disk/deferred-close.ts";
import type { Disk } from "../disk/disk.ts";
import type { Metadata } from "../disk/metadata.ts";
import type { Requester } from "../disk/mutation.ts";
import { commitFile } from "../disk/place.ts";
import { writeAtomically } from "../disk/write.ts";
import { refuse } from "../errors.ts";
import { readAttributes } from "../jail/attributes.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { NewFolders } from "./new-folders.ts";

export interface StoreOptions {
  /**
   * The exact permission bits of the file; `undefined` keeps the current ones, or sets 0644 for a new file.
   */
  readonly mode: number | undefined;
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
}

interface Storing extends StoreOptions {
  readonly path: string;
  /** The content, whose errors are rethrown. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Implements `Files.store`. It takes no lock: a slow sender must not hold up others, and the name changes
 * hands in one step that no edit misses.
 */
export async function storeFile(
  { jail, config, mutations }: Disk,
  { path, content, mode, parents }: Storing,
  requester: Requester,
): Promise<void> {
  const scope = { mutations, requester };
  try {
    using place = jail.admit(path, { changes: "entry", mayBeMissing: true, parents });
    const kept = requireReplaceable(place);
    using folders = new NewFolders(place, scope);
    const pending = {
      folder: folders.make(),
      content,
      mode: mode ?? kept?.mode ?? 0o644,
      fsync: config.fsync,
    };
    await writeAtomically({ ...pending, ...kept?.metadata }, requester.deadline, (written) =>
      commitFile(scope, written, {
        folder: pending.folder,
        name: place.name,
        isReplacing: kept !== undefined,
      }),
    );
    folders.keep();
    if (config.fsync) await folders.flush();
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

/** Returns the metadata to keep of the file at `place`, if any. Throws io for anything but a regular file. */
function requireReplaceable(
  place: ResolvedPath,
): { mode: number; metadata: Omit<Metadata, "mode"> } | undefined {
  const { stats, requested } = place;
  if (stats === undefined) return undefined;
  if (!stats.isFile())
    throw refuse.io(
      requested,
      stats.isDirectory() ? "it is a folder (EISDIR)" : "it is not a regular file (EINVAL)",
    );
  using old = holdForDeferredClose(place);
  const attributes = readAttributes(old?.descriptor);
  return { mode: stats.mode & 0o777, metadata: { owner: { uid: stats.uid, gid: stats.gid }, attributes } };
}
