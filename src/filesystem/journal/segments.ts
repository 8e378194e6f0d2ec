/**
 * The segments of a journal, for a worker that appends to them. Several workers may share them without a
 * lock: appends follow each other, and each worker reads those before its own.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
  writevSync,
} from "node:fs";
import type { Log } from "../../base/log/log.ts";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { cloneContent } from "../jail/clone-file.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { type EncodedFrame, encodeFrame } from "./frame.ts";
import { newHeader, readHeader, type SegmentLimits, SegmentScan } from "./segment.ts";
import {
  type ContentName,
  contentPath,
  listSegments,
  makeSegment,
  openContent,
  openFrames,
  openIfThere,
  removeSegment,
  sizeOfSegment,
  sweepSegments,
} from "./segment-folder.ts";

export interface JournalBounds {
  readonly max_bytes: number;
  readonly max_records: number;
}

/** The number of segments in a full journal. The oldest one is dropped as a whole. */
const segmentsOfJournal = 8;
const maxRecordsOfSegment = 64;

const limitsIn = ({ max_bytes, max_records }: JournalBounds): SegmentLimits => ({
  most_records: Math.max(1, Math.min(Math.floor(max_records / segmentsOfJournal), maxRecordsOfSegment)),
  most_bytes: Math.floor(max_bytes / segmentsOfJournal),
});

/** Bytes of frames that are read in a fraction of a millisecond. */
const fewBytes = 64 * 1024;

/** The segment in which records begin. */
interface OpenSegment {
  readonly first: number;
  readonly key: string;
  readonly descriptor: number;
  readonly scan: SegmentScan;
}

/** The location of a record. */
export interface RecordLocation {
  /** The number of its segment. */
  readonly segment: number;
  readonly key: string;
  /** Its name in the segment. */
  readonly record: string;
}

export interface SegmentsOptions {
  readonly state: StateFolder;
  readonly bounds: JournalBounds;
  readonly log: Log;
}

export class Segments {
  readonly #state: StateFolder;
  readonly #bounds: JournalBounds;
  /** The limits of the segments that it makes. Others may have those of a worker that is allowed more. */
  readonly #limits: SegmentLimits;
  readonly #log: Log;
  /** The bytes of each segment by its number, in ascending order. */
  #sizes = new Map<number, number>();
  #bytes = 0;
  #open: OpenSegment | undefined;
  /** The number after those of the segments that were closed, which may be gone. */
  #next = 1;
  /** The latest time in segments that were closed. */
  #latestBefore = 0;
  readonly #worker = randomBytes(4).toString("hex");
  #records = 0;
  #contents = 0;

  constructor({ state, bounds, log }: SegmentsOptions) {
    this.#state = state;
    this.#bounds = bounds;
    this.#limits = limitsIn(bounds);
    this.#log = log;
  }

  /** Returns the bytes of all segments known to this worker. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns whether the segment still exists, to the knowledge of this worker. */
  has(segment: number): boolean {
    return this.#sizes.has(segment);
  }

