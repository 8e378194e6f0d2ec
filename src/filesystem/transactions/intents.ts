/** The files of intent records in the private state folder. Records elsewhere are ignored. */
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { tryLockExclusively } from "../jail/flock.ts";
import { isGone, makerOf, type TransactionMark } from "../jail/temporary.ts";
import type { StateFolder } from "../state/state-folder.ts";
import {
  committedMark,
  type DecodedRecord,
  decodeRecord,
  encodeRecord,
  type FolderIdentity,
  type IntentRecord,
} from "./record.ts";

const folderName = "intents";

/** A record on disk that this process has locked. */
export interface Intent {
  readonly id: string;
  readonly path: string;
  readonly descriptor: number;
}

/** A file that an ended process left: a record, or the beginning of one. */
export interface LeftIntent extends Intent {
  readonly content: DecodedRecord | "torn" | "damaged";
}

const flush = promisify(fsync);

export class Intents {
  readonly #folder: StateFolder;
  readonly #flushes: boolean;
  readonly keeper: string;
  /** The paths of records that this worker is not permitted to finish. */
  readonly #refused = new Set<string>();

  constructor(folder: StateFolder, { fsync: flushes }: { readonly fsync: boolean }) {
    this.#folder = folder;
    this.#flushes = flushes;
    this.keeper = createHash("sha256").update(folder.location).digest("hex").slice(0, 8);
  }

