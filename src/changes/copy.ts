import { readlinkSync } from "node:fs";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { commitLink } from "../disk/place.ts";
import { refuse } from "../errors.ts";
import { mapErrno } from "../jail/errno.ts";
import { copyFileTo } from "./copy-file.ts";
import { copyTree, requireTreeCopyable } from "./copy-tree.ts";
import { requireRevision, requireRevisionOf } from "./expected-revision.ts";
import { refuseMove } from "./move-errors.ts";
import { NewFolders } from "./new-folders.ts";
import { withPathLocks } from "./path-lock.ts";
import { requireTarget, type TwoPaths } from "./require-target.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";
import { type Ends, relationOf } from "./same-entry.ts";

export interface Copying extends TwoPaths {
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** The revision that the file at `from` must have, if any. */
  readonly expectedRevision?: string | undefined;
  /** Whether to check everything and copy nothing. Default: false. */
  readonly dryRun?: boolean;
}

/** Implements `Files.copy`. */
export function copyPath(ctx: Disk, copying: Copying, requester: Requester): Promise<boolean> {
  return withPathLocks(ctx, copiedPaths(copying), requester.deadline, ([source, target]) =>
    copyNow(ctx, copying, { source, target, requester }),
  );
}

/** Returns the options for admitting the paths of a copy. */
export function copiedPaths({ from, to, parents }: Pick<Copying, "from" | "to" | "parents">) {
  const target = { path: to, changes: "tree", mayBeMissing: true, parents, mayBeFolder: true } as const;
  return [
    { path: from, lastLink: "stay" },
    { ...target, lastLink: "stay" },
  ] as const;
}

interface Request extends Ends {
  readonly requester: Requester;
}

async function copyNow(ctx: Disk, copying: Copying, request: Request): Promise<boolean> {
  const { target } = request;
  if (!(await requireCopyable(ctx, copying, request))) return false;
  if (copying.dryRun) requireWritableFolder(target.folder, copying.to);
  else await make(ctx, copying, request);
  return true;
}

/** Throws unless the entry at the source may be copied to the target. Returns false if both are the same. */
export async function requireCopyable(ctx: CopyChecks, copying: Copying, request: Request): Promise<boolean> {
  const { source, target } = request;
  if (source.name === ".") throw refuseMove.base("copied");
  const relation = relationOf(request);
  if (copying.expectedRevision !== undefined) requireRevision(source, copying.expectedRevision, ctx.config);
  if (relation === "same" || relation === "respelled") return false;
  requireTarget(ctx.jail, copying, { source, target, relation, done: "copied" });
  await requireCopyableContent(ctx, copying, request);
  return true;
}

type CopyChecks = Pick<Disk, "jail" | "config">;

async function requireCopyableContent(ctx: CopyChecks, { from }: Copying, request: Request): Promise<void> {
  const { source } = request;
  const limit = { key: "max_write_bytes", bytes: ctx.config.max_write_bytes };
  if (source.stats!.isDirectory()) await requireTreeCopyable(ctx, from, request);
  else if (source.stats!.isFile()) {
    if (source.stats!.size > limit.bytes)
      throw refuse.tooLarge(from, limit, "copy a smaller file, or ask the user to raise the limit");
  } else if (!source.stats!.isSymbolicLink()) throw refuseMove.specialFile(from);
}

async function make(ctx: Disk, copying: Copying, request: Request): Promise<void> {
  const { source, target, requester } = request;
  const scope = { mutations: ctx.mutations, requester };
  const { fsync, max_write_bytes: bytes } = ctx.config;
  using folders = new NewFolders(target, scope);
  const folder = folders.make();
  // A folder replaces nothing, not even an empty one.
  const exclusive = copying.overwrite && !source.stats!.isDirectory() ? undefined : copying.to;
  const destination = { folder, name: target.name, isReplacing: target.stats !== undefined, exclusive };
  if (source.stats!.isDirectory()) await copyTree(ctx, { ...request, from: copying.from, destination });
  else if (source.stats!.isSymbolicLink()) {
    const text = source.folder.enter((at) => readlinkSync(at(source.name), "buffer"));
    mapErrno(copying.to, () => commitLink(scope, text, destination));
  } else {
    const limit = { key: "max_write_bytes", bytes };
    const { from: path, expectedRevision: expected } = copying;
    const options = { limit, fsync, deadline: requester.deadline };
    await copyFileTo(scope, [source, destination], {
      ...options,
      verify: ({ descriptor }) => expected && requireRevisionOf(descriptor, { path, expected }),
    });
  }
  folders.keep();
  if (fsync) await folders.flush();
}
