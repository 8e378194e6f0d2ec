import { refuse } from "../../base/errors.ts";
import { holdForDeferredClose } from "../disk/deferred-close.ts";
import type { Requester } from "../disk/mutation.ts";
import type { FilesConfig } from "../files/types.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { absent, fileOfRevision, requireRevision } from "./expected-revision.ts";
import { metadataToKeep } from "./kept-metadata.ts";
import { requireWritableFile, requireWritableFolder } from "./require-writable.ts";
import type { WritableTree } from "./writable-tree.ts";

export interface Creation {
  readonly path: string;
  readonly content: Buffer;
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

/**
 * Creates a file with this content and exactly this mode, or with `overwrite` replaces one, in a single step.
 * If it throws, nothing was created, replaced or left over.
 */
export async function createFileAt(
  tree: WritableTree,
  creation: Creation,
  requester: Requester,
): Promise<void> {
  const { path, content, mode, overwrite, expectedRevision: expected, parents } = creation;
  requireContentSize(creation, tree.config);
  const target = { path, changes: "entry", mayBeMissing: true, parents } as const;
  using admitted = await tree.admit([target], requester.deadline);
  const [place] = admitted.places;
  try {
    requireCreatable(place, creation, tree.config);
    if (tree.isPlanned || creation.dryRun) requireWritableFolder(place.folder, path);
    if (creation.dryRun) return;
    const file = { kind: "file", content: [content] } as const;
    if (place.stats === undefined) {
      const made = { ...file, mode: mode ?? 0o666 & ~process.umask() };
      await tree.place({ place, made, mayReplace: overwrite && expected === undefined }, requester);
      return;
    }
    using held = holdForDeferredClose(place);
    const kept = metadataToKeep(place, held);
    const made = { ...file, ...kept, mode: mode ?? kept.mode };
    const replaced = expected === undefined ? undefined : fileOfRevision({ path, expected });
    await tree.exchange({ place, made, held, expected: replaced }, requester);
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

/** Throws too-large if the content exceeds the limit. */
function requireContentSize({ path, content }: Creation, { max_write_bytes: bytes }: FilesConfig): void {
  const limit = { key: "max_write_bytes", bytes };
  if (content.length > limit.bytes)
    throw refuse.tooLarge(path, limit, "send less content, or split it over several files");
}

/** Throws unless the file may be created at `place`. */
function requireCreatable(
  place: ResolvedPath,
  { path, overwrite, expectedRevision: expected }: Creation,
  config: FilesConfig,
): void {
  if (place.stats === undefined) {
    if (expected !== undefined && expected !== absent) throw refuse.absent(path, "missing");
    return;
  }
  if (!overwrite) throw place.stats.isDirectory() ? refuse.folderExists(path) : refuse.exists(path);
  if (place.stats.isDirectory()) throw refuse.isAFolder(path);
  if (expected !== undefined) requireRevision(place, expected, config);
  requireWritableFile(place);
}
