import { lstatSync, readlinkSync, type Stats } from "node:fs";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { type CommitTarget, commitLink } from "../disk/place.ts";
import { renameEntry } from "../disk/rename.ts";
import { changeTree, type MutationScope } from "../disk/scope.ts";
import { removeVerified } from "../disk/set-aside.ts";
import { flushFolder } from "../disk/write.ts";
import { type Refusal, refuse } from "../errors.ts";
import { errnoError, errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, JailedPath, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { isMountPoint } from "../jail/mounts.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { copyFileTo } from "./copy-file.ts";
import { refuseMove } from "./move-errors.ts";
import { moveTreeAcross } from "./move-tree.ts";
import { requireNothingDenied } from "./require-allowed.ts";

export interface Renaming {
  readonly from: string;
  /** The new path itself, even if a folder exists there: nothing is moved into it. */
  readonly to: string;
  readonly overwrite: boolean;
}

/**
 * Implements `Files.rename`. A link is moved as a link. Between file systems, and between folders that cannot
 * both be held at once, a regular file or a link is copied and then removed, and anything else is refused.
 */
export async function renamePath(ctx: Disk, renaming: Renaming, requester: Requester): Promise<void> {
  const { from, to } = renaming;
  const options = { changes: "tree", lastLink: "stay", mayBeMissing: true, parents: true } as const;
  using source = ctx.jail.admit(from, options);
  using target = ctx.jail.admit(to, options);
  requireMovable(renaming, source, target);
  if (source.stats?.isDirectory()) {
    using inside = source.folder.child(source.name);
    const { deadline } = requester;
    using slice = createWalkSlice({ deadline });
    await requireNothingDenied({ jail: ctx.jail, path: from, deadline, slice }, inside);
  }
  const cannotCross = () => refuse.io(to, onlyFilesCross);
  await relocate(ctx, renaming, { source, target, requester, cannotCross });
}

const onlyFilesCross = "it lies on another file system, to which only regular files and links can be moved";

/** Gives the entry at `source` the name of `target`, whose folder exists. Both have been checked. */
export async function relocate(ctx: Disk, renaming: Renaming, relocation: Relocation): Promise<void> {
  const { source, target, requester, verify } = relocation;
  const scope = { mutations: ctx.mutations, requester };
  const exclusive = renaming.overwrite ? undefined : renaming.to;
  const isToOtherRoot = ctx.jail.rootOf(source.path) !== ctx.jail.rootOf(target.path);
  try {
    // One system call may or may not lead from one root into another. Callers should not see that difference.
    if (isToOtherRoot) throw errnoError("EXDEV");
    const locked = { folder: source.folder, deadline: requester.deadline };
    await ctx.editLock(locked, () => renameEntry(scope, { source, target, exclusive, verify }));
  } catch (error) {
    const entry = kindOf(source.stats!);
    if (errnoOf(error) !== "EXDEV") throw moveRefusal(error, renaming.to);
    // It could be copied, and then not be removed.
    if (isMountPoint(source)) throw refuse.mountPoint(renaming.from);
    const isTree = entry === "dir" && isToOtherRoot;
    if (entry !== "file" && entry !== "symlink" && !isTree) throw relocation.cannotCross(source.folder);
    const description = { kind: "rename", path: target.path, from: source.path, entry } as const;
    await changeTree(scope, description, (steps) =>
      isTree
        ? moveTreeAcross(ctx, { ...renaming, ...relocation, scope: steps })
        : moveAcross(ctx, renaming, { ...relocation, scope: steps }),
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

/** The future place of an entry, in an existing folder. */
export type Destination = Pick<ResolvedPath, "folder" | "name" | "path" | "stats">;

interface Relocation {
  readonly source: ResolvedPath;
  readonly target: Destination;
  readonly requester: Requester;
  /**
   * Returns the refusal of an entry that takes more than one step and is neither a file nor a link. Receives
   * the folder that contains it.
   */
  readonly cannotCross: (folder: Folder) => Refusal;
  /** Receives the old path before the entry leaves it, and throws to keep it there. */
  readonly verify?: ((path: JailedPath) => void) | undefined;
}

interface Copying extends Relocation {
  readonly scope: MutationScope;
}

/** Moves in two steps. For a moment the entry exists under both names. */
async function moveAcross(ctx: Disk, renaming: Renaming, copying: Copying): Promise<void> {
  const { source, target, scope, requester, verify } = copying;
  const { folder, name: raw } = source;
  const exclusive = renaming.overwrite ? undefined : renaming.to;
  const destination = {
    folder: target.folder,
    name: target.name,
    isReplacing: target.stats !== undefined,
    exclusive,
  };
  try {
    const copied = await copyTo(ctx, copying, destination);
    folder.enter((at) => verify?.(at(raw)));
    const requireCopied = (path: JailedPath) => {
      if (!isStill(copied, lstatSync(path))) throw refuseMove.changed(renaming);
    };
    const removed = { raw, kind: kindOf(copied) ?? "other", verify: requireCopied } as const;
    await ctx.editLock({ folder, deadline: requester.deadline }, () =>
      removeVerified(scope, folder, removed),
    );
  } catch (error) {
    throw moveRefusal(error, renaming.to);
  }
}

/** Copies a file or link. Returns the stats of the source. */
async function copyTo(
  { config }: Disk,
  { source, scope, requester }: Copying,
  destination: CommitTarget,
): Promise<Stats> {
  if (!source.stats!.isSymbolicLink()) {
    const options = { fsync: config.fsync, deadline: requester.deadline, keepsTimes: true };
    return await copyFileTo(scope, [source, destination], options);
  }
  const [stats, text] = source.folder.enter((at) => {
    const path = at(source.name);
    return [lstatSync(path), readlinkSync(path, "buffer")];
  });
  commitLink(scope, text, destination);
  return stats;
}

/** Returns whether it is the same file with the same content. A new name makes no difference. */
const isStill = (was: Stats, now: Stats): boolean =>
  now.dev === was.dev && now.ino === was.ino && now.size === was.size && now.mtimeMs === was.mtimeMs;

/**
 * Returns the refusal of a failed move. Complaints of rename(2) about the kinds of its operands count only as
 * failures.
 */
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
};
