import { openFileIn } from "../../filesystem/files/file-buffer.ts";
import type { FilesToSign } from "../signatures/filler.ts";
import { NameBuffer } from "../walk/name-buffer.ts";
import type { SharedFolder } from "../walk/shared-folder.ts";
import { nothingPassedOver, type PassedOver } from "../walk/tally.ts";
import type { FileSink, Walk } from "../walk/walk.ts";
import { FileCursor, type FileNames } from "./file-cursor.ts";

/** The number of folders that the batches of all searches hold open. */
export interface HeldFolders {
  folders: number;
}

/** The capacity of a batch. */
export interface BatchSize {
  readonly files: number;
  readonly folders: number;
  /** Whether its folders stay open, so that its files can be opened. Default true. */
  readonly holdsFolders?: boolean;
}

/** The capacity of a batch that is searched in the thread that fills it. */
export const localBatch: BatchSize = { files: 16, folders: 1 };

/** The files of a batch, as a message to a thread, which may open them until the batch is released. */
export interface PostedFiles extends Omit<FileNames, "bytes"> {
  /**
   * The names as in `FileNames.bytes`, one character per byte: a string costs less to post than the bytes.
   */
  readonly names: string;
  /** The descriptor of each folder in this process, if the batch holds the folders open. */
  readonly descriptors: readonly number[];
}

/** The source of the files of a batch. */
export type FileSource = Pick<Walk, "fill" | "passedOver">;

/** The bytes of a typical name. The buffer grows for longer ones. */
const defaultName = 32;

/**
 * The files of one job, in path order. Holds their folders open until `release`, if `holdsFolders` is set.
 */
export class Batch implements FileSink {
  readonly #size: BatchSize;
  readonly #held: HeldFolders;
  readonly #source: Pick<FileSource, "passedOver">;
  /** The entries that the source had passed over before each file. */
  readonly #passedOver: PassedOver[] = [];
  readonly #folders: SharedFolder[] = [];
  /** The index of the first file of each folder. */
  readonly #firsts: number[] = [];
  readonly #names: NameBuffer;
  #files = 0;
  #cursor: FileCursor | undefined;
  #isReleased = false;

  constructor(
    size: BatchSize,
    held: HeldFolders,
    source: Pick<FileSource, "passedOver"> = { passedOver: nothingPassedOver },
  ) {
    this.#size = size;
    this.#held = held;
    this.#source = source;
    this.#names = new NameBuffer(size.files * defaultName);
  }

  /** Returns whether the batch holds no file because the walk yielded before it came to one. */
  get isEmpty(): boolean {
    return this.#files === 0;
  }

  get count(): number {
    return this.#files;
  }

  add(folder: SharedFolder, bytes: Buffer, from: number, to: number): boolean {
    if (this.#files === this.#size.files) return false;
    if (this.#folders.at(-1) !== folder && !this.#addFolder(folder)) return false;
    this.#names.add(bytes, from, to);
    this.#passedOver.push(this.#source.passedOver);
    this.#files++;
    return true;
  }

  #addFolder(folder: SharedFolder): boolean {
    if (this.#folders.length === this.#size.folders) return false;
    this.#folders.push(this.#holdsFolders ? folder.hold() : folder);
    this.#firsts.push(this.#files);
    if (this.#holdsFolders) this.#held.folders++;
    return true;
  }

  get files(): FileNames {
    const { bytes } = this.#names;
    return { bytes, count: this.#files, firsts: this.#firsts, prefixes: this.#prefixes() };
  }

  /**
   * Returns the files as a message to a thread, with prefixes only if `wantsPaths`. Each folder must have a
   * descriptor.
   */
  post(wantsPaths: boolean): PostedFiles {
    const { bytes, end } = this.#names;
    return {
      names: bytes.toString("latin1", 0, end),
      count: this.#files,
      firsts: this.#firsts,
      prefixes: wantsPaths ? this.#prefixes() : [],
      descriptors: this.#holdsFolders ? this.#folders.map(({ folder }) => folder.descriptor!) : [],
    };
  }

  /** Returns all files, for signing. */
  listFiles(): FilesToSign {
    const { bytes, end } = this.#names;
    const names = bytes.toString("latin1", 0, end);
    return { names, count: this.#files, firsts: this.#firsts, folders: this.#folderPaths() };
  }

  /** Returns the files with these indices, in order, for signing. */
  listSome(indices: Int32Array | readonly number[]): FilesToSign {
    const paths = this.#folderPaths();
    const names: string[] = [];
    const firsts: number[] = [];
    const folders: string[] = [];
    const cursor = new FileCursor(this.files);
    let [next, folder] = [0, -1];
    while (cursor.next() && next < indices.length) {
      if (cursor.index !== indices[next]) continue;
      next++;
      if (cursor.folder !== folder) {
        folder = cursor.folder;
        folders.push(paths[folder]!);
        firsts.push(names.length);
      }
      names.push(`${cursor.bytes.toString("latin1", cursor.from, cursor.to)}\0`);
    }
    return { names: names.join(""), count: names.length, firsts, folders };
  }

  /** Returns the descriptor of the folder of the current file, which exists if there are threads. */
  descriptorOf(file: FileCursor): number {
    return this.#folders[file.folder]!.folder.descriptor!;
  }

  get #holdsFolders(): boolean {
    return this.#size.holdsFolders ?? true;
  }

  #folderPaths(): string[] {
    return this.#folders.map(({ folder }) => folder.path);
  }

  #prefixes(): string[] {
    return this.#folders.map(({ prefix }) => prefix);
  }

  /** Opens the file under the cursor. Throws the errno error. */
  open(file: FileCursor): number {
    return openFileIn(this.#folders[file.folder]!.folder, file);
  }

  /** Returns the path of a file. Indices must not decrease from call to call. */
  pathOf(index: number): string {
    this.#cursor ??= new FileCursor(this.files);
    while (this.#cursor.index < index && this.#cursor.next());
    if (this.#cursor.index !== index) throw new Error("a finding names a file that is not in its batch");
    return this.#cursor.path;
  }

  /** Returns the path of a file relative to the start of the walk, one character per byte (`Place.file`). */
  walkedPathOf(index: number): string {
    const cursor = new FileCursor(this.files);
    while (cursor.index < index && cursor.next());
    const name = cursor.bytes.toString("latin1", cursor.from, cursor.to);
    return this.#folders[cursor.folder]!.walked + name;
  }

  /** Returns the entries that the source had passed over before a file. */
  passedOverBefore(index: number): PassedOver {
    return this.#passedOver[index]!;
  }

  release(): void {
    if (this.#isReleased || !this.#holdsFolders) return;
    this.#isReleased = true;
    this.#held.folders -= this.#folders.length;
    for (const folder of this.#folders) folder.release();
  }
}

/**
 * Fills a batch from the walk until it is full or the walk yields. Returns `undefined` at the end of the
 * walk.
 */
export function takeBatch(
  walk: FileSource,
  size: BatchSize,
  held: HeldFolders = { folders: 0 },
): Batch | undefined {
  const batch = new Batch(size, held, walk);
  try {
    const isMore = walk.fill(batch);
    return isMore || !batch.isEmpty ? batch : undefined;
  } catch (error) {
    batch.release();
    throw error;
  }
}
