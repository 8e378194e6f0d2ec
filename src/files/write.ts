/**
 * The one way to write bytes: into a new file without another user, which then takes the name in one step. It opens no
 * existing file for writing, so neither a hard link nor a crash can damage one.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsync,
  futimesSync,
  lstatSync,
  openSync,
  unlinkSync,
  writev,
  writevSync,
} from "node:fs";
import { promisify } from "node:util";
import { cloneContent } from "../jail/clone-file.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { Folder, JailedPath, Name } from "../jail/folder.ts";
import { temporaryName } from "../jail/temporary.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { awaitDeferredCloses } from "./deferred-close.ts";
import type { EditLock } from "./edit-lock.ts";
import { applyMetadata, type Metadata } from "./metadata.ts";
import type { WrittenFile } from "./mutate.ts";
import { openFolder } from "./open-folder.ts";

/** A file to be. */
export interface PendingFile extends Metadata {
  readonly folder: Folder;
  /** In pieces, which may come with time. */
  readonly content: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /** A descriptor of a file with this content, whose blocks are shared where the file system can: `content` is unused then. */
  readonly cloneOf?: number | undefined;
  /** When it was last used and changed; otherwise now. */
  readonly times?: { readonly atime: Date; readonly mtime: Date };
  /** Whether to flush it, and then its folder, to the disk. */
  readonly fsync: boolean;
  /** Held while it gets its name; absent where no other worker minds. */
  readonly editLock?: EditLock | undefined;
}

/** Listeners may read what was written. */
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes the content to a temporary file in its folder, and calls `commit` inside the folder to give the file its name
 * (and to throw if it must not). Whatever is thrown, by the deadline too, the temporary file is removed.
 */
export async function writeAtomically(
  pending: PendingFile,
  deadline: Deadline,
  commit: Commit,
): Promise<void> {
  try {
    await writeOnce(pending, deadline, commit);
  } catch (error) {
    // There may be space once the files that were replaced are freed.
    if (!isOfFullDisk(error) || !isAtHand(pending.content) || !(await awaitDeferredCloses())) throw error;
    await writeOnce(pending, deadline, commit);
  }
}

type Commit = (written: WrittenFile) => void;

async function writeOnce(pending: PendingFile, deadline: Deadline, commit: Commit): Promise<void> {
  const { folder, fsync } = pending;
  const temporary = temporaryName();
  const descriptor = folder.enter((at) => openSync(at(temporary), createFlags, 0o600));
  try {
    const ours = await fill(descriptor, pending);
    const giveName = () => {
      deadline.check();
      folder.enter((at) => {
        requireOurs(at(temporary), ours);
        commit({ at, temporary, descriptor });
      });
    };
    if (pending.editLock === undefined) giveName();
    else await pending.editLock({ folder, deadline }, giveName);
  } catch (error) {
    discard(folder, temporary);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  if (fsync) await flushFolder(folder);
}

/**
 * Writes a file under its own name, in a temporary folder that no caller can see. Removing what a failure leaves is for
 * those who made the folder. The folder is not flushed.
 */
export async function writeHidden(name: Name, pending: PendingFile): Promise<void> {
  const descriptor = pending.folder.enter((at) => openSync(at(name), createFlags, 0o600));
  try {
    await fill(descriptor, pending);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives a new file all but its name. Returns the stats that it had before its metadata. */
async function fill(
  descriptor: number,
  { content, cloneOf, times, fsync, folder: _, editLock: __, ...metadata }: PendingFile,
): Promise<BigIntStats> {
  if (cloneOf === undefined || !cloneContent(cloneOf, descriptor)) await writeContent(descriptor, content);
  const ours = fstatSync(descriptor, { bigint: true });
  applyMetadata(descriptor, ours, metadata);
  if (times !== undefined) futimesSync(descriptor, times.atime, times.mtime);
  if (fsync) await flush(descriptor);
  return ours;
}

async function writeContent(descriptor: number, content: PendingFile["content"]): Promise<void> {
  if (!isAtHand(content)) for await (const piece of content) writeAll(descriptor, [piece]);
  else if (lengthOf(content) < largeBytes) writeAll(descriptor, content);
  else await writeInBackground(descriptor, content);
}

const isAtHand = (content: PendingFile["content"]): content is readonly Uint8Array[] =>
  Array.isArray(content);

const isOfFullDisk = (error: unknown): boolean => errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT";

/**
 * Flushes the names in a folder to the disk. What cannot be flushed is left to the system: the change is done by now,
 * and an error would say otherwise.
 */
export async function flushFolder(folder: Folder): Promise<void> {
  let descriptor: number | undefined;
  try {
    descriptor = openFolder(folder);
    await flush(descriptor);
  } catch {
    // A folder one may not list, or a file system without flushing.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const fsyncInBackground = promisify(fsync);

/** Gives a folder that is held, and that no caller can see, its metadata, and flushes it if need be. */
export async function completeHidden(
  folder: Folder,
  { fsync, ...metadata }: Metadata & Pick<PendingFile, "fsync">,
): Promise<void> {
  const descriptor = openFolder(folder);
  try {
    applyMetadata(descriptor, fstatSync(descriptor, { bigint: true }), metadata);
    if (fsync) await flush(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** In the background: a flush takes up to tens of milliseconds, which other calls shall not wait. */
async function flush(descriptor: number): Promise<void> {
  try {
    await fsyncInBackground(descriptor);
  } catch (error) {
    if (errnoOf(error) !== "EINVAL") throw error; // EINVAL: this file system has no such thing
  }
}

function writeAll(descriptor: number, pieces: readonly Uint8Array[]): void {
  for (let rest = pieces; rest.length > 0; ) rest = restOf(rest, writevSync(descriptor, rest));
}

/** The pieces without their first `written` bytes. */
function restOf(pieces: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  const [first, ...others] = pieces;
  if (first === undefined) return [];
  return written < first.length
    ? [first.subarray(written), ...others]
    : restOf(others, written - first.length);
}

const lengthOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** From this size on a write takes half a millisecond and more, so it runs in the background. */
const largeBytes = 1024 * 1024;

const writeSome = promisify(writev);

async function writeInBackground(descriptor: number, pieces: readonly Uint8Array[]): Promise<void> {
  for (let rest = pieces; rest.length > 0; )
    rest = restOf(rest, (await writeSome(descriptor, rest)).bytesWritten);
}

/** Throws when someone has taken the temporary file away, or put another in its place. */
function requireOurs(temporary: JailedPath, ours: BigIntStats): void {
  const there = lstatSync(temporary, { bigint: true, throwIfNoEntry: false });
  if (there?.ino !== ours.ino || there.dev !== ours.dev) throw errnoError("ESTALE");
}

function discard(folder: Folder, temporary: string): void {
  try {
    folder.enter((at) => unlinkSync(at(temporary)));
  } catch {
    // Gone already, or out of reach; then the sweep finds it.
  }
}
