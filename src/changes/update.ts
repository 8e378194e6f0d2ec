import { DeferredClose } from "../disk/deferred-close.ts";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { awaitReplacement } from "../disk/swap-names.ts";
import { refuse } from "../errors.ts";
import { openWithin } from "../files/read.ts";
import { ScratchBuffer } from "../files/scratch-buffer.ts";
import type { FilesConfig } from "../files/types.ts";
import { readAttributes } from "../jail/attributes.ts";
import { errnoOf } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { withPathLock } from "./path-lock.ts";
import { replaceFile } from "./replace-file.ts";
import { requireWritableFile } from "./require-writable-file.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";
import { Version } from "./version.ts";

/** The content of a file, in consecutive pieces. */
export type Content = readonly Buffer[];

/** A file before and after its update. */
export interface Bodies {
  readonly before: Buffer;
  readonly after: Content;
}

/** Makes the new content from the old. An equal one means that nothing is written. */
export type ContentChange = (before: Buffer) => Buffer | Content | Promise<Buffer | Content>;

/**
 * Makes the answer for an updated file, from buffers that it must not keep. It is called while a large
 * content is still being written; if that fails, its result is dropped.
 */
export type Projection<T> = (bodies: Bodies) => T;

export interface UpdateOptions<T> {
  readonly project?: Projection<T>;
  /** Whether to check everything and write nothing. Default: false. */
  readonly dryRun?: boolean;
}

interface Update<T> extends UpdateOptions<T> {
  readonly path: string;
  readonly change: ContentChange;
}

/** Implements `Files.update`. */
export async function rewriteFile<T>(ctx: Disk, update: Update<T>, requester: Requester): Promise<T> {
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

/**
 * Returns the result of `work`, or `undefined` if another program changed the file before the new content
 * could replace it.
 */
async function unlessChanged<T>(work: () => Promise<T>): Promise<{ value: T } | undefined> {
  try {
    return { value: await work() };
  } catch (error) {
    if (errnoOf(error) === "ESTALE" || errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function updateAt<T>(
  { config, mutations, editLock }: Disk,
  { path, change, project = projectNothing, dryRun = false }: Update<T>,
  { place, requester }: { place: ResolvedPath; requester: Requester },
): Promise<T> {
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  const owner = requireWritableFile(place);
  using old = new DeferredClose(openWithin(place, limit));
  await awaitReplacement(old.descriptor);
  using scratch = new ScratchBuffer();
  const version = new Version(place, old.descriptor, { limit, scratch });
  const before = version.content;
  const made = await change(before);
  const after = made instanceof Uint8Array ? [made] : made;
  requireUpdatedSize(path, after, config);
  if (isSameContent(before, after)) return project({ before, after });
  if (dryRun) {
    requireWritableFolder(place.folder, path);
    return project({ before, after });
  }
  const mode = place.stats!.mode & 0o777;
  const attributes = readAttributes(old.descriptor);
  const pending = {
    folder: place.folder,
    content: after,
    mode,
    owner,
    attributes,
    fsync: config.fsync,
    editLock,
  };
  const scope = { mutations, requester };
  const replacing = replaceFile(scope, { place, pending, old, expected: version }, requester.deadline);
  try {
    return project({ before, after });
  } finally {
    await replacing;
  }
}

/** Throws too-large if the content exceeds the limit. */
export function requireUpdatedSize(path: string, after: Content, config: FilesConfig): void {
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  if (contentLength(after) > limit.bytes)
    throw refuse.tooLarge(path, limit, "put in less, or split it over several files");
}

const projectNothing = <T>() => undefined as T;

export const contentLength = (content: Content): number =>
  content.reduce((length, piece) => length + piece.length, 0);

export function isSameContent(before: Buffer, after: Content): boolean {
  if (before.length !== contentLength(after)) return false;
  let at = 0;
  for (const piece of after) {
    const old = before.subarray(at, at + piece.length);
    // Kept parts are usually views of the old content, and need no comparison.
    const isView = piece.buffer === old.buffer && piece.byteOffset === old.byteOffset;
    if (!isView && !piece.equals(old)) return false;
    at += piece.length;
  }
  return true;
}
