import { holdForDeferredClose } from "../disk/deferred-close.ts";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import { commitFile } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import { writeAtomically } from "../disk/write.ts";
import { refuse } from "../errors.ts";
import type { FilesConfig } from "../files/types.ts";
import { readAttributes } from "../jail/attributes.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { absent, fileOfRevision, requireRevision } from "./expected-revision.ts";
import { NewFolders } from "./new-folders.ts";
import { withPathLock } from "./path-lock.ts";
import { replaceFile } from "./replace-file.ts";
import { type Owner, requireWritableFile } from "./require-writable-file.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";

export interface CreateOptions {
  /**
   * The exact permission bits of the file. If `undefined`, those of the file it replaces, or what the umask
   * leaves.
   */
  readonly mode: number | undefined;
  readonly overwrite: boolean;
  /** The revision that the replaced file must have, or `absent`. Throws revision-mismatch otherwise. */
  readonly expectedRevision?: string | undefined;
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** Whether to check everything and write nothing. Default: false. */
  readonly dryRun?: boolean;
}

export interface Creation extends CreateOptions {
  readonly path: string;
  readonly content: Buffer;
}

/** Implements `Files.create`. */
export async function writeFile(ctx: Disk, creation: Creation, requester: Requester): Promise<void> {
  const scope = { mutations: ctx.mutations, requester };
  const { deadline } = requester;
  requireContentSize(creation, ctx.config);
  await withPathLock(ctx, targetOf(creation), deadline, async (place) => {
    const owner = requireCreatable(place, creation, ctx.config);
    if (creation.dryRun) requireWritableFolder(place.folder, creation.path);
    else if (owner === undefined) await createNew(ctx, creation, { place, deadline, scope });
    else await overwrite(ctx, { ...creation, owner }, { place, deadline, scope });
  });
}

/** Returns the options for admitting the path of a new file. */
export const targetOf = ({ path, parents }: Pick<Creation, "path" | "parents">) =>
  ({ path, changes: "entry", mayBeMissing: true, parents }) as const;

/** Returns the mode of a file that is created without one. */
export const usualFileMode = (): number => 0o666 & ~process.umask();

/** Throws too-large if the content exceeds the limit. */
export function requireContentSize(
  { path, content }: Creation,
  { max_write_bytes: bytes }: FilesConfig,
): void {
  const limit = { key: "max_write_bytes", bytes };
  if (content.length > limit.bytes)
    throw refuse.tooLarge(path, limit, "send less content, or split it over several files");
}

/**
 * Throws unless the file may be created at `place`. Returns the owner of the file that it replaces, if any.
 */
export function requireCreatable(
  place: ResolvedPath,
  { path, overwrite, expectedRevision: expected }: Creation,
  config: FilesConfig,
): Owner | undefined {
  if (place.stats === undefined) {
    if (expected !== undefined && expected !== absent) throw refuse.absent(path, "missing");
    return undefined;
  }
  if (!overwrite) throw refuse.exists(path);
  if (place.stats.isDirectory()) throw refuse.isAFolder(path);
  if (expected !== undefined) requireRevision(place, expected, config);
  return requireWritableFile(place);
}

interface LockedPlace {
  readonly place: ResolvedPath;
  readonly deadline: Requester["deadline"];
  readonly scope: MutationScope;
}

async function overwrite(
  { config, editLock }: Disk,
  { content, mode, path, owner, expectedRevision: expected }: Creation & { readonly owner: Owner },
  { place, deadline, scope }: LockedPlace,
): Promise<void> {
  using old = holdForDeferredClose(place);
  const kept = place.stats!.mode & 0o777;
  const attributes = readAttributes(old?.descriptor);
  const pending = {
    folder: place.folder,
    content: [content],
    mode: mode ?? kept,
    owner,
    attributes,
    fsync: config.fsync,
    editLock,
  };
  const replaced = expected === undefined ? undefined : fileOfRevision({ path, expected });
  await replaceFile(scope, { place, old, pending, expected: replaced }, deadline);
}

async function createNew(
  { config, editLock }: Disk,
  creation: Creation,
  { place, deadline, scope }: LockedPlace,
): Promise<void> {
  const { content, mode = usualFileMode(), path, expectedRevision: expected } = creation;
  using parents = new NewFolders(place, scope);
  const pending = { folder: parents.make(), content: [content], mode, fsync: config.fsync, editLock };
  await writeAtomically(pending, deadline, (written) => {
    const exclusive = creation.overwrite && expected === undefined ? undefined : path;
    commitFile(scope, written, { folder: pending.folder, name: place.name, isReplacing: false, exclusive });
  });
  parents.keep();
  if (config.fsync) await parents.flush();
}
