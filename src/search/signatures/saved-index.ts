/**
 * Saves an index in the state folder, for the next process that searches the same tree. A saved index shows
 * which n-grams files contain, so it lies where only the user can read it, like the journal.
 *
 * It is used for as long as the system runs: a file that a crash of the machine has emptied may have the
 * stamps that it had before.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { StateFolder } from "../../filesystem/state/state-folder.ts";
import type { ContentIndex, HeldIndex, IndexState } from "./content-index.ts";
import { FileTable } from "./file-records.ts";
import { assembleSigner } from "./signature.ts";
import { blockFiles } from "./signature-blocks.ts";
import {
  bytesOfRows,
  checksumOf,
  readAt,
  SignatureFile,
  type SignaturesToWrite,
  signatureSizes,
  stepWords,
  writeRows,
  writeWords,
} from "./signature-file.ts";

export interface SavedIndexOptions {
  readonly state: StateFolder;
  /**
   * Everything on which the content of the index depends, apart from this program and the running system: the
   * tree, and the rules that deny files.
   */
  readonly identity: string;
  /** Minimum number of files of an index that is saved. Fewer are read as fast. Default: 500. */
  readonly minFiles?: number;
}

/** Changes with the layout of the file. */
const format = 2;
/**
 * The words at the beginning of the file: 8 for the identity of the content, one each for the words in the
 * table, the files in it, and the blocks, and the checksum of what follows up to the rows.
 */
const headerWords = 12;
const identityWords = 8;
/** Minimum share of updated files that is worth saving. */
const unsavedShare = 1 / 16;
/** The number of saved indexes that are kept for a tree, of workers with different rules. */
const maxKept = 3;

/** Loads and saves the index of one tree. */
export class SavedIndex {
  readonly #options: SavedIndexOptions;
  /** The identity of what this process would save, which is the beginning of the file. */
  #identity: Uint32Array | undefined;

  constructor(options: SavedIndexOptions) {
    this.#options = options;
  }

