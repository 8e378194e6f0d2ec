/** The verbs of a pending tree that make and edit files. */

import { closeSync, fstatSync } from "node:fs";
import { admitPermitted } from "../changes/change-mode.ts";
import {
  type Creation,
  requireContentSize,
  requireCreatable,
  targetOf,
  usualFileMode,
} from "../changes/create.ts";
import { type Owner, requireWritableFile } from "../changes/require-writable-file.ts";
import { requireWritableFolder } from "../changes/require-writable-folder.ts";
import {
  type ContentChange,
  contentLength,
  isSameContent,
  requireUpdatedSize,
  type UpdateOptions,
} from "../changes/update.ts";
import type { EntryVersion } from "../disk/steps.ts";
import { refuse } from "../errors.ts";
import { openWithin, readWithin } from "../files/read.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { ScratchBuffer } from "../files/scratch-buffer.ts";
import type { Limit } from "../files/types.ts";
import { type Attributes, readAttributes } from "../jail/attributes.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import type { PendingPlace } from "./pending-changes.ts";
import { admitPending, type PendingContext } from "./pending-context.ts";
import { requireOwner } from "./pending-stats.ts";

/** Like `Files.create`, in the pending tree. */
export function createPending(pending: PendingContext, creation: Creation): void {
  const { changes, config } = pending;
  requireContentSize(creation, config);
  using place = admitPending(pending, targetOf(creation));
  const owner = requireCreatable(place, creation, config);
  requireWritableFolder(place.folder, creation.path);
  const { content: body, mode } = creation;
  pending.takeBytes(body.length);
  const content = [body];
  if (owner === undefined) {
    const staged = { kind: "file", content, mode: mode ?? usualFileMode() } as const;
    changes.place(place, { type: "file", staged, size: body.length });
    return;
  }
  const file = { content, mode: mode ?? place.stats!.mode & 0o777, ...keptOf(place, owner) };
  changes.rewrite(place, file, { size: body.length });
}

interface Update<T> extends Pick<UpdateOptions<T>, "project"> {
  readonly path: string;
  readonly change: ContentChange;
}

/** Like `Files.update`, in the pending tree. */
export async function updatePending<T>(
  pending: PendingContext,
  { path, change, project = () => undefined as T }: Update<T>,
): Promise<T> {
  const { changes, config } = pending;
  using place = admitPending(pending, { path, changes: "entry" });
  const owner = requireWritableFile(place);
  using scratch = new ScratchBuffer();
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  const { body: before, seen } = readAt(place, limit, scratch);
  const made = await change(before);
  const after = made instanceof Uint8Array ? [made] : made;
  requireUpdatedSize(path, after, config);
  const answer = project({ before, after });
  if (isSameContent(before, after)) return answer;
  requireWritableFolder(place.folder, path);
  const size = contentLength(after);
  pending.takeBytes(size);
  // Unchanged pieces are views of the scratch buffer, whose memory is reused.
  const content = [Buffer.concat(after)];
  const file = { content, mode: place.stats!.mode & 0o777, ...keptOf(place, owner) };
  changes.rewrite(place, file, { size, seen: seen && { ...seen, revision: revisionOfBytes([before]) } });
  return answer;
}

/** Implements `PendingTree.changeOwnMode`. */
export function changeOwnMode({ jail, changes, config }: PendingContext, path: string, mode: number): void {
  using place = admitPermitted(jail, { path, recursive: false }) as PendingPlace;
  const stats = place.stats!;
  requireOwner(stats);
  if (stats.isDirectory() || (stats.isFile() && stats.nlink === 1)) {
    changes.setMode(place, mode);
    return;
  }
  if (!stats.isFile()) throw refuse.notAFile(path);
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  if (stats.size > limit.bytes)
    throw refuse.tooLarge(path, limit, "leave its mode as it is, or ask the user to raise the limit");
  requireWritableFolder(place.folder, path);
  const copy = changes.copies.copyFile(place.folder, place.name, { keepsTimes: true });
  changes.exchange(place, { ...copy, staged: { ...copy.staged, mode } });
}

interface Body {
  readonly body: Buffer;
  /**
   * The version of the file on disk just before it was read, or `undefined` for a file that is not there yet,
   * or elsewhere.
   */
  readonly seen: EntryVersion | undefined;
}

/** Reads the content of a file, which is valid until the scratch buffer is disposed of. Throws too-large. */
export function readAt(place: ResolvedPath, limit: Limit, scratch: ScratchBuffer): Body {
  if (place.content !== undefined) return { body: Buffer.concat(place.content), seen: undefined };
  const descriptor = openWithin(place, limit);
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(descriptor, { bigint: true });
    const body = readWithin(place, descriptor, { limit, scratch });
    return { body, seen: { dev, ino, size, mtimeNs, ctimeNs } };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns the metadata that a file keeps when its content is replaced. An unreadable file hides its
 * attributes.
 */
export function keptOf(
  place: ResolvedPath,
  owner: Owner,
): { owner: Owner; attributes?: Attributes | undefined } {
  if (place.content !== undefined) return { owner };
  let descriptor: number | undefined;
  try {
    descriptor = place.open();
  } catch {
    return { owner, attributes: readAttributes(undefined) };
  }
  try {
    return { owner, attributes: readAttributes(descriptor) };
  } finally {
    closeSync(descriptor);
  }
}
