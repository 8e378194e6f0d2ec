import { refuse } from "../../base/errors.ts";
import type { Requester } from "../disk/mutation.ts";
import type { FilesConfig } from "../files/types.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import { HeldFile } from "./held-file.ts";
import { metadataToKeep } from "./kept-metadata.ts";
import { requireWritableFile, requireWritableFolder } from "./require-writable.ts";
import type { WritableTree } from "./writable-tree.ts";

/** The content of a file, in consecutive pieces. */
export type Content = readonly Buffer[];

/** A file before and after its update. */
export interface Bodies {
  readonly before: Buffer;
  readonly after: Content;
}

/** The facts about a file that an edit of it does not keep. */
export interface EditLosses {
  /** The number of its other names (hard links), which keep the content before. */
  readonly otherNames: number;
  /** Its set-user-ID and set-group-ID bits, which a write(2) removes too. */
  readonly setIds: number;
}

/**
 * An update of a regular file: its content is read, changed by the caller, and written, in a single step that
 * keeps mode and, if permitted, owner. Write `await using edit = await FileEdit.begin(…)`, and repeat the
 * change until `write` is done:
 *
 *     do after = change(edit.before);
 *     while (!(await edit.write(after)));
 */
export class FileEdit implements AsyncDisposable {
  readonly #tree: WritableTree;
  readonly #path: string;
  readonly #requester: Requester;
  #opened: Opened | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  #isLastTry = false;

  /** Reads the file, when earlier calls on it are done. Throws a refusal. */
  static async begin(tree: WritableTree, path: string, requester: Requester): Promise<FileEdit> {
    const edit = new FileEdit(tree, path, requester);
    await edit.#open();
    return edit;
  }

  private constructor(tree: WritableTree, path: string, requester: Requester) {
    this.#tree = tree;
    this.#path = path;
    this.#requester = requester;
  }

  /** The present content. It is valid until the next one is read, or the edit is disposed of. */
  get before(): Buffer {
    return this.#opened!.file.content;
  }

  /** The path from the base, links resolved; `undefined` if a plan has made the content. */
  get placeOnDisk(): string | undefined {
    const { place } = this.#opened!;
    return place.content === undefined ? place.path : undefined;
  }

  /** Returns whether the file has a content already, which is then not written. */
  isEqual(after: Content): boolean {
    return isSameContent(this.#opened!.file.content, after);
  }

  /** Returns the facts about the file that a new content does not take over. */
  lossesBy(after: Content): EditLosses {
    const { nlink, mode } = this.#opened!.place.stats!;
    const isLossless = (nlink === 1 && (mode & 0o6000) === 0) || this.isEqual(after);
    return isLossless ? { otherNames: 0, setIds: 0 } : { otherNames: nlink - 1, setIds: mode & 0o6000 };
  }

  /**
   * Replaces the content; an equal one is not written. Returns false if another program has changed the file
   * since it was read: `before` is then the newer content. Throws a refusal, and changed the second time.
   * Large contents are written in the background, while the caller may use both.
   */
  write(after: Content): Promise<boolean> {
    const writing = this.#write(after);
    this.#writing = writing.catch(() => {});
    return writing;
  }

  async #write(after: Content): Promise<boolean> {
    const tree = this.#tree;
    const { place, file } = this.#opened!;
    requireUpdatedSize(this.#path, after, tree.config);
    if (this.isEqual(after)) return true;
    if (tree.isPlanned) requireWritableFolder(place.folder, this.#path);
    const made = { kind: "file", content: after, ...metadataToKeep(place, file.held) } as const;
    try {
      await tree.exchange({ place, made, held: file.held, expected: file }, this.#requester);
      return true;
    } catch (error) {
      if (errnoOf(error) !== "ESTALE" && errnoOf(error) !== "ENOENT") throw refusalOfErrno(error, this.#path);
    }
    if (this.#isLastTry) throw refuse.changed(this.#path);
    this.#isLastTry = true;
    this.#close();
    await this.#open();
    return false;
  }

  async #open(): Promise<void> {
    const path = this.#path;
    const limit = { key: "max_write_bytes", bytes: this.#tree.config.max_write_bytes };
    const admitted = await this.#tree.admit([{ path, changes: "entry" }], this.#requester.deadline);
    try {
      const [place] = admitted.places;
      requireWritableFile(place);
      this.#opened = { admitted, place, file: await HeldFile.read(place, limit) };
    } catch (error) {
      admitted[Symbol.dispose]();
      throw refusalOfErrno(error, path);
    }
  }

  #close(): void {
    this.#opened?.file[Symbol.dispose]();
    this.#opened?.admitted[Symbol.dispose]();
    this.#opened = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    this.#close();
  }
}

interface Opened {
  readonly admitted: Disposable;
  readonly place: ResolvedPath;
  readonly file: HeldFile;
}

/** Throws too-large if the content exceeds the limit. */
function requireUpdatedSize(path: string, after: Content, config: FilesConfig): void {
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  if (contentLength(after) > limit.bytes)
    throw refuse.tooLarge(path, limit, "put in less, or split it over several files");
}

const contentLength = (content: Content): number =>
  content.reduce((length, piece) => length + piece.length, 0);

function isSameContent(before: Buffer, after: Content): boolean {
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