  /** Returns whether this index, with this number of updates since it was saved, is worth saving. */
  isDue({ files }: IndexState, updates: number): boolean {
    return files >= (this.#options.minFiles ?? 500) && updates > unsavedShare * files;
  }

  /** Fills an empty index with the saved one, if that is intact and of the same tree, rules and program. */
  async loadInto(index: ContentIndex): Promise<boolean> {
    try {
      const path = this.#options.state.find(folderName, this.#fileName);
      const identity = path === undefined ? undefined : this.#identify();
      return identity !== undefined && (await loadIndex(path!, identity, index));
    } catch {
      // Without it, the first search reads all files.
      return false;
    }
  }

  /**
   * Writes signatures to a file that this process alone can read, and that ends with it. Rejects if `closed`
   * is aborted.
   */
  async spill(signatures: SignaturesToWrite, closed: AbortSignal): Promise<SignatureFile> {
    using temporary = new TemporaryFile(this.#options.state.path(folderName, this.#fileName));
    temporary.removeName();
    await runUnlessClosed(writeRows(temporary.descriptor, signatures), closed);
    const file = new SignatureFile(temporary.descriptor, signatures.directory, 0);
    temporary.keep();
    return file;
  }

  /** Saves the index, whose signatures are on the disk from then on. If that fails, they stay in memory. */
  async save(index: ContentIndex): Promise<void> {
    try {
      const path = this.#options.state.path(folderName, this.#fileName);
      removeOthers(path);
      await saveIndex(path, this.#identify(), index);
    } catch {
      // The disk may be full. The next process reads the files again.
    }
  }

  get #fileName(): string {
    return `${createHash("sha256").update(this.#options.identity).digest("hex").slice(0, 16)}${suffix}`;
  }

  /**
   * Returns a digest of everything that the content depends on. Throws if the system does not name its boot.
   */
  #identify(): Uint32Array {
    if (this.#identity !== undefined) return this.#identity;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1");
    const digest = createHash("sha256").update(`coder index ${format}\n${boot}`).update(assembleSigner());
    const bytes = digest.update(this.#options.identity).digest();
    this.#identity = new Uint32Array(new Uint8Array(bytes).buffer);
    return this.#identity;
  }
}

const folderName = "index";
const suffix = ".index";

/** Returns whether the index could be taken from the file. */
async function loadIndex(path: string, identity: Uint32Array, index: ContentIndex): Promise<boolean> {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  let isTaken = false;
  try {
    const header = new Uint32Array(headerWords);
    const isWhole = readAt(descriptor, header, 0);
    if (isWhole && identity.some((word, at) => header[at] !== word)) return false;
    const onFault = () => removeFaulty(path, descriptor);
    const head = isWhole
      ? await runUnlessClosed(readHead(descriptor, header, onFault), index.closed)
      : undefined;
    if (head === undefined) onFault();
    else isTaken = await index.restore(head.file, head.table);
  } finally {
    if (!isTaken) closeSync(descriptor);
  }
  return isTaken;
}

/** Removes a corrupt file, unless another process has already replaced it. */
function removeFaulty(path: string, descriptor: number): void {
  try {
    if (statSync(path).ino === fstatSync(descriptor).ino) rmSync(path, { force: true });
  } catch {
    // It is gone, or the state folder is read-only: each process finds the fault again.
  }
}

interface Head {
  readonly table: FileTable;
  readonly file: SignatureFile;
}

/** Does work of an index that ends early, with an exception, if the index is closed. */
const runUnlessClosed = <T>(steps: Steps<T>, closed: AbortSignal): Promise<T> =>
  runInSlices(steps, createTimeSlice(), () => closed.throwIfAborted());

/** Reads the part of the file before its rows. Returns `undefined` if that has a fault. */
function* readHead(descriptor: number, header: Uint32Array, onFault: () => void): Steps<Head | undefined> {
  const [tableWords, files, blocks, checksum] = header.slice(identityWords) as unknown as number[];
  const directoryWords = signatureSizes + blocks! * (1 + blockFiles);
  const headBytes = 4 * (headerWords + tableWords! + directoryWords);
  const { size } = fstatSync(descriptor);
  const table = headBytes > size ? undefined : FileTable.withUsed(tableWords!, files!);
  if (table === undefined) return undefined;
  const words = new Uint32Array(directoryWords);
  const parts = [table.usedWords, words];
  let at = header.byteLength;
  for (const step of stepsOf(parts)) {
    if (!readAt(descriptor, step, at)) return undefined;
    at += step.byteLength;
    yield;
  }
  if ((yield* checksumOfParts(parts)) !== checksum) return undefined;
  const filesAt = signatureSizes + blocks!;
  const directory = {
    counts: words.slice(0, signatureSizes),
    used: words.slice(signatureSizes, filesAt),
    files: Int32Array.from(words.subarray(filesAt)),
  };
  if (size !== headBytes + bytesOfRows(directory.counts)) return undefined;
  return { table, file: new SignatureFile(descriptor, directory, headBytes, onFault) };
}

/** A new file under a temporary name. It is closed and removed with this object, unless it is kept. */
class TemporaryFile implements Disposable {
  readonly descriptor: number;
  readonly #path: string;
  #isKept = false;

  /** Creates a file that may get this path. Throws the errno error. */
  constructor(path: string) {
    this.#path = `${path}.${randomBytes(8).toString("hex")}`;
    this.descriptor = openSync(this.#path, "wx+", 0o600);
  }

  removeName(): void {
    rmSync(this.#path, { force: true });
  }

  rename(path: string): void {
    renameSync(this.#path, path);
  }

  /** Leaves the descriptor to the caller. */
  keep(): void {
    this.#isKept = true;
  }

  [Symbol.dispose](): void {
    if (this.#isKept) return;
    closeSync(this.descriptor);
    this.removeName();
  }
}

/** Writes the index under another name first: a process may be killed at any time. */
async function saveIndex(path: string, identity: Uint32Array, index: ContentIndex): Promise<void> {
  const held = await index.hold();
  try {
    using temporary = new TemporaryFile(path);
    const { descriptor } = temporary;
    const headBytes = await runUnlessClosed(writeIndex(descriptor, identity, held), index.closed);
    const onFault = () => removeFaulty(path, descriptor);
    const file = new SignatureFile(descriptor, held.signatures.directory, headBytes, onFault);
    temporary.rename(path);
    temporary.keep();
    await index.adopt(file);
  } finally {
    index.release();
  }
}

/** Writes the whole file, and returns the number of bytes before its rows. */
function* writeIndex(descriptor: number, identity: Uint32Array, held: HeldIndex): Steps<number> {
  const head = yield* headOf(identity, held);
  for (const step of stepsOf(head)) {
    writeWords(descriptor, step);
    yield;
  }
  yield* writeRows(descriptor, held.signatures);
  return head.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Returns the parts of the file before its rows. */
function* headOf(
  identity: Uint32Array,
  { table, files, signatures }: HeldIndex,
): Steps<readonly Uint32Array[]> {
  const { counts, used, files: numbers } = signatures.directory;
  const parts = [table, counts, used, new Uint32Array(numbers.buffer)];
  const checksum = yield* checksumOfParts(parts);
  return [Uint32Array.of(...identity, table.length, files, used.length, checksum), ...parts];
}

function* checksumOfParts(parts: readonly Uint32Array[]): Steps<number> {
  let sum = 1;
  for (const step of stepsOf(parts)) {
    sum = checksumOf(step, 0, step.length, sum);
    yield;
  }
  return sum;
}

/** Yields the words in steps. */
function* stepsOf(parts: readonly Uint32Array[]): Generator<Uint32Array> {
  for (const words of parts)
    for (let at = 0; at < words.length; at += stepWords) yield words.subarray(at, at + stepWords);
}

/** Removes all saved indexes beside the one at `path` but the newest, and what killed processes have left. */
function removeOthers(path: string): void {
  const folder = dirname(path);
  const others = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((other) => other !== path)
    .map((other) => ({ other, changed: statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.changed - one.changed);
  const isSaved = ({ other }: { readonly other: string }) => other.endsWith(suffix);
  const unfinished = others.filter((one) => !isSaved(one) && one.changed < Date.now() - unfinishedFor);
  for (const { other } of [...others.filter(isSaved).slice(maxKept - 1), ...unfinished])
    rmSync(other, { force: true });
}

/** Milliseconds after which a temporary file belongs to a process that was killed. */
const unfinishedFor = 3_600_000;
