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
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { lockExclusively, tryLockExclusively } from "../../filesystem/jail/flock.ts";
import type { StateFolder } from "../../filesystem/state/state-folder.ts";
import type { ContentIndex, IndexState } from "./content-index.ts";
import { bytesOfIndex, format, readHead, readIndexHeader, writeIndex } from "./index-file.ts";
import { assembleSigner } from "./signature.ts";
import { SignatureFile, type SignaturesToWrite, writeRows } from "./signature-file.ts";

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

/** Minimum share of updated files that is worth saving. */
const unsavedShare = 1 / 16;
/** The number of saved indexes that are kept for a tree, of workers with different rules. */
const maxKept = 3;

/** Loads and saves the index of one tree. */
export class SavedIndex {
  readonly #options: SavedIndexOptions;
  /** The identity of what this process would save, which is the beginning of the file. */
  #identity: Uint32Array | undefined;
  /**
   * The number of updates after which the index is worn: since it was first saved, as many files were updated
   * as it had then. If it is also full, the next process begins with an empty one, since much of it may
   * belong to files that are gone.
   */
  #wornAt: number | undefined;

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
      if (path === undefined) return false;
      removeUnfinished(dirname(path));
      return await this.#load(path, index);
    } catch {
      // Without it, the first search reads all files.
      return false;
    }
  }

  async #load(path: string, index: ContentIndex): Promise<boolean> {
    const descriptor = openSync(path, readFlags);
    let isTaken = false;
    try {
      const onFault = () => removeFaulty(path, descriptor);
      const stats = fstatSync(descriptor);
      const header = stats.isFile() ? readIndexHeader(descriptor, stats.size, this.#identify()) : undefined;
      if (header === undefined) onFault();
      else if (header !== "other" && index.fits(header)) {
        const head = await runUnlessClosed(readHead(descriptor, header, onFault), index.closed);
        if (head === undefined) onFault();
        else isTaken = await index.restore(head.file, head.table, header.updatesLeft > 0);
        if (isTaken) this.#wornAt = index.updatedFiles + header.updatesLeft;
      }
    } finally {
      if (!isTaken) closeSync(descriptor);
    }
    return isTaken;
  }

  /**
   * Writes signatures to a file that this process alone can read, and that ends with it. Rejects if `closed`
   * is aborted, or if the state folder is in memory.
   */
  async spill(signatures: SignaturesToWrite, closed: AbortSignal): Promise<SignatureFile> {
    const path = this.#options.state.path(folderName, this.#fileName);
    if (inMemory.has(statfsSync(dirname(path)).type))
      throw new Error("the state folder takes memory, not the disk");
    using temporary = new TemporaryFile(path);
    temporary.removeName();
    await runUnlessClosed(writeRows(temporary.descriptor, signatures), closed);
    const file = new SignatureFile(temporary.descriptor, signatures.directory, 0);
    temporary.keep();
    return file;
  }

  /**
   * Saves the index, whose signatures are on the disk from then on. Resolves to false if that fails, so that
   * they stay in memory.
   */
  async save(index: ContentIndex): Promise<boolean> {
    try {
      const path = this.#options.state.path(folderName, this.#fileName);
      removeOthers(path);
      removeUnfinished(dirname(path));
      await this.#save(path, index);
      return true;
    } catch {
      // The disk may be full. The next process reads the files again.
      return false;
    }
  }

  /** Writes the index under another name first: a process may be killed at any time. */
  async #save(path: string, index: ContentIndex): Promise<void> {
    const held = await index.hold();
    try {
      // A disk that has no room is not filled with each attempt.
      const { bavail, bsize } = statfsSync(dirname(path));
      if (bavail * bsize < bytesOfIndex(held)) throw new Error("the disk has no room for the index");
      const wornAt = this.#wornAt ?? index.updatedFiles + held.files;
      const header = { identity: this.#identify(), updatesLeft: Math.max(0, wornAt - index.updatedFiles) };
      using temporary = new TemporaryFile(path);
      const { descriptor } = temporary;
      const headBytes = await runUnlessClosed(writeIndex(descriptor, header, held), index.closed);
      const onFault = () => removeFaulty(path, descriptor);
      const file = new SignatureFile(descriptor, held.signatures.directory, headBytes, onFault);
      temporary.rename(path);
      temporary.keep();
      this.#wornAt = wornAt;
      await index.adopt(file);
    } finally {
      index.release();
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

/** Types of file systems (linux/magic.h) that keep files in memory: tmpfs and ramfs. */
const inMemory: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

const folderName = "index";
const suffix = ".index";

/** A pipe is opened at once, and refused. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Removes a corrupt file, unless another process has already replaced it. */
function removeFaulty(path: string, descriptor: number): void {
  try {
    if (statSync(path).ino === fstatSync(descriptor).ino) rmSync(path, { force: true });
  } catch {
    // It is gone, or the state folder is read-only: each process finds the fault again.
  }
}

/** Does work of an index that ends early, with an exception, if the index is closed. */
const runUnlessClosed = <T>(steps: Steps<T>, closed: AbortSignal): Promise<T> =>
  runInSlices(steps, createTimeSlice(), () => closed.throwIfAborted());

/**
 * A new file under a temporary name, locked while this process writes it. It is closed and removed with this
 * object, unless it is kept.
 */
class TemporaryFile implements Disposable {
  readonly descriptor: number;
  readonly #path: string;
  #isKept = false;

  /** Creates a file that may get this path. Throws the errno error. */
  constructor(path: string) {
    this.#path = `${path}.${randomBytes(8).toString("hex")}`;
    this.descriptor = openSync(this.#path, "wx+", 0o600);
    lockExclusively(this.descriptor);
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

/** Removes all saved indexes beside the one at `path` but the newest. */
function removeOthers(path: string): void {
  const others = readdirSync(dirname(path))
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(dirname(path), name))
    .filter((other) => other !== path)
    .map((other) => ({ other, changed: statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.changed - one.changed);
  for (const { other } of others.slice(maxKept - 1)) rmSync(other, { force: true });
}

/** Removes the temporary files of processes that have ended. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!name.endsWith(suffix) && isUnfinished(path)) rmSync(path, { force: true });
  }
}

/** Returns whether the process has ended that had begun to write this file. */
function isUnfinished(path: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, readFlags);
    const lock = tryLockExclusively(descriptor);
    if (lock !== "impossible") return lock === "locked";
    return fstatSync(descriptor).mtimeMs < Date.now() - unfinishedFor;
  } catch {
    // It is gone, or has got the name of a saved index.
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Milliseconds after which a temporary file that cannot be locked belongs to a process that was killed. */
const unfinishedFor = 3_600_000;
