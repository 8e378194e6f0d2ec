import { lstatSync, type Stats } from "node:fs";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { dropOldLink, respellEntry } from "../disk/rename.ts";
import { errnoError, mapErrno } from "../jail/errno.ts";
import type { Folder, Jail, JailedPath } from "../jail/folder.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { requireRevision, requireRevisionAt } from "./expected-revision.ts";
import { refuseMove } from "./move-errors.ts";
import { NewFolders } from "./new-folders.ts";
import { withPathLocks } from "./path-lock.ts";
import { type Renaming, relocate } from "./rename.ts";
import { requireNothingDenied } from "./require-allowed.ts";
import { jailAtBoth, requireTarget } from "./require-target.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";
import { type Ends, type Relation, relationOf } from "./same-entry.ts";

export interface Moving extends Renaming {
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** The revision that the file at `from` must have, if any. */
  readonly expectedRevision?: string | undefined;
  /** Whether to check everything and move nothing. Default: false. */
  readonly dryRun?: boolean;
}

/** Implements `Files.move`. */
export function movePath(ctx: Disk, moving: Moving, requester: Requester): Promise<boolean> {
  return withPathLocks(ctx, movedPaths(moving), requester.deadline, ([source, target]) =>
    moveNow(ctx, moving, { source, target, requester }),
  );
}

/** Returns the options for admitting the paths of a move. */
export function movedPaths({ from, to, parents }: Pick<Moving, "from" | "to" | "parents">) {
  const options = { changes: "tree", lastLink: "stay" } as const;
  const target = { ...options, mayBeMissing: true, parents, mayBeFolder: true } as const;
  return [
    { path: from, ...options },
    { path: to, ...target },
  ] as const;
}

interface Request extends Ends {
  readonly requester: Requester;
}

async function moveNow(ctx: Disk, moving: Moving, request: Request): Promise<boolean> {
  const relation = await requireMovable(ctx, moving, request);
  if (relation === "same") return false;
  if (moving.dryRun) requireWritableEnds(moving, request);
  else await giveNewName(ctx, moving, { ...request, relation });
  return true;
}

/** Throws unless the source may move to the target, if that shows before the attempt. */
export async function requireMovable(
  { jail, config }: Pick<Disk, "jail" | "config">,
  moving: Moving,
  request: Request,
): Promise<Relation> {
  const { source } = request;
  if (source.name === ".") throw refuseMove.base("moved");
  const relation = relationOf(request);
  const { expectedRevision: expected } = moving;
  if (expected !== undefined) requireRevision(source, expected, config);
  if (relation === "same") return relation;
  requireTarget(jail, moving, { ...request, relation, done: "moved" });
  if (source.stats!.isDirectory()) await requireAllAllowed(jail, moving.from, request);
  return relation;
}

/** Checks the conditions that otherwise only the attempt would show. */
export function requireWritableEnds(
  { from, to }: Pick<Moving, "from" | "to">,
  { source, target }: Ends,
): void {
  requireWritableFolder(source.folder, from);
  requireWritableFolder(target.folder, to);
  // A folder that gets another parent changes itself: its `..` does.
  const isMovedOn = source.folder.path !== target.folder.path || target.newFolders.length > 0;
  if (source.stats!.isDirectory() && isMovedOn) mapErrno(to, () => source.requireWritable());
}

interface CheckedRequest extends Request {
  readonly relation: Relation;
}

async function giveNewName(ctx: Disk, moving: Moving, request: CheckedRequest): Promise<void> {
  const { source, target, relation, requester } = request;
  const scope = { mutations: ctx.mutations, requester };
  const { from, expectedRevision: expected } = moving;
  const verify = (path: JailedPath) => {
    requireStill(path, source.stats!);
    if (expected !== undefined) requireRevisionAt(path, { path: from, expected });
  };
  const { name, path, stats } = target;
  if (relation === "respelled") {
    const spelling = { folder: target.folder, name: target.sentName };
    const move = { source, target: spelling, exclusive: moving.to, verify };
    const locked = { folder: source.folder, deadline: requester.deadline };
    await ctx.editLock(locked, () => mapErrno(moving.to, () => respellEntry(scope, move)));
    return;
  }
  if (relation === "linked") {
    dropOldLink(scope, { source, target, exclusive: undefined, verify });
    return;
  }
  using folders = new NewFolders(target, scope);
  const destination = { folder: folders.make(), name, path, stats };
  // A folder replaces nothing, not even an empty one.
  const overwrite = moving.overwrite && !source.stats!.isDirectory();
  // Folders without descriptors are held one at a time.
  const cannotCross = ({ descriptor }: Folder) =>
    refuseMove.cannotCross(from, descriptor === undefined ? "folder" : "file system");
  const relocation = { source, target: destination, requester, cannotCross, verify };
  await relocate(ctx, { ...moving, overwrite }, relocation);
  folders.keep();
  if (ctx.config.fsync) await folders.flush();
}

/** Throws ESTALE unless the entry is the one that was checked. */
function requireStill(path: JailedPath, { dev, ino }: Stats): void {
  const now = lstatSync(path);
  if (now.dev !== dev || now.ino !== ino) throw errnoError("ESTALE");
}

/** Throws unless everything in a folder may be reached at the source and at the target. */
async function requireAllAllowed(jail: Jail, from: string, request: Request): Promise<void> {
  const { source, requester } = request;
  using inside = source.folder.child(source.name);
  using slice = createWalkSlice(requester);
  const { deadline } = requester;
  await requireNothingDenied(
    { jail: jailAtBoth(jail, request, "move"), path: from, deadline, slice },
    inside,
  );
}
