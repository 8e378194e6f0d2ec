/**
 * Copies folders with everything in them. A copy is built out of sight and then gets its name in one step.
 */
import { closeSync, fstatSync, readlinkSync } from "node:fs";
import { runInSlices } from "../../base/scheduling/time-slice.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import type { Disk } from "../disk/disk.ts";
import { entriesAt } from "../disk/held-entry.ts";
import {
  makeHiddenFolder,
  makeInnerFolder,
  makeInnerLink,
  removeHiddenFolder,
  removeInnerFolder,
} from "../disk/hidden-folder.ts";
import type { Metadata } from "../disk/metadata.ts";
import type { Requester } from "../disk/mutation.ts";
import { openFolder } from "../disk/open-folder.ts";
import { type CommitTarget, commitFolder } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import { completeHidden, flushFolder } from "../disk/write.ts";
import { readEntries } from "../files/entries.ts";
import { ignoreMissing, isMissing } from "../files/ignore-missing.ts";
import { type TreeVisitor, type Visit, walkTree } from "../files/tree-walk.ts";
import type { Entry, Limit } from "../files/types.ts";
import { readAttributes } from "../jail/attributes.ts";
import { errnoError, mapErrno } from "../jail/errno.ts";
import type { Folder, Jail, Name, PathHandle } from "../jail/folder.ts";
import { copyFileHidden } from "./copy-file.ts";
import { refuseMove } from "./move-errors.ts";
import { allowedOnly, requireAllowed, type TreeOperation } from "./require-allowed.ts";
import { type CopyEnds, jailAtBoth } from "./require-target.ts";
import type { Ends } from "./same-entry.ts";

interface Request extends Ends {
  readonly requester: Requester;
}

/** Throws unless everything in a folder may be reached at the source and at the target, and can be copied. */
export async function requireTreeCopyable(
  { jail, config }: Pick<Disk, "jail" | "config">,
  from: string,
  request: Request,
): Promise<void> {
  using slice = createWalkSlice(request.requester);
  const operation = operationOf(jail, from, { ...request, slice });
  using inside = request.source.folder.child(request.source.name);
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  const visitor: TreeVisitor = {
    ...visibleOnly<Disposable>(operation),
    preorder({ folder, entry }) {
      if (jail.isTemporary(entry.name)) return undefined;
      requireAllowed(operation, folder, entry.name);
      if (entry.kind === "other") throw refuseMove.holdsSpecialFile(from);
      if (entry.kind === "file" && (ignoreMissing(() => folder.lstat(entry.raw).size) ?? 0) > limit.bytes)
        throw refuseMove.holdsLargeFile(from, limit);
      return undefined;
    },
  };
  await walkTree({ ...operation, visitor }, inside);
}

const operationOf = (
  jail: Jail,
  path: string,
  { requester, slice, ...ends }: Pick<Request, "requester"> & CopyEnds & Pick<TreeOperation, "slice">,
): TreeOperation => ({ jail: jailAtBoth(jail, ends, "copy"), path, slice, deadline: requester.deadline });

/**
 * Returns a visitor that skips temporary files and folders. Callers do not see them, so they are not copied.
 */
function visibleOnly<Held extends Disposable>(operation: TreeOperation): TreeVisitor<Held> {
  const { onUnreadable, onTooDeep } = allowedOnly(operation);
  return {
    onUnreadable: onUnreadable!,
    onTooDeep: onTooDeep!,
    open: ({ folder, entry: { kind, name, raw } }) =>
      kind === "dir" && !operation.jail.isTemporary(name) ? folder.child(raw) : undefined,
  };
}

interface Copying extends Building {
  readonly destination: CommitTarget;
  /** The scope that the copy belongs to; if absent, the call itself. */
  readonly scope?: MutationScope;
  /** Throws if the complete copy must not get its name. */
  readonly verify?: () => Promise<void>;
}

/** Copies a folder, which has been checked, to a free name. If it throws, no part of the copy has a name. */
export async function copyTree(ctx: Disk, copying: Copying): Promise<void> {
  const { source, destination, requester } = copying;
  const { folder: outer, exclusive } = destination;
  const { scope = { mutations: ctx.mutations, requester } } = copying;
  const hidden = mapErrno(exclusive!, () => makeHiddenFolder(outer));
  try {
    await fillCopy(ctx, copying, hidden.folder);
    const entries = entriesAt({ folder: outer, name: destination.name, temporary: hidden.name });
    await scope.mutations.readPlaced(entries);
    await copying.verify?.();
    requester.deadline.check();
    commitFolder(scope, hidden, { ...destination, from: source.path, entries });
  } catch (error) {
    // Anything that cannot be removed here is left to the sweep.
    await removeHiddenFolder(outer, hidden.name).catch(() => {});
    throw error;
  } finally {
    hidden.folder.close();
  }
  if (ctx.config.fsync) await flushFolder(outer);
}

/** A folder of the copy that is not complete yet. */
class InnerCopy implements Disposable {
  readonly folder: Folder;
  /** The copy of the folder around it; `undefined` for the outermost. */
  readonly outer: InnerCopy | undefined;
  metadata: Metadata | undefined;
  /** Whether an entry of the source was gone when it was to be copied. */
  hasGone = false;

  constructor(folder: Folder, outer?: InnerCopy) {
    this.folder = folder;
    this.outer = outer;
  }

  [Symbol.dispose](): void {
    this.folder.close();
  }
}

