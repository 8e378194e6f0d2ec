import { refuse } from "../../base/errors.ts";
import { type DeferredClose, holdForDeferredClose } from "../disk/deferred-close.ts";
import type { Requester } from "../disk/mutation.ts";
import { readAtMost, readFromStart } from "../files/read.ts";
import { ScratchBuffer } from "../files/scratch-buffer.ts";
import type { FilesConfig } from "../files/types.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { absent, fileOfRevision, requireRevision } from "./expected-revision.ts";
import { metadataToKeep } from "./kept-metadata.ts";
import { requireWritableFile, requireWritableFolder } from "./require-writable.ts";
import type { WritableTree } from "./writable-tree.ts";

/** A file to be created, apart from its content and mode. */
export interface CreationOptions {
  readonly path: string;
  readonly overwrite: boolean;
  /** The revision that the replaced file must have, or `absent`. Throws revision-mismatch otherwise. */
  readonly expectedRevision?: string | undefined;
  /** Whether to create missing folders, with the permissions that the umask leaves. */
  readonly parents: boolean;
  /** Whether to leave a file alone that has the content and the mode already. Default: false. */
  readonly skipsEqual?: boolean;
}

export interface Creation extends CreationOptions {
  readonly content: Buffer;
  /**
   * The exact permission bits of the file. If `undefined`, those of the file it replaces, or what the umask
   * leaves.
   */
  readonly mode: number | undefined;
}

/**
 * Creates a file with this content and exactly this mode, or with `overwrite` replaces one, in a single step.
 * If it throws, nothing was created, replaced or left over. Returns false if it left an equal file alone.
 */
export async function createFileAt(
  tree: WritableTree,
  { content, mode, ...options }: Creation,
  requester: Requester,
): Promise<boolean> {
  requireContentSize(options.path, content, tree.config);
  using creation = await FileCreation.begin(tree, options, requester);
  return await creation.write(content, mode);
}

/**
 * Like `createFileAt`, for a content that depends on the file to be replaced: no other call changes that file
 * until this is disposed of.
 */
export class FileCreation implements Disposable {
  readonly #tree: WritableTree;
  readonly #options: CreationOptions;
  readonly #requester: Requester;
  readonly #admitted: Disposable;
  readonly #place: ResolvedPath;
  /** The file to be replaced, if it exists on the disk and may be read. */
  readonly #held: DeferredClose | undefined;

  /** Finds the place of the file, when earlier calls on it are done. Throws a refusal. */
  static async begin(
    tree: WritableTree,
    options: CreationOptions,
    requester: Requester,
  ): Promise<FileCreation> {
    const { path, parents } = options;
    const target = { path, changes: "entry", mayBeMissing: true, parents } as const;
    const admitted = await tree.admit([target], requester.deadline);
    const [place] = admitted.places;
    try {
      requireCreatable(place, options, tree.config);
      if (tree.isPlanned) requireWritableFolder(place.folder, path);
      return new FileCreation(tree, { options, requester, admitted, place });
    } catch (error) {
      admitted[Symbol.dispose]();
      throw refusalOfErrno(error, path);
    }
  }

  private constructor(tree: WritableTree, { options, requester, admitted, place }: BegunCreation) {
    this.#tree = tree;
    this.#options = options;
    this.#requester = requester;
    this.#admitted = admitted;
    this.#place = place;
    this.#held = place.stats === undefined ? undefined : holdForDeferredClose(place);
  }

  /**
   * Returns the result of `use` for the content of the file to be replaced. Returns `undefined` for a new
   * file, and for one that may not be read or exceeds `max_write_bytes`. Call it once.
   */
  readReplaced<T>(use: (content: Buffer) => T): T | undefined {
    const { content, stats } = this.#place;
    const { max_write_bytes: limit } = this.#tree.config;
    if (content !== undefined) return use(Buffer.concat(content));
    if (this.#held === undefined || stats!.size > limit) return undefined;
    using scratch = new ScratchBuffer();
    try {
      const size = { expected: stats!.size, most: limit + 1 };
      const bytes = readAtMost(this.#held.descriptor, size, scratch);
      return bytes.length > limit ? undefined : use(bytes);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Writes the file. Returns false if it leaves an equal file alone. Throws a refusal. */
  async write(content: Buffer, mode: number | undefined): Promise<boolean> {
    const { path, overwrite, expectedRevision: expected } = this.#options;
    const place = this.#place;
    requireContentSize(path, content, this.#tree.config);
    if (this.#options.skipsEqual && this.#isEqual(content, mode)) return false;
    const file = { kind: "file", content: [content] } as const;
    try {
      if (place.stats === undefined) {
        const made = { ...file, mode: mode ?? 0o666 & ~process.umask() };
        const mayReplace = overwrite && expected === undefined;
        await this.#tree.place({ place, made, mayReplace }, this.#requester);
        return true;
      }
      const held = this.#held;
      const kept = metadataToKeep(place, held);
      const made = { ...file, ...kept, mode: mode ?? kept.mode };
      const replaced = expected === undefined ? undefined : fileOfRevision({ path, expected });
      await this.#tree.exchange({ place, made, held, expected: replaced }, this.#requester);
      return true;
    } catch (error) {
      throw refusalOfErrno(error, path);
    }
  }

  /** Returns whether the file to be replaced has the content and the mode already. */
  #isEqual(content: Buffer, mode: number | undefined): boolean {
    const { stats, content: planned } = this.#place;
    if (!stats?.isFile() || stats.size !== content.length) return false;
    // A new file would lose the special bits.
    if ((stats.mode & 0o7777) !== (mode ?? stats.mode & 0o777)) return false;
    if (planned !== undefined) return Buffer.concat(planned).equals(content);
    if (this.#held === undefined) return false;
    try {
      return readFromStart(this.#held.descriptor, content.length)?.equals(content) === true;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.#held?.[Symbol.dispose]();
    this.#admitted[Symbol.dispose]();
  }
}

interface BegunCreation {
  readonly options: CreationOptions;
  readonly requester: Requester;
  readonly admitted: Disposable;
  readonly place: ResolvedPath;
}

/** Throws too-large if the content exceeds the limit. */
function requireContentSize(path: string, content: Buffer, { max_write_bytes: bytes }: FilesConfig): void {
  const limit = { key: "max_write_bytes", bytes };
  if (content.length > limit.bytes)
    throw refuse.tooLarge(path, limit, "send less content, or split it over several files");
}

/** Throws unless the file may be created at `place`. */
function requireCreatable(
  place: ResolvedPath,
  { path, overwrite, expectedRevision: expected }: CreationOptions,
  config: FilesConfig,
): void {
  if (place.stats === undefined) {
    if (expected !== undefined && expected !== absent) throw refuse.absent(path, "missing");
    return;
  }
  if (!overwrite && place.stats.isDirectory()) throw refuse.folderExists(path);
  if (!overwrite) throw expected === absent ? refuse.existsUnexpectedly(path) : refuse.exists(path);
  if (place.stats.isDirectory()) throw refuse.isAFolder(path);
  if (expected !== undefined) requireRevision(place, expected, config);
  requireWritableFile(place);
}