  /** Returns the folder of the records, and creates it if it is missing. Throws the errno error. */
  get identity(): FolderIdentity {
    const { dev, ino } = statSync(this.#folder.path(folderName, "x").slice(0, -2), { bigint: true });
    return { dev: `${dev}`, ino: `${ino}` };
  }

  newMark(): TransactionMark {
    return { id: randomBytes(8).toString("hex"), keeper: this.keeper };
  }

  /** Returns whether a record with this name is kept. Throws the errno error. */
  has(id: string): boolean {
    const path = this.#folder.find(folderName, id);
    return path !== undefined && [".json", ".conflict"].some((end) => existsSync(`${path}${end}`));
  }

  /** Writes a record and flushes it. If it throws, no record is left. */
  async write(record: IntentRecord, slice: TimeSlice): Promise<Intent> {
    const { transaction: id } = record;
    const path = this.#folder.path(folderName, `${id}.json`);
    const unfinished = this.#folder.path(folderName, `${id}${unfinishedEnd}${record.maker}`);
    const descriptor = openSync(unfinished, "wx+", 0o600);
    try {
      tryLockExclusively(descriptor);
      for (const piece of await encodeRecord(record, slice)) {
        writeAll(descriptor, piece);
        await slice.yieldIfDue();
      }
      if (this.#flushes) await flush(descriptor);
      renameSync(unfinished, path);
      await this.#flushFolder();
      return { id, path, descriptor };
    } catch (error) {
      closeSync(descriptor);
      for (const left of [unfinished, path]) if (existsSync(left)) unlinkSync(left);
      throw error;
    }
  }

  /**
   * Marks the transaction as done, which later failures do not change. If it throws, the transaction is not
   * done.
   */
  async markCommitted({ descriptor }: Intent): Promise<void> {
    const { size } = fstatSync(descriptor);
    try {
      writeAll(descriptor, committedMark);
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw error;
    }
    // If a power failure loses the mark, the transaction is rolled back.
    if (this.#flushes) await flush(descriptor).catch(() => {});
  }

  async remove(intent: Intent): Promise<void> {
    unlinkSync(intent.path);
    await this.#flushFolder();
  }

  /** Keeps the record for a person. Returns its new path. */
  keep(intent: Intent): string {
    const kept = intent.path.replace(/\.json$/, ".conflict");
    renameSync(intent.path, kept);
    return kept;
  }

  /** Leaves the record to another worker, or the next start. `left` does not return it again. */
  refuse(intent: Intent): void {
    this.#refused.add(intent.path);
  }

  release({ descriptor }: Intent): void {
    closeSync(descriptor);
  }

  /**
   * Opens a record that is kept for a person, which the caller must release. Returns `undefined` if it is
   * missing, or locked by another process.
   */
  async openKept(id: string): Promise<LeftIntent | undefined> {
    const path = this.#list().find((one) => one.endsWith(`/${id}.conflict`));
    return path === undefined ? undefined : await openLeft(path);
  }

  /** Returns the names of the transactions whose records are kept for a person. */
  get keptIds(): string[] {
    return this.#list().flatMap((path) => (path.endsWith(".conflict") ? [idOf(path)] : []));
  }

  /** Returns the paths of records that are kept for a person, and of other entries with such names. */
  kept(): string[] {
    return this.#list().filter((path) => path.endsWith(".conflict") || !isFile(path));
  }

  /** Returns whether any process left a record or is working on one. */
  get isEmpty(): boolean {
    return this.#list().length === 0;
  }

  /** Yields the records that no process is working on. The caller must release each. */
  async *left(): AsyncGenerator<LeftIntent, void, void> {
    for (const path of this.#list()) {
      if (path.endsWith(".conflict") || this.#refused.has(path)) continue;
      const intent = await openLeft(path);
      if (intent !== undefined) yield intent;
    }
  }

  #list(): string[] {
    const folder = this.#folder.find(folderName);
    if (folder === undefined || !existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => /^[0-9a-f]{16}\.(?:json|conflict|new-.+)$/.test(name))
      .sort()
      .map((name) => `${folder}/${name}`);
  }

  async #flushFolder(): Promise<void> {
    if (!this.#flushes) return;
    const descriptor = openSync(this.#folder.path(folderName), "r");
    try {
      await flush(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/**
 * Opens a record that was left. Returns `undefined` if another process works on it, or has just removed it.
 */
async function openLeft(path: string): Promise<LeftIntent | undefined> {
  const descriptor = openOrNone(path);
  if (descriptor === undefined) return undefined;
  const left = await leftAt(path, descriptor);
  if (left === undefined) closeSync(descriptor);
  return left;
}

async function leftAt(path: string, descriptor: number): Promise<LeftIntent | undefined> {
  const lock = tryLockExclusively(descriptor);
  const content = unfinishedMaker(path) === undefined ? await readLeft(descriptor) : "torn";
  const isLeft = lock === "locked" || (lock === "impossible" && isAbandoned(path, content, descriptor));
  // Another process may have finished it before the lock was taken.
  return isLeft && existsSync(path) ? { id: idOf(path), path, descriptor, content } : undefined;
}

/** Reads the content of a record's file, in time slices. */
async function readLeft(descriptor: number): Promise<LeftIntent["content"]> {
  const stats = fstatSync(descriptor);
  const isOurs = stats.isFile() && stats.uid === process.geteuid!() && stats.nlink === 1;
  if (!isOurs || stats.size > maxBytes) return "damaged";
  const slice = createTimeSlice();
  const bytes = Buffer.allocUnsafe(stats.size);
  let at = 0;
  while (at < bytes.length) {
    const read = readSync(descriptor, bytes, at, Math.min(readAtOnce, bytes.length - at), at);
    if (read === 0) break;
    at += read;
    await slice.yieldIfDue();
  }
  return await decodeRecord(bytes.subarray(0, at), slice);
}

/** Maximum bytes of a record. A string can have this length. */
const maxBytes = 512 * 1024 * 1024;

/** Maximum bytes of a record that are read in one step. */
const readAtOnce = 1024 * 1024;

/**
 * Returns whether the process that wrote the record has ended, on systems without file locks. A call lasts an
 * hour at most.
 */
function isAbandoned(path: string, content: LeftIntent["content"], descriptor: number): boolean {
  const isOld = Date.now() - fstatSync(descriptor).mtimeMs > 2 * 60 * 60_000;
  const maker = makerOf(unfinishedMaker(path) ?? (typeof content === "string" ? "" : content.record.maker));
  return isOld || maker === undefined || isGone(maker);
}

/**
 * The ending of a record that is being written, followed by the name of its maker, which the content may not
 * contain yet.
 */
const unfinishedEnd = ".new-";

function unfinishedMaker(path: string): string | undefined {
  const [, maker] = basename(path).split(unfinishedEnd);
  return maker;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** Opens a file. Returns `undefined` if it is gone, or not a file. */
function openOrNone(path: string): number | undefined {
  try {
    if (!isFile(path)) return undefined;
    return openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const idOf = (path: string): string => basename(path).slice(0, 16);

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