interface Building extends CopyEnds {
  /** The path in the form that was sent. */
  readonly from: string;
  readonly requester: Requester;
  /**
   * Whether the source will be removed: files then keep their times, and may have any size. Default: false.
   */
  readonly isMove?: boolean;
}

/**
 * Fills a hidden folder with a copy of everything in another folder that callers may see. A failure leaves a
 * partial copy.
 */
export async function fillCopy(
  { jail, config }: Pick<Disk, "jail" | "config">,
  building: Building,
  hidden: Folder,
): Promise<void> {
  const { source, from, requester, isMove = false } = building;
  using slice = createWalkSlice(requester);
  const operation = operationOf(jail, from, { ...building, slice });
  const options = {
    fsync: config.fsync,
    limit: isMove ? undefined : { key: "max_write_bytes", bytes: config.max_write_bytes },
    keepsTimes: isMove,
    deadline: requester.deadline,
  };
  using inside = source.folder.child(source.name);
  const visible = visibleOnly<InnerCopy>(operation);
  const visitor: TreeVisitor<InnerCopy> = {
    ...visible,
    preorder: (visit) => copyEntry(operation, visit, options),
    open(visit, held) {
      const folder = ignoreMissing(() => visible.open!(visit, held));
      if (folder !== undefined) held!.metadata = metadataOf(folder);
      else if (held !== undefined) visit.parent!.hasGone = true;
      return folder;
    },
    onLeave: (folder, held) => requireComplete(operation, folder, held!),
    async postorder({ entry, parent }, held) {
      if (held?.metadata !== undefined)
        await completeHidden(held.folder, { ...held.metadata, fsync: config.fsync });
      else if (held !== undefined) removeInnerFolder(parent!.folder, entry.raw);
    },
  };
  const metadata = metadataOf(inside);
  await walkTree({ ...operation, visitor }, inside, new InnerCopy(hidden));
  await completeHidden(hidden, { ...metadata, fsync: config.fsync });
}

interface Options {
  readonly limit: Limit | undefined;
  readonly keepsTimes: boolean;
  readonly fsync: boolean;
  readonly deadline: Requester["deadline"];
}

/** Copies an entry; a folder without its contents. Entries that are gone are not part of the copy. */
async function copyEntry(
  operation: TreeOperation,
  { folder, entry, parent }: Visit<InnerCopy>,
  options: Options,
): Promise<InnerCopy | undefined> {
  if (operation.jail.isTemporary(entry.name)) return undefined;
  // This check is repeated, since the entry may have been put there later.
  requireAllowed(operation, folder, entry.name);
  const into = parent!.folder;
  if (entry.kind === "dir") return new InnerCopy(makeInnerFolder(into, entry.raw), parent);
  if (entry.kind === "other") throw refuseMove.holdsSpecialFile(operation.path);
  if (entry.kind === "symlink") {
    const text = ignoreMissing(() => folder.enter((at) => readlinkSync(at(entry.raw), "buffer")));
    if (text !== undefined) makeInnerLink(into, entry.raw, text);
    else parent!.hasGone = true;
    return undefined;
  }
  const handle = ignoreMissing(() => folder.openPath(entry.raw));
  if (handle !== undefined)
    await copyFile(handle, { ...options, requested: operation.path, into, name: entry.raw });
  else parent!.hasGone = true;
  return undefined;
}

/**
 * Throws if a folder has entries that its copy lacks, after others were gone: another program has renamed
 * them in the meantime, and a copy without them would look complete.
 */
async function requireComplete(
  { jail, path, slice }: TreeOperation,
  folder: Folder,
  { folder: copy, outer, hasGone }: InnerCopy,
): Promise<void> {
  if (!hasGone) return;
  const copied = new Set((await runInSlices(readEntries(copy), slice)).map(bytesOf));
  const entries = await entriesStillIn(folder, slice);
  // Without descriptors, a renamed folder looks removed; then the one around it has a new name.
  if (entries === undefined && outer !== undefined) outer.hasGone = true;
  else if (entries?.every((entry) => jail.isTemporary(entry.name) || copied.has(bytesOf(entry))) !== true)
    throw refuseMove.changedDuringCopy(path);
}

/** Returns the entries of a folder, or `undefined` if it is gone. */
async function entriesStillIn(folder: Folder, slice: TreeOperation["slice"]): Promise<Entry[] | undefined> {
  try {
    return await runInSlices(readEntries(folder), slice);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const bytesOf = ({ raw }: Entry): string => Buffer.from(raw).toString("latin1");

interface InnerFile extends Options {
  readonly requested: string;
  readonly into: Folder;
  readonly name: Name;
}

async function copyFile(handle: PathHandle, { requested, into, name, ...options }: InnerFile): Promise<void> {
  try {
    options.deadline.check();
    if (!handle.stats.isFile()) throw errnoError("ESTALE");
    const source = { requested, stats: handle.stats, open: () => handle.open() };
    await copyFileHidden([source, { folder: into, name }], options);
  } finally {
    handle.close();
  }
}

/** Returns the metadata for the copy of a folder. Throws the errno error. */
function metadataOf(folder: Folder): Metadata {
  const descriptor = openFolder(folder);
  try {
    const { mode, uid, gid } = fstatSync(descriptor);
    return { mode: mode & 0o777, owner: { uid, gid }, attributes: readAttributes(descriptor) };
  } finally {
    closeSync(descriptor);
  }
}
