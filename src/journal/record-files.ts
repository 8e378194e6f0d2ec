/**
 * The files of a journal, in a folder that several workers may share: `000000000012` is a record, and `000000000012-1` a
 * content that it keeps apart. The worker that makes a record's file has its number.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
  writevSync,
} from "node:fs";
import { cloneContent } from "../jail/clone-file.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { StateFolder } from "../state/state-folder.ts";

export interface JournalBounds {
  readonly max_bytes: number;
  readonly max_records: number;
}

const folderName = "records";
const digits = 12;
const nameForm = /^(\d{12})(?:-(\d{1,9}))?$/;

/** Our own records between two looks for those that other workers add. */
const ownBetweenLooks = 64;

/** What is known of a record. */
interface Holding {
  bytes: number;
  /** Whether this worker made it. */
  readonly isOwn: boolean;
  readonly blobs: number[];
}

export class RecordFiles {
  readonly #state: StateFolder;
  readonly #bounds: JournalBounds;
  /** By sequence number, in ascending order. */
  #holdings = new Map<number, Holding>();
  #bytes = 0;
  #last = 0;
  #sinceLook = ownBetweenLooks;

  constructor(state: StateFolder, bounds: JournalBounds) {
    this.#state = state;
    this.#bounds = bounds;
  }

  get maxBytes(): number {
    return this.#bounds.max_bytes;
  }

  /** Whether a record is not dropped yet, as far as this worker knows. */
  has(seq: number): boolean {
    return this.#holdings.has(seq);
  }

  /** Makes the file of a new record, for appending. Throws the errno error. */
  create(): { readonly seq: number; readonly descriptor: number } {
    if (this.#sinceLook >= ownBetweenLooks) this.#look();
    for (;;) {
      const seq = this.#last + 1;
      try {
        const descriptor = openSync(this.#pathOf(seq), createFlags, 0o600);
        this.#sinceLook++;
        this.#hold(seq, true);
        this.#drop(seq);
        return { seq, descriptor };
      } catch (error) {
        if (errnoOf(error) !== "EEXIST") throw error;
        this.#look();
      }
    }
  }

  /** Opens the file of a record again, for appending. Throws the errno error, ENOENT when it was dropped. */
  reopen(seq: number): number {
    return openSync(this.#pathOf(seq), constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
  }

  /**
   * Appends to a record, all or nothing; the oldest records are dropped for it. Throws the errno error.
   */
  append(seq: number, descriptor: number, pieces: readonly Buffer[]): void {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#makeRoom(seq, length);
    let written = 0;
    try {
      written = writevSync(descriptor, pieces);
      if (written < length) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    } catch (error) {
      // What comes after a part of a frame would not be found.
      ftruncateSync(descriptor, fstatSync(descriptor).size - written);
      throw error;
    }
    this.#add(seq, length);
  }

  /** Keeps the content of an opened file beside a record. Throws the errno error. */
  keepBlob(seq: number, from: number, length: number): number {
    this.#makeRoom(seq, length);
    const blob = (this.#holdings.get(seq)?.blobs.at(-1) ?? 0) + 1;
    const path = this.#pathOf(seq, blob);
    const descriptor = openSync(path, createFlags, 0o600);
    try {
      if (!cloneContent(from, descriptor)) copyContent(from, descriptor);
    } catch (error) {
      remove(path);
      throw error;
    } finally {
      closeSync(descriptor);
    }
    this.#holdings.get(seq)?.blobs.push(blob);
    this.#add(seq, length);
    return blob;
  }

  /** Gives up a content that no frame names. */
  dropBlob(seq: number, blob: number, length: number): void {
    remove(this.#pathOf(seq, blob));
    this.#add(seq, -length);
  }

  #pathOf(seq: number, blob?: number): string {
    return this.#state.path(folderName, fileName(seq, blob));
  }

  /** Learns what is there; our own records are known. */
  #look(): void {
    this.#sinceLook = 0;
    const own = this.#holdings;
    this.#holdings = new Map();
    this.#bytes = 0;
    const folder = this.#state.find(folderName);
    for (const { name, seq, blob } of folder === undefined ? [] : list(folder)) {
      const known = own.get(seq);
      if (known?.isOwn === true) {
        if (blob === undefined) this.#keep(seq, known);
        continue;
      }
      const holding = this.#hold(seq, false);
      if (blob !== undefined) holding.blobs.push(blob);
      this.#add(seq, lstatSync(`${folder}/${name}`, { throwIfNoEntry: false })?.size ?? 0);
    }
  }

  #keep(seq: number, holding: Holding): void {
    this.#holdings.set(seq, holding);
    this.#last = Math.max(this.#last, seq);
    this.#bytes += holding.bytes;
  }

  #hold(seq: number, isOwn: boolean): Holding {
    const known = this.#holdings.get(seq);
    if (known !== undefined) return known;
    const holding = { bytes: 0, blobs: [], isOwn };
    this.#keep(seq, holding);
    return holding;
  }

  #add(seq: number, bytes: number): void {
    this.#bytes += bytes;
    const holding = this.#holdings.get(seq);
    if (holding !== undefined) holding.bytes += bytes;
  }

  #makeRoom(seq: number, length: number): void {
    for (const oldest of this.#holdings.keys()) {
      if (this.#bytes + length <= this.#bounds.max_bytes || oldest === seq) return;
      this.#remove(oldest);
    }
  }

  /** Drops the oldest records while there are too many. */
  #drop(newest: number): void {
    for (const oldest of this.#holdings.keys()) {
      if (this.#holdings.size <= this.#bounds.max_records || oldest === newest) return;
      this.#remove(oldest);
    }
  }

  #remove(seq: number): void {
    const { bytes, blobs } = this.#holdings.get(seq)!;
    // The contents last: no reader looks for them without their record, and the next look finds them.
    remove(this.#pathOf(seq));
    for (const blob of blobs) remove(this.#pathOf(seq, blob));
    this.#holdings.delete(seq);
    this.#bytes -= bytes;
  }
}

const createFlags =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW;

const fileName = (seq: number, blob?: number): string =>
  `${String(seq).padStart(digits, "0")}${blob === undefined ? "" : `-${blob}`}`;

interface Listed {
  readonly name: string;
  readonly seq: number;
  readonly blob: number | undefined;
}

/** The files of a journal in a folder, in the order of their records. */
function list(folder: string): Listed[] {
  const names = readNames(folder).sort();
  return names.flatMap((name) => {
    const found = nameForm.exec(name);
    if (found === null) return [];
    const [, seq, blob] = found;
    return [{ name, seq: Number(seq), blob: blob === undefined ? undefined : Number(blob) }];
  });
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** The numbers of the records in a state folder, newest first. Throws the errno error. */
export function recordNumbers(state: StateFolder): number[] {
  const folder = state.find(folderName);
  const files = folder === undefined ? [] : list(folder);
  return files.flatMap(({ seq, blob }) => (blob === undefined ? [seq] : [])).reverse();
}

/** Opens a record, or a content that it keeps apart, for reading. Throws the errno error. */
export function openRecordFile(state: StateFolder, seq: number, blob?: number): number {
  const path = state.find(folderName, fileName(seq, blob));
  if (path === undefined) throw errnoError("ENOENT");
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

const pieceBytes = 1024 * 1024;

function copyContent(from: number, to: number): void {
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const length = readSync(from, piece, 0, piece.length, at);
    if (length === 0) return;
    for (let written = 0; written < length; ) written += writeSync(to, piece, written, length - written);
    at += length;
  }
}

/** Another worker may have been faster. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
