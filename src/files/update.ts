import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { refuse } from "../errors.ts";
import { readAttributes } from "../jail/attributes.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import { DeferredClose } from "./deferred-close.ts";
import type { Requester } from "./mutation.ts";
import { withPathLock } from "./path-lock.ts";
import { openWithin, readWithin } from "./read.ts";
import { replaceFile } from "./replace-file.ts";
import { requireWritableFile } from "./require-writable-file.ts";
import { ScratchBuffer } from "./scratch-buffer.ts";
import type { FilesContext, Limit } from "./types.ts";

/** The content of a file, in pieces that follow each other. */
export type Content = readonly Buffer[];

/** A file before and after its update. */
export interface Bodies {
  readonly before: Buffer;
  readonly after: Content;
}

/** Makes the new content out of the old. An equal one means that nothing is to be written. */
export type ContentChange = (before: Buffer) => Buffer | Content | Promise<Buffer | Content>;

/**
 * Makes what is answered once the file is updated, from buffers that it must not keep. It is asked while a large content
 * is still being written, and in vain when that fails.
 */
export type Projection<T> = (bodies: Bodies) => T;

interface Update<T> {
  readonly path: string;
  readonly change: ContentChange;
  readonly project: Projection<T> | undefined;
}

/** See `Files.update`. */
export async function rewriteFile<T>(ctx: FilesContext, update: Update<T>, requester: Requester): Promise<T> {
  for (const isLastTry of [false, true]) {
    const done = await withPathLock(
      ctx,
      { path: update.path, changes: "entry" },
      requester.deadline,
      (place) => unlessChanged(() => updateAt(ctx, update, { place, requester })),
    );
    if (done !== undefined) return done.value;
    if (isLastTry) break;
  }
  throw refuse.changed(update.path);
}

/** Undefined when the file was changed by someone else before the new content could take its place. */
async function unlessChanged<T>(work: () => Promise<T>): Promise<{ value: T } | undefined> {
  try {
    return { value: await work() };
  } catch (error) {
    if (errnoOf(error) === "ESTALE" || errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function updateAt<T>(
  { config, mutations }: FilesContext,
  { path, change, project = projectNothing }: Update<T>,
  { place, requester }: { place: ResolvedPath; requester: Requester },
): Promise<T> {
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  const owner = requireWritableFile(place);
  using old = new DeferredClose(openWithin(place, limit));
  using scratch = new ScratchBuffer();
  const version = readVersion(place, old.descriptor, { limit, scratch: scratch });
  const before = version.content;
  const made = await change(before);
  const after = made instanceof Uint8Array ? [made] : made;
  if (lengthOf(after) > limit.bytes)
    throw refuse.tooLarge(path, limit, "put in less, or split it over several files");
  if (isSame(before, after)) return project({ before, after });
  const mode = place.stats!.mode & 0o777;
  const attributes = readAttributes(old.descriptor);
  const pending = { folder: place.folder, content: after, mode, owner, attributes, fsync: config.fsync };
  const verify = (path: JailedPath) => requireVersion(path, version);
  const scope = { mutations, requester };
  const replacing = replaceFile(scope, { place, pending, old, verify }, requester.deadline);
  try {
    return project({ before, after });
  } finally {
    await replacing;
  }
}

const projectNothing = <T>() => undefined as T;

const lengthOf = (content: Content): number => content.reduce((length, piece) => length + piece.length, 0);

function isSame(before: Buffer, after: Content): boolean {
  if (before.length !== lengthOf(after)) return false;
  let at = 0;
  for (const piece of after) {
    const old = before.subarray(at, at + piece.length);
    // What stayed is mostly a view of what was, and then there is nothing to compare.
    const isView = piece.buffer === old.buffer && piece.byteOffset === old.byteOffset;
    if (!isView && !piece.equals(old)) return false;
    at += piece.length;
  }
  return true;
}

/** A file as it was read. */
interface Version {
  /** Taken before the content was read. */
  readonly stats: BigIntStats;
  readonly content: Buffer;
}

function readVersion(
  place: ResolvedPath,
  descriptor: number,
  { limit, scratch }: { limit: Limit; scratch: ScratchBuffer },
): Version {
  const stats = fstatSync(descriptor, { bigint: true });
  return { stats, content: readWithin(place, descriptor, { limit, scratch: scratch }) };
}

/**
 * Throws ESTALE unless the file at `path` is still what was read. The stats alone would not show it: file systems with
 * time stamps of whole seconds show no trace of a second change within one.
 */
function requireVersion(path: JailedPath, { stats, content }: Version): void {
  const now = lstatSync(path, { bigint: true });
  const isSame =
    now.ino === stats.ino &&
    now.dev === stats.dev &&
    now.size === stats.size &&
    now.mtimeNs === stats.mtimeNs &&
    now.ctimeNs === stats.ctimeNs;
  if (!isSame || !hasContent(path, content)) throw errnoError("ESTALE");
}

function hasContent(path: JailedPath, content: Buffer): boolean {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const piece = Buffer.allocUnsafe(Math.min(content.length + 1, largestPiece));
    for (let at = 0; ; ) {
      const read = readSync(descriptor, piece, 0, piece.length, at);
      if (!piece.subarray(0, read).equals(content.subarray(at, at + read))) return false;
      at += read;
      if (read < piece.length) return at === content.length;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Large enough to be read fast, and small enough to stay in the processor's cache. */
const largestPiece = 128 * 1024;
