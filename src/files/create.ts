import { closeSync, constants, linkSync, lstatSync, openSync, renameSync, unlinkSync } from "node:fs";
import { refuse } from "../errors.ts";
import { readAttributes } from "../jail/attributes.ts";
import { errnoOf } from "../jail/errno.ts";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { holdForDeferredClose } from "./deferred-close.ts";
import { NewFolders } from "./new-folders.ts";
import { withPathLock } from "./path-lock.ts";
import { replaceFile } from "./replace-file.ts";
import { requireWritableFile } from "./require-writable-file.ts";
import type { FilesContext } from "./types.ts";
import { writeAtomically } from "./write.ts";

export interface CreateOptions {
  /** The permission bits of the file, exactly. */
  readonly mode: number;
  readonly overwrite: boolean;
  /** Whether missing folders are made, with the permissions that the umask leaves. */
  readonly parents: boolean;
}

interface Creation extends CreateOptions {
  readonly path: string;
  readonly content: Buffer;
}

/** See `Files.create`. */
export async function writeFile(ctx: FilesContext, creation: Creation, deadline: Deadline): Promise<void> {
  const { path, content, parents } = creation;
  const limit = { key: "max_write_bytes", bytes: ctx.config.max_write_bytes };
  if (content.length > limit.bytes)
    throw refuse.tooLarge(path, limit, "send less content, or split it over several files");
  await withPathLock(ctx, { path, changes: "entry", mayBeMissing: true, parents }, deadline, (place) =>
    place.stats === undefined
      ? createNew(ctx, creation, { place, deadline })
      : overwrite(ctx, creation, { place, deadline }),
  );
}

interface Turn {
  readonly place: ResolvedPath;
  readonly deadline: Deadline;
}

async function overwrite(
  { config }: FilesContext,
  creation: Creation,
  { place, deadline }: Turn,
): Promise<void> {
  const { content, mode, path } = creation;
  if (!creation.overwrite) throw refuse.exists(path);
  if (place.stats?.isDirectory()) throw refuse.isAFolder(path);
  const owner = requireWritableFile(place);
  using old = holdForDeferredClose(place);
  const attributes = readAttributes(old?.descriptor);
  const pending = { folder: place.folder, content: [content], mode, owner, attributes, fsync: config.fsync };
  await replaceFile({ place, old }, pending, deadline);
}

async function createNew(
  { config }: FilesContext,
  creation: Creation,
  { place, deadline }: Turn,
): Promise<void> {
  const { content, mode, path } = creation;
  using parents = new NewFolders(place);
  const pending = { folder: parents.make(), content: [content], mode, fsync: config.fsync };
  await writeAtomically(pending, deadline, (at, temporary) => {
    if (creation.overwrite) renameSync(at(temporary), at(place.name));
    else moveToNew(at(temporary), at(place.name), path);
  });
  parents.keep();
  if (config.fsync) await parents.flush();
}

/** Gives the file at `from` the new name `to`, unless something has it: rename(2) would replace that, link(2) does not. */
export function moveToNew(from: JailedPath, to: JailedPath, asked: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw refuse.exists(asked);
    if (!withoutHardLinks.has(errnoOf(error))) throw error;
    moveByReservation(from, to, asked);
    return;
  }
  // Unless someone has put another file there.
  if (lstatSync(from, { bigint: true }).ino === lstatSync(to, { bigint: true }).ino) unlinkSync(from);
}

/** What link(2) says on file systems that have no hard links. */
const withoutHardLinks: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);

/** The same without hard links. The name is there empty for a moment, but never half written. */
export function moveByReservation(from: JailedPath, to: JailedPath, asked: string): void {
  try {
    closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (error) {
    throw errnoOf(error) === "EEXIST" ? refuse.exists(asked) : error;
  }
  try {
    renameSync(from, to);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}
