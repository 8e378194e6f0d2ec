import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { Refusal, refuse } from "../../base/errors.ts";
import type { Disk } from "../disk/disk.ts";
import { entriesAt, entriesOfRename } from "../disk/held-entry.ts";
import type { Requester } from "../disk/mutation.ts";
import { type CommitTarget, commitLink } from "../disk/place.ts";
import { dropOldLink, renameEntry, respellEntry } from "../disk/rename.ts";
import { changeTree, type MutationScope } from "../disk/scope.ts";
import { removeVerified } from "../disk/set-aside.ts";
import { flushFolder } from "../disk/write.ts";
import { isLarge } from "../files/revision.ts";
import { errnoError, errnoOf, mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Folder, JailedPath, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { isMountPoint } from "../jail/mounts.ts";
import { copyFileTo } from "./copy-file.ts";
import { requireRevisionAt } from "./expected-revision.ts";
import { refuseMove } from "./move-errors.ts";
import { moveTreeAcross } from "./move-tree.ts";
import { NewFolders } from "./new-folders.ts";
import type { TwoPaths } from "./require-target.ts";
import { requireWritableFolder } from "./require-writable.ts";
import { requireStill } from "./same-entry.ts";
import type { Relocation } from "./writable-tree.ts";

/** Moves an entry on the disk to a place that was checked, with the folders that it needs. */
export async function moveOnDisk(disk: Disk, move: Relocation, requester: Requester): Promise<void> {
  const { source, target, relation, expectedRevision: expected } = move;
  const scope = { mutations: disk.mutations, requester };
  const { requested: from } = source;
  const { requested: to } = target;
  const verify = (path: JailedPath) => {
    requireStill(path, source.stats!);
    if (expected !== undefined) requireRevisionAt(path, { path: from, expected });
  };
  const { name, path, stats } = target;
  if (relation === "respelled") {
    const spelling = { folder: target.folder, name: target.sentName };
    const respelling = { source, target: spelling, exclusive: to, verify };
    const locked = { folder: source.folder, deadline: requester.deadline };
    await disk.editLock(locked, () => mapErrno(to, () => respellEntry(scope, respelling)));
    return;
  }
  if (relation === "linked") {
    await readAhead(scope, { source, target });
    dropOldLink(scope, { source, target, exclusive: undefined, verify });
    return;
  }
  using folders = new NewFolders(target, scope);
  const folder = await folders.make().catch((error) => {
    throw refusalOfErrno(error, to);
  });
  const destination = { folder, name, path, stats };
  // A folder replaces nothing, not even an empty one.
  const overwrite = move.overwrite && !source.stats!.isDirectory();
  // Folders without descriptors are held one at a time.
  const cannotCross = ({ descriptor }: Folder) =>
    refuseMove.cannotCross(from, descriptor === undefined ? "folder" : "file system");
  const relocation = { source, target: destination, requester, cannotCross, verify };
  await relocate(disk, { from, to, overwrite }, relocation);
  folders.keep();
  if (disk.config.fsync) await folders.flush();
}

/** Gives the entry at `source` the name of `target`, whose folder exists. Both have been checked. */
export async function relocate(ctx: Disk, renaming: TwoPaths, relocation: Relocating): Promise<void> {
  const { source, target, requester, verify } = relocation;
  const scope = { mutations: ctx.mutations, requester };
  const exclusive = renaming.overwrite ? undefined : renaming.to;
  const isToOtherRoot = ctx.jail.rootOf(source.path) !== ctx.jail.rootOf(target.path);
  try {
    await readAhead(scope, relocation);
    // One system call may or may not lead from one root into another. Callers should not see that difference.
    if (isToOtherRoot) throw errnoError("EXDEV");
    const locked = { folder: source.folder, deadline: requester.deadline };
    await ctx.editLock(locked, () => renameEntry(scope, { source, target, exclusive, verify }));
  } catch (error) {
    const entry = kindOf(source.stats!);
    if (errnoOf(error) !== "EXDEV") throw moveRefusal(error, renaming, relocation);
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

/** Lets listeners read large files before the step that moves one, or replaces one. */
async function readAhead(
  { mutations, requester }: MutationScope,
  { source, target }: Pick<Relocating, "source" | "target">,
): Promise<void> {
  if ([source, target].some(({ stats }) => stats !== undefined && isLarge(stats)))
    await mutations.readAhead(entriesOfRename(source, target), requester);
}

/** The future place of an entry, in an existing folder. */
export type Destination = Pick<ResolvedPath, "folder" | "name" | "path" | "stats">;

export interface Relocating {
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

interface Copying extends Relocating {
  readonly scope: MutationScope;
}

/** Moves in two steps. For a moment the entry exists under both names. */
async function moveAcross(ctx: Disk, renaming: TwoPaths, copying: Copying): Promise<void> {
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
    if (isLarge(copied)) await scope.mutations.readAhead(entriesAt(source), requester);
    folder.enter((at) => verify?.(at(raw)));
    const requireCopied = (path: JailedPath) => {
      if (!isStill(copied, lstatSync(path))) throw refuseMove.changed(renaming);
    };
    const removed = { raw, kind: kindOf(copied) ?? "other", verify: requireCopied } as const;
    await ctx.editLock({ folder, deadline: requester.deadline }, () =>
      removeVerified(scope, folder, removed),
    );
  } catch (error) {
    throw moveRefusal(error, renaming, copying);
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
 * Returns the refusal of a failed move, which names the end that it is about. Complaints of rename(2) about
 * the kinds of its operands count only as failures.
 */
function moveRefusal(error: unknown, { from, to }: TwoPaths, ends: RenamedEnds): Refusal {
  const code = errnoOf(error);
  if (code === "EEXIST") return refuse.exists(to);
  const what = code === undefined ? undefined : failures[code];
  return what === undefined
    ? refusalOfErrno(error, isAboutSource(code, ends) ? from : to)
    : refuse.io(to, what);
}

type RenamedEnds = Pick<Relocating, "source" | "target">;

/** Returns whether rename(2) failed because of the entry to be moved, and not because of its new place. */
function isAboutSource(code: string | undefined, { source, target }: RenamedEnds): boolean {
  switch (code) {
    case "ENOENT":
    case "ESTALE":
      return true;
    case "EBUSY":
      return isMountPoint(source);
    case "EACCES":
    case "EPERM":
      return !isWritable(source.folder) || isWritable(target.folder);
    default:
      return false;
  }
}

function isWritable(folder: Folder): boolean {
  try {
    requireWritableFolder(folder, folder.path);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

const failures: Readonly<Record<string, string>> = {
  EISDIR: "a folder is there, and only a folder could replace it (EISDIR)",
  ENOTDIR: "a file is there, and a folder cannot replace it (ENOTDIR)",
  ENOTEMPTY: "a folder is there that is not empty (ENOTEMPTY)",
  EINVAL: "a folder cannot be moved into itself (EINVAL)",
};
