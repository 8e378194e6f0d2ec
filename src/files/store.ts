import { refuse } from "../errors.ts";
import { readAttributes } from "../jail/attributes.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { holdForDeferredClose } from "./deferred-close.ts";
import type { Metadata } from "./metadata.ts";
import { commitFile } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { NewFolders } from "./new-folders.ts";
import type { FilesContext } from "./types.ts";
import { writeAtomically } from "./write.ts";

export interface StoreOptions {
  /** The permission bits of the file, exactly; undefined for those that it has, 0644 for a new one. */
  readonly mode: number | undefined;
  /** Whether missing folders are made, with the permissions that the umask leaves. */
  readonly parents: boolean;
}

interface Storing extends StoreOptions {
  readonly path: string;
  /** Its errors are thrown on. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * See `Files.store`. It takes no lock: who sends slowly must not hold up others, and the name changes hands in one step
 * that no edit overlooks.
 */
export async function storeFile(
  { jail, config, mutations }: FilesContext,
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

/** What is kept of the file at `place`, if there is one. Throws io for what is not a regular file. */
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
