import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { type Refusal, refuse } from "../errors.ts";
import { errnoError, errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { moveToNew } from "./create.ts";
import { openFile } from "./open-file.ts";
import { requireNothingDenied } from "./remove.ts";
import type { FilesContext } from "./types.ts";
import { type At, flushFolder, writeAtomically } from "./write.ts";

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
export async function renamePath(ctx: FilesContext, renaming: Renaming, deadline: Deadline): Promise<void> {
  const { from, to } = renaming;
  const options = { changes: "tree", lastLink: "stay", mayBeMissing: true, parents: true } as const;
  using source = ctx.jail.admit(from, options);
  using target = ctx.jail.admit(to, options);
  requireMovable(renaming, source, target);
  if (source.stats?.isDirectory()) {
    using inside = source.folder.child(source.name);
    using slice = createWalkSlice({ deadline });
    await requireNothingDenied({ jail: ctx.jail, path: from, deadline, slice, entries: 0 }, inside, 1);
  }
  try {
    move(renaming, source, target);
  } catch (error) {
    if (errnoOf(error) !== "EXDEV" || !source.stats?.isFile()) throw moveRefusal(error, to);
    await copyAcross(ctx, renaming, { source, target, deadline });
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

function move({ to, overwrite }: Renaming, source: ResolvedPath, target: ResolvedPath): void {
  withBoth(source.folder, target.folder, (atSource, atTarget) => {
    // A folder replaces at most an empty one, which nobody will miss.
    if (overwrite || source.stats?.isDirectory()) renameSync(atSource(source.name), atTarget(target.name));
    else moveToNew(atSource(source.name), atTarget(target.name), to);
  });
}

/** Lets `act` name entries of both. Throws EXDEV where only one folder can be held, and these are two. */
function withBoth(one: Folder, other: Folder, act: (atOne: At, atOther: At) => void): void {
  if (one.descriptor !== undefined) one.enter((atOne) => other.enter((atOther) => act(atOne, atOther)));
  else if (one.path === other.path) one.enter((at) => act(at, at));
  else throw errnoError("EXDEV");
}

interface Copying {
  readonly source: ResolvedPath;
  readonly target: ResolvedPath;
  readonly deadline: Deadline;
}

async function copyAcross(
  { jail, config }: FilesContext,
  { from, to, overwrite }: Renaming,
  { source, target, deadline }: Copying,
): Promise<void> {
  const file = openFile(jail, from, undefined);
  try {
    const { mode, uid, gid, atime, mtime, mtimeMs, ino } = file.stats;
    const metadata = { mode: mode & 0o777, owner: { uid, gid }, attributes: file.attributes() };
    const pending = { folder: target.folder, content: file.pieces(), ...metadata };
    await writeAtomically(
      { ...pending, times: { atime, mtime }, fsync: config.fsync },
      deadline,
      (at, temporary) => {
        if (overwrite) renameSync(at(temporary), at(target.name));
        else moveToNew(at(temporary), at(target.name), to);
      },
    );
    source.folder.enter((at) => {
      const now = lstatSync(at(source.name));
      if (now.ino !== ino || now.mtimeMs !== mtimeMs) throw refuse.changed(from);
      unlinkSync(at(source.name));
    });
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
