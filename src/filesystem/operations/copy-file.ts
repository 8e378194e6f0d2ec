import type { Stats } from "node:fs";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { entriesAt } from "../disk/held-entry.ts";
import { type CommitTarget, commitFile, type WrittenFile } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import { type PendingFile, writeAtomically, writeHidden } from "../disk/write.ts";
import { openPlace } from "../files/open-file.ts";
import type { Limit } from "../files/types.ts";
import type { Folder, ReadTarget } from "../jail/folder.ts";

/** A regular file to be copied. */
type CopySource = Pick<ReadTarget, "requested" | "stats" | "open">;

interface Options {
  readonly limit?: Limit | undefined;
  readonly fsync: boolean;
  readonly deadline: Deadline;
  /** Whether the copy keeps the times of the file. Default: false. */
  readonly keepsTimes?: boolean;
}

/** The checks to make just before the copy gets its name. */
interface CommitOptions extends Options {
  readonly verify?: (written: WrittenFile) => unknown;
}

/**
 * Copies a file to a name, in one step: content, permission bits, access control list, `user.*` attributes
 * and, if permitted, the owner. Returns the stats of the source.
 */
export async function copyFileTo(
  scope: MutationScope,
  [source, target]: readonly [CopySource, CommitTarget],
  options: CommitOptions,
): Promise<Stats> {
  return await withPending(source, { ...options, folder: target.folder }, async (file, stats) => {
    const { mutations, requester } = scope;
    const onWritten = async () => {
      if (target.isReplacing) await mutations.readAhead(entriesAt(target), requester);
    };
    const pending = { ...file, isHashed: mutations.isObserved, onWritten };
    await writeAtomically(pending, options.deadline, (written) => {
      options.verify?.(written);
      commitFile(scope, written, target);
    });
    return stats;
  });
}

/** Like `copyFileTo`, but into a temporary folder that no caller can see. */
export const copyFileHidden = (
  [source, { folder, name }]: readonly [CopySource, Pick<CommitTarget, "folder" | "name">],
  options: Options,
): Promise<void> => withPending(source, { ...options, folder }, (pending) => writeHidden(name, pending));

async function withPending<T>(
  source: CopySource,
  { folder, limit, fsync, deadline, keepsTimes = false }: Options & { readonly folder: Folder },
  write: (pending: PendingFile, stats: Stats) => Promise<T>,
): Promise<T> {
  const file = openPlace(source, limit);
  try {
    const { mode, uid, gid, atime, mtime } = file.stats;
    const metadata = { mode: mode & 0o777, owner: { uid, gid }, attributes: file.attributes() };
    const times = keepsTimes ? { times: { atime, mtime } } : {};
    const content = untilDeadline(file.pieces(), deadline);
    return await write(
      { folder, content, cloneOf: file.descriptor, fsync, ...metadata, ...times },
      file.stats,
    );
  } finally {
    file.close();
  }
}

async function* untilDeadline<T>(pieces: AsyncIterable<T>, deadline: Deadline): AsyncGenerator<T> {
  for await (const piece of pieces) {
    deadline.check();
    yield piece;
  }
}
