import { refuse } from "../errors.ts";
import { readAttributes } from "../jail/attributes.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { holdForDeferredClose } from "./deferred-close.ts";
import { absent, fileOfRevision, requireRevision } from "./expected-revision.ts";
import { commitFile, type MutationScope } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { NewFolders } from "./new-folders.ts";
import { withPathLock } from "./path-lock.ts";
import { replaceFile } from "./replace-file.ts";
import { requireWritableFile } from "./require-writable-file.ts";
import { requireWritableFolder } from "./require-writable-folder.ts";
import type { FilesContext } from "./types.ts";
import { writeAtomically } from "./write.ts";

export interface CreateOptions {
  /** The permission bits of the file, exactly. */
  readonly mode: number;
  readonly overwrite: boolean;
  /** What the file must be that is replaced, or `absent`. Throws revision-mismatch when it is another. */
  readonly expectedRevision?: string | undefined;
  /** Whether missing folders are made, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** Everything is checked and nothing is written. Default false. */
  readonly dryRun?: boolean;
}

interface Creation extends CreateOptions {
  readonly path: string;
  readonly content: Buffer;
}

/** See `Files.create`. */
export async function writeFile(ctx: FilesContext, creation: Creation, requester: Requester): Promise<void> {
  const scope = { mutations: ctx.mutations, requester };
  const { deadline } = requester;
  const { path, content, parents } = creation;
  const limit = { key: "max_write_bytes", bytes: ctx.config.max_write_bytes };
  if (content.length > limit.bytes)
    throw refuse.tooLarge(path, limit, "send less content, or split it over several files");
  await withPathLock(ctx, { path, changes: "entry", mayBeMissing: true, parents }, deadline, (place) =>
    place.stats === undefined
      ? createNew(ctx, creation, { place, deadline, scope })
      : overwrite(ctx, creation, { place, deadline, scope }),
  );
}

interface LockedPlace {
  readonly place: ResolvedPath;
  readonly deadline: Requester["deadline"];
  readonly scope: MutationScope;
}

async function overwrite(
  { config }: FilesContext,
  creation: Creation,
  { place, deadline, scope }: LockedPlace,
): Promise<void> {
  const { content, mode, path } = creation;
  if (!creation.overwrite) throw refuse.exists(path);
  if (place.stats?.isDirectory()) throw refuse.isAFolder(path);
  const { expectedRevision: expected } = creation;
  if (expected !== undefined) requireRevision(place, expected, config);
  const owner = requireWritableFile(place);
  if (creation.dryRun) {
    requireWritableFolder(place.folder, path);
    return;
  }
  using old = holdForDeferredClose(place);
  const attributes = readAttributes(old?.descriptor);
  const pending = { folder: place.folder, content: [content], mode, owner, attributes, fsync: config.fsync };
  const replaced = expected === undefined ? undefined : fileOfRevision({ path, expected });
  await replaceFile(scope, { place, old, pending, expected: replaced }, deadline);
}

async function createNew(
  { config }: FilesContext,
  creation: Creation,
  { place, deadline, scope }: LockedPlace,
): Promise<void> {
  const { content, mode, path, expectedRevision: expected } = creation;
  if (expected !== undefined && expected !== absent) throw refuse.absent(path, "missing");
  if (creation.dryRun) {
    requireWritableFolder(place.folder, path);
    return;
  }
  using parents = new NewFolders(place, scope);
  const pending = { folder: parents.make(), content: [content], mode, fsync: config.fsync };
  await writeAtomically(pending, deadline, (written) => {
    const exclusive = creation.overwrite && expected === undefined ? undefined : path;
    commitFile(scope, written, { folder: pending.folder, name: place.name, isReplacing: false, exclusive });
  });
  parents.keep();
  if (config.fsync) await parents.flush();
}
