import { type Refusal, refuse } from "../errors.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { changeTree, commitFile, type MutationScope, removeEntry, renameEntry } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { openFile } from "./open-file.ts";
import { requireNothingDenied } from "./remove.ts";
import type { FilesContext } from "./types.ts";
import { flushFolder, writeAtomically } from "./write.ts";

export interface Renaming {
  readonly from: string;
  /** The new path itself, also when a folder is there: nothing is moved into it. */
  readonly to: string;
  readonly overwrite: boolean;
}

/**
 * See `Files.rename`. A link is moved as a link. Between file systems, and between folders where two cannot be held at
 * once, a regular file is copied and then removed, and anything else is refused.
 */
export async function renamePath(ctx: FilesContext, renaming: Renaming, requester: Requester): Promise<void> {
  const { from, to } = renaming;
  const options = { changes: "tree", lastLink: "stay", mayBeMissing: true, parents: true } as const;
  using source = ctx.jail.admit(from, options);
  using target = ctx.jail.admit(to, options);
  requireMovable(renaming, source, target);
  if (source.stats?.isDirectory()) {
    using inside = source.folder.child(source.name);
    const { deadline } = requester;
    using slice = createWalkSlice({ deadline });
    await requireNothingDenied({ jail: ctx.jail, path: from, deadline, slice, entries: 0 }, inside, 1);
  }
  await relocate(ctx, renaming, { source, target, requester });
}

/** Gives what is at `source` the name of `target`, whose folder is there. Both have been checked. */
export async function relocate(
  ctx: FilesContext,
  renaming: Renaming,
  { source, target, requester }: Relocation,
): Promise<void> {
  const scope = { mutations: ctx.mutations, requester };
  try {
    move(scope, renaming, { source, target });
  } catch (error) {
    if (errnoOf(error) !== "EXDEV" || !source.stats?.isFile()) throw moveRefusal(error, renaming.to);
    const description = { kind: "rename", path: target.path, from: source.path, entry: "file" } as const;
    await changeTree(scope, description, (steps) =>
      copyAcross(ctx, renaming, { source, target, scope: steps, requester }),
    );
  }
  if (ctx.config.fsync) for (const { folder } of [target, source]) await flushFolder(folder);
}

function requireMovable({ from, to, overwrite }: Renaming, source: ResolvedPath, target: ResolvedPath): void {
  if (source.stats === undefined) throw refuse.absent(from, "missing");
  if (source.name === ".") throw refuse.rootIsKept(from);
  if (target.name === ".") throw refuse.rootIsKept(to);
  if (target.stats !== undefined && !overwrite) throw refuse.exists(to);
  if (target.newFolders.length > 0) throw refuse.absent(to, "missing");
}

function move(
  scope: MutationScope,
  { to, overwrite }: Renaming,
  { source, target }: Pick<Copying, "source" | "target">,
): void {
  // A folder replaces at most an empty one, which nobody will miss.
  const exclusive = overwrite || source.stats?.isDirectory() ? undefined : to;
  renameEntry(scope, { source, target, exclusive });
}

/** Where something is going to be, in a folder that is there. */
export type Destination = Pick<ResolvedPath, "folder" | "name" | "path" | "stats">;

interface Relocation {
  readonly source: ResolvedPath;
  readonly target: Destination;
  readonly requester: Requester;
}

interface Copying extends Relocation {
  readonly scope: MutationScope;
}

async function copyAcross(
  { jail, config }: FilesContext,
  { from, to, overwrite }: Renaming,
  { source, target, scope, requester }: Copying,
): Promise<void> {
  const file = openFile(jail, from, undefined);
  try {
    const { mode, uid, gid, atime, mtime, mtimeMs, ino } = file.stats;
    const metadata = { mode: mode & 0o777, owner: { uid, gid }, attributes: file.attributes() };
    const pending = { folder: target.folder, content: file.pieces(), ...metadata };
    await writeAtomically(
      { ...pending, times: { atime, mtime }, fsync: config.fsync },
      requester.deadline,
      (written) =>
        commitFile(scope, written, {
          folder: target.folder,
          name: target.name,
          isReplacing: target.stats !== undefined,
          exclusive: overwrite ? undefined : to,
        }),
    );
    const now = source.folder.lstat(source.name);
    if (now.ino !== ino || now.mtimeMs !== mtimeMs) throw refuse.changed(from);
    removeEntry(scope, source.folder, { raw: source.name, kind: "file" });
  } catch (error) {
    throw moveRefusal(error, to);
  } finally {
    file.close();
  }
}

/** What rename(2) has to say about the kinds of what it was given is no more than a failure. */
function moveRefusal(error: unknown, to: string): Refusal {
  const code = errnoOf(error);
  if (code === "EEXIST") return refuse.exists(to);
  const what = code === undefined ? undefined : failures[code];
  return what === undefined ? refusalOfErrno(error, to) : refuse.io(to, what);
}

const failures: Readonly<Record<string, string>> = {
  EISDIR: "a folder is there, and only a folder could replace it (EISDIR)",
  ENOTDIR: "a file is there, and a folder cannot replace it (ENOTDIR)",
  ENOTEMPTY: "a folder is there that is not empty (ENOTEMPTY)",
  EINVAL: "a folder cannot be moved into itself (EINVAL)",
  EXDEV: "it lies on another file system, to which only regular files can be moved (EXDEV)",
};