  /** Returns the location for a new record. Throws the errno error. */
  place(): RecordLocation {
    for (let attempt = 0; ; attempt++) {
      const open = this.#open;
      if (open !== undefined) this.#keepToBounds(open);
      if (open !== undefined && !open.scan.isFull) {
        if (!open.scan.reaches(this.#limits))
          return { segment: open.first, key: open.key, record: this.#nextRecord() };
        this.#end(open);
      }
      // Another worker has filled each of these segments first.
      if (attempt === maxAttempts) throw new Error("other workers fill it too fast");
      this.#turn();
    }
  }

  /** Whether all frames of others have been read, except perhaps the last few. */
  get isCaughtUp(): boolean {
    if (this.#open === undefined || this.#open.scan.isFull) return false;
    const { descriptor, scan } = this.#open;
    return fstatSync(descriptor).size - scan.end < fewBytes;
  }

  /**
   * Reads the frames that others have written, in steps, so that the next frame need not wait for it. Creates
   * nothing. Throws the errno error.
   */
  *catchUp(): Steps<void> {
    const open = this.#open;
    if (open === undefined || open.scan.isFull) {
      const newest = listSegments(this.#state).at(-1);
      if (newest !== undefined && newest !== open?.first) yield* this.#openAt(newest);
      return;
    }
    for (const { bytes } of open.scan.frames()) {
      this.#add(open.first, bytes);
      yield;
      if (this.#open !== open) return;
    }
  }

  /**
   * Returns the latest time of the steps of others in the segments that were opened, in microseconds since
   * 1970. It is in the future if the clock has been set back.
   */
  get latest(): number {
    return Math.max(this.#latestBefore, this.#open?.scan.latest ?? 0);
  }

  /** Maximum bytes of one content: no larger one would fit, even if everything else were dropped. */
  get largestContent(): number {
    return this.#bounds.max_bytes;
  }

  /** Returns the bytes that a new record may receive, to the knowledge of this worker. */
  get roomOfRecord(): number {
    const { max_bytes } = this.#bounds;
    const used = this.#open === undefined ? 0 : max_bytes - this.roomOf(this.#open.first);
    // A full segment gets no further record.
    return used < this.#limits.most_bytes ? max_bytes - used : max_bytes;
  }

  /** Returns the bytes that a segment may still receive. */
  roomOf(segment: number): number {
    return this.#bounds.max_bytes - (this.#sizes.get(segment) ?? 0);
  }

  /**
   * Drops the oldest segments until `length` more bytes fit into this one. Returns false if they do not fit
   * even then.
   */
  makeRoom(segment: number, length: number): boolean {
    for (const oldest of [...this.#sizes.keys()]) {
      if (this.#bytes + length <= this.#bounds.max_bytes) return true;
      if (oldest !== segment && oldest !== this.#open?.first) this.#drop(oldest);
    }
    return this.#bytes + length <= this.#bounds.max_bytes;
  }

  /**
   * Appends frames of one record in one write. If they begin the record, returns its number, or `full` if
   * other workers have filled the segment first, so that they do not count. Throws the errno error.
   */
  append(place: RecordLocation, frames: readonly EncodedFrame[]): number | "full" | undefined {
    const open = this.#open;
    if (place.segment === open?.first) return this.#appendTo(open, place, frames);
    const descriptor = openFrames(this.#state, place.segment, { appending: true });
    try {
      this.#add(place.segment, writeFrames(descriptor, frames));
    } finally {
      closeSync(descriptor);
    }
    return undefined;
  }

  #appendTo(
    { first, descriptor, scan }: OpenSegment,
    { record }: RecordLocation,
    frames: readonly EncodedFrame[],
  ): number | "full" | undefined {
    const { end, bytes } = scan;
    const isBeginning = frames.some(({ isFirst }) => isFirst);
    const length = writeFrames(descriptor, frames);
    const { size, nlink } = fstatSync(descriptor);
    if (nlink === 0) return this.#leave(isBeginning);
    const isAlone = size === end + length;
    const places = isAlone
      ? frames.map((frame) => scan.pass(frame))
      : [...scan.frames()].flatMap(({ frame, place }) => (frame.record === record ? [place] : []));
    this.#add(first, scan.bytes - bytes);
    this.#dropMany(first + scan.records);
    if (!isBeginning) return undefined;
    const place = places.find((one) => one !== undefined);
    return place === undefined ? "full" : first + place;
  }

  /** Gives up a segment that someone has removed. */
  #leave(isBeginning: boolean): "full" {
    this.#sizes.delete(this.#open!.first);
    this.close();
    if (!isBeginning) throw errnoError("ENOENT");
    return "full";
  }

  /**
   * Keeps the content of an opened file beside the frames. `length` is the total length of the frame's
   * contents there. Throws the errno error.
   */
  *keepContent(
    { segment, record }: RecordLocation,
    { from, length }: { readonly from: number; readonly length: number },
  ): Steps<ContentName> {
    this.makeRoom(segment, length);
    const content = this.#nameFor(record);
    yield* copyToNew(from, contentPath(this.#state, segment, content));
    return content;
  }

  /**
   * Like `keepContent`, but renames a copy that was made before. Returns `undefined` if that or the segment
   * is gone.
   */
  adoptContent(
    { segment, record }: RecordLocation,
    { copy, length }: { readonly copy: string; readonly length: number },
  ): ContentName | undefined {
    this.makeRoom(segment, length);
    const content = this.#nameFor(record);
    const path = contentPath(this.#state, segment, content);
    return isRenamed(copy, path) ? content : undefined;
  }

  /** Makes a content of `adoptContent` a copy again. Returns false if it is gone. Throws the errno error. */
  releaseContent({ segment }: RecordLocation, content: ContentName, copy: string): boolean {
    return isRenamed(contentPath(this.#state, segment, content), copy);
  }

  /** Opens a content for reading. Throws the errno error. */
  openContent({ segment }: RecordLocation, content: ContentName): number {
    return openContent(this.#state, segment, content);
  }

  /** Creates an empty file for contents beside the frames. Throws the errno error. */
  createContent({ segment, record }: RecordLocation): ContentName {
    const content = this.#nameFor(record);
    closeSync(openSync(contentPath(this.#state, segment, content), createFlags, 0o600));
    return content;
  }

  /** Appends to a file of `createContent`. Throws the errno error. */
  extendContent({ segment }: RecordLocation, content: ContentName, bytes: Buffer): void {
    const descriptor = openSync(contentPath(this.#state, segment, content), extendFlags);
    try {
      writeAll(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
  }

  #nameFor(record: string): ContentName {
    return { record, blob: this.#contents++ };
  }

  /** Removes a content that no frame names. Throws the errno error. */
  dropContent({ segment }: RecordLocation, content: ContentName): void {
    try {
      unlinkSync(contentPath(this.#state, segment, content));
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }

  /** Opens the newest segment, or makes the next one if that is full. */
  #turn(): void {
    const newest = listSegments(this.#state).at(-1);
    if (newest === undefined) this.#make(this.#next);
    else if (newest === this.#open?.first) this.#make(newest + this.#open.scan.records);
    else runAtOnce(this.#openAt(newest));
  }

  *#openAt(newest: number): Steps<void> {
    const before = this.#open;
    const opened = yield* this.#openSegment(newest);
    if (this.#open !== before) {
      // A step of another call could not wait, and has opened one.
      if (opened !== undefined) closeSync(opened.descriptor);
      return;
    }
    this.close();
    this.#look();
    this.#open = opened;
    if (opened === undefined) this.#make(newest + maxRecordsOfSegment);
  }

  #make(first: number): void {
    makeSegment(this.#state, first, newHeader(this.#limits));
  }

  /** Ends a segment, for all workers, before it reaches the limits of its header. Throws the errno error. */
  #end({ first, key, descriptor, scan }: OpenSegment): void {
    writeFrames(descriptor, [encodeFrame(key, { record: this.#nextRecord(), isEnd: true })]);
    for (const { bytes } of scan.frames()) this.#add(first, bytes);
  }

  /**
   * Drops the oldest segments of a journal that exceeds the bounds, because those were higher before, or are
   * for another worker.
   */
  #keepToBounds({ first, scan }: OpenSegment): void {
    const oldest = this.#oldest;
    this.makeRoom(first, 0);
    this.#dropMany(first + scan.records);
    const dropped = this.#oldest - oldest;
    if (dropped > 0) this.#log.info("old checkpoints were dropped", { dropped, ...this.#bounds });
  }

  /** The number of the oldest segment. */
  get #oldest(): number {
    return this.#sizes.keys().next().value ?? 0;
  }

  #nextRecord(): string {
    return `${this.#worker}${(this.#records++).toString(36)}`;
  }

  /**
   * Opens a segment. Returns `undefined` if it has no header, after a power cut or after a kill during its
   * removal.
   */
  *#openSegment(first: number): Steps<OpenSegment | undefined> {
    const descriptor = openIfThere(() => openFrames(this.#state, first, { appending: true }));
    if (descriptor === undefined) return undefined;
    let opened: OpenSegment | undefined;
    try {
      const found = readHeader(descriptor);
      if (found === undefined) return undefined;
      const scan = new SegmentScan(descriptor, found);
      for (const _ of scan.frames()) yield;
      opened = { first, key: found.header.key, descriptor, scan };
      return opened;
    } finally {
      if (opened === undefined) closeSync(descriptor);
    }
  }

  #look(): void {
    sweepSegments(this.#state);
    const sizes = listSegments(this.#state).map(
      (first) => [first, sizeOfSegment(this.#state, first)] as const,
    );
    this.#sizes = new Map(sizes);
    this.#bytes = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  }

  #add(segment: number, bytes: number): void {
    const known = this.#sizes.get(segment);
    if (known === undefined) return;
    this.#sizes.set(segment, known + bytes);
    this.#bytes += bytes;
  }

  /** Drops the oldest segments while there are too many records. */
  #dropMany(next: number): void {
    for (const oldest of [...this.#sizes.keys()]) {
      if (next - oldest <= this.#bounds.max_records || oldest === this.#open?.first) return;
      this.#drop(oldest);
    }
  }

  #drop(segment: number): void {
    removeSegment(this.#state, segment);
    this.#bytes -= this.#sizes.get(segment)!;
    this.#sizes.delete(segment);
  }

  close(): void {
    this.#latestBefore = this.latest;
    if (this.#open === undefined) return;
    const { first, scan, descriptor } = this.#open;
    this.#next = first + scan.records;
    closeSync(descriptor);
    this.#open = undefined;
  }
}

const maxAttempts = 100;

const extendFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Maximum pieces of one write. The system accepts at most 1,024. */
const maxPieces = 512;

/**
 * Writes frames, and returns their bytes. If it throws, a part of them may remain, which readers recognize as
 * torn.
 */
function writeFrames(descriptor: number, frames: readonly EncodedFrame[]): number {
  const pieces = frames.flatMap((frame) => frame.pieces);
  const length = frames.reduce((sum, { bytes }) => sum + bytes, 0);
  const written = writevSync(descriptor, pieces.length > maxPieces ? [Buffer.concat(pieces)] : pieces);
  if (written < length) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  return length;
}

const pieceBytes = 1024 * 1024;

/**
 * Copies the content of an opened file to a new one with this path, by sharing its blocks if possible. Throws
 * the errno error, and then leaves none.
 */
export function* copyToNew(from: number, path: string): Steps<void> {
  const to = openSync(path, createFlags, 0o600);
  let isWhole = false;
  try {
    yield* copyContent(from, to);
    isWhole = true;
  } finally {
    closeSync(to);
    if (!isWhole) unlinkSync(path);
  }
}

function* copyContent(from: number, to: number): Steps<void> {
  if (cloneContent(from, to)) return;
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const length = readSync(from, piece, 0, piece.length, at);
    if (length === 0) return;
    writeAll(to, piece.subarray(0, length));
    at += length;
    yield;
  }
}

/** Renames a file. Returns false if that or the folder of its new name is gone. Throws the errno error. */
function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written);
}
