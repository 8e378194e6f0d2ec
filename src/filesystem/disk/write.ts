/**
 * The one way to write bytes: into a new file that only one user has, which then takes the name in one step.
 * It opens no existing file for writing, so neither a hard link nor a crash can damage one.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsync,
  futimesSync,
  openSync,
  unlinkSync,
  writev,
  writevSync,
} from "node:fs";
import { promisify } from "node:util";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { isLarge, revisionInSteps } from "../files/revision.ts";
import { cloneContent } from "../jail/clone-file.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, Name } from "../jail/folder.ts";
import { inodeOf } from "../jail/inode.ts";
import { temporaryName } from "../jail/temporary.ts";
import { awaitDeferredCloses } from "./deferred-close.ts";
import type { EditLock } from "./edit-lock.ts";
import { largestHashed } from "./hash-ahead.ts";
import { applyMetadata, type Metadata } from "./metadata.ts";
import { openFolder } from "./open-folder.ts";
import type { WrittenFile } from "./place.ts";

/** A file to be written. */
export interface PendingFile extends Metadata {
  readonly folder: Folder;
  /** The content in pieces, which may arrive over time. */
  readonly content: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /**
   * A descriptor of a file with this content, whose blocks are shared if the file system can; `content` is
   * unused then.
   */
  readonly cloneOf?: number | undefined;
  /** The times of the last access and change; if absent, now. */
  readonly times?: { readonly atime: Date; readonly mtime: Date };
  /** Whether to flush it, and then its folder, to the disk. */
  readonly fsync: boolean;
  /** Whether to hash a large file before it gets its name, because listeners need its revision. */
  readonly isHashed?: boolean;
  /** Called once it is written, before it gets its name. */
  readonly onWritten?: (() => Promise<void>) | undefined;
  /** The lock held while it gets its name; absent if it does not matter to other workers. */
  readonly editLock?: EditLock | undefined;
}

/** The flags for a new file. Listeners may read it. */
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes the content to a temporary file in its folder, and calls `commit` inside the folder to give the file
 * its name (`commitFile`), or to throw if it must not have it. On any error, including that of the deadline,
 * the temporary file is removed.
 */
export async function writeAtomically(
  pending: PendingFile,
  deadline: Deadline,
  commit: Commit,
): Promise<void> {
  try {
    await writeOnce(pending, deadline, commit);
  } catch (error) {
    // There may be space once the replaced files are freed.
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
    const stats = await fill(descriptor, pending);
    const written = {
      temporary,
      descriptor,
      inode: inodeOf(stats),
      revision: await hash(descriptor, pending),
    };
    await pending.onWritten?.();
    const giveName = () => {
      deadline.check();
      folder.enter((at) => commit({ at, ...written }));
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
 * Writes a file under its own name, in a temporary folder that no caller can see. The maker of the folder
 * removes the leftovers of a failure. The folder is not flushed.
 */
export async function writeHidden(name: Name, pending: PendingFile): Promise<void> {
  const descriptor = pending.folder.enter((at) => openSync(at(name), createFlags, 0o600));
  try {
    await fill(descriptor, pending);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the revision of a large file that is to be hashed. */
async function hash(descriptor: number, { isHashed = false }: PendingFile): Promise<string | undefined> {
  const { size } = fstatSync(descriptor);
  if (!isHashed || !isLarge({ size }) || size > largestHashed) return undefined;
  // Several files may have been written in the background by this turn.
  await createTimeSlice(0).yieldIfDue();
  return await runInSlices(revisionInSteps(descriptor), createTimeSlice());
}

/** Gives a new file everything except its name. Returns the stats that it had before its metadata. */
async function fill(
  descriptor: number,
  {
    content,
    cloneOf,
    times,
    fsync,
    folder: _,
    editLock: __,
    isHashed: ___,
    onWritten: ____,
    ...metadata
  }: PendingFile,
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
 * Flushes the names in a folder to the disk. Failures are ignored: the change is done, and an error would say
 * otherwise.
 */
export async function flushFolder(folder: Folder): Promise<void> {
  let descriptor: number | undefined;
  try {
    descriptor = openFolder(folder);
    await flush(descriptor);
  } catch {
    // The folder may not be listed, or its file system cannot flush.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const fsyncInBackground = promisify(fsync);

/** Sets the metadata of a held folder that no caller can see, and flushes it if needed. */
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

/**
 * Flushes in the background, because a flush takes up to tens of milliseconds, and other calls should not
 * wait.
 */
async function flush(descriptor: number): Promise<void> {
  try {
    await fsyncInBackground(descriptor);
  } catch (error) {
    if (errnoOf(error) !== "EINVAL") throw error; // EINVAL: this file system cannot flush
  }
}

function writeAll(descriptor: number, pieces: readonly Uint8Array[]): void {
  for (let rest = pieces; rest.length > 0; ) rest = restOf(rest, writevSync(descriptor, rest));
}

/** Returns the pieces without their first `written` bytes. */
function restOf(pieces: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  const [first, ...others] = pieces;
  if (first === undefined) return [];
  return written < first.length
    ? [first.subarray(written), ...others]
    : restOf(others, written - first.length);
}

const lengthOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** Minimum bytes of a write that runs in the background, because it takes at least half a millisecond. */
const largeBytes = 1024 * 1024;

const writeSome = promisify(writev);

async function writeInBackground(descriptor: number, pieces: readonly Uint8Array[]): Promise<void> {
  for (let rest = pieces; rest.length > 0; )
    rest = restOf(rest, (await writeSome(descriptor, rest)).bytesWritten);
}

function discard(folder: Folder, temporary: string): void {
  try {
    folder.enter((at) => unlinkSync(at(temporary)));
  } catch {
    // It is gone, or out of reach; then the sweep finds it.
  }
}
