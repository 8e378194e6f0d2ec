/** Keeps the whole output of a program, both streams merged as in a terminal. */
import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { OutputName } from "./output.ts";

export interface OutputLogOptions {
  /** Maximum kept bytes. Beyond that the oldest are dropped. */
  readonly maxBytes: number;
  /** The folder for files with output that does not stay in memory. */
  readonly temporaryFolder: string;
}

/** The number of bytes at which an unfinished line is broken. */
const maxLineLength = 64 * 1024;

/** The number of bytes of each output that stay in memory, at its beginning. */
const memoryBytes = 256 * 1024;

/** The number of parts in which the oldest output is dropped. */
const maxSegments = 4;

/** The bytes between two lines of known position. */
const markBytes = 64 * 1024;

/** A line of the output, and the offset at which it begins. */
interface Mark {
  /** The number of the line, from 1. */
  readonly line: number;
  readonly position: number;
}

/**
 * The output of a program from its beginning. It grows by whole lines, so that lines of its two outputs are
 * not mixed. A position in it is a number of bytes since the beginning; positions and numbers of lines stay
 * valid when the oldest lines are dropped.
 */
export class OutputLog {
  readonly #options: OutputLogOptions;
  readonly #segments: Segment[] = [];
  readonly #unfinished: Record<OutputName, Buffer[]> = { stdout: [], stderr: [] };
  readonly #listeners = new Set<() => void>();
  readonly #marks: Mark[] = [{ line: 1, position: 0 }];
  #end = 0;
  #start = 0;
  #lines = 0;
  /** Whether output that exceeds memory goes to files; false after the first failure. */
  #hasFiles = true;

  constructor(options: OutputLogOptions) {
    this.#options = options;
  }

  /** The position after the last whole line. */
  get end(): number {
    return this.#end;
  }

  /** The position of the first line that is still kept. */
  get start(): number {
    return this.#start;
  }

  /** Adds a piece of output, which may begin and end within a line. */
  add(piece: Uint8Array, from: OutputName): void {
    const unfinished = this.#unfinished[from];
    const lines = piece.lastIndexOf(newline) + 1;
    if (lines > 0) {
      this.#append(Buffer.concat([...unfinished, piece.subarray(0, lines)]));
      unfinished.length = 0;
    }
    if (lines < piece.length) unfinished.push(Buffer.from(piece.subarray(lines)));
    if (sizeOf(unfinished) >= maxLineLength) this.#finish(unfinished);
    this.#notify();
  }

  /** Ends unfinished lines, and adds a line of the worker's own. */
  close(note?: string): void {
    for (const unfinished of Object.values(this.#unfinished)) this.#finish(unfinished);
    if (note !== undefined) this.#append(Buffer.from(`${note}\n`));
    this.#notify();
  }

  /** Returns the unfinished lines, each on its own line. */
  unfinished(): Buffer {
    const lines = Object.values(this.#unfinished).filter((pieces) => pieces.length > 0);
    return Buffer.concat(lines.flatMap((pieces, index) => [...(index > 0 ? [lineEnd] : []), ...pieces]));
  }

  /** Returns the kept bytes between two positions. */
  read(from: number, to: number): Buffer {
    const pieces = this.#segments.flatMap((segment) => {
      const [first, last] = [Math.max(from, segment.start), Math.min(to, segment.end)];
      return first < last ? [segment.read(first, last)] : [];
    });
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /**
   * Returns the position of a line, counted from 1. For a dropped line, this is the first kept position. For
   * a later line, it is the end.
   */
  positionOf(line: number): number {
    if (line > this.#lines) return this.#end;
    const mark = this.#marks.findLast((one) => one.line <= line) ?? this.#marks[0]!;
    let missing = line - mark.line;
    let { position } = mark;
    while (missing > 0) {
      const bytes = this.read(position, Math.min(this.#end, position + markBytes));
      let at = 0;
      while (missing > 0 && at < bytes.length) if (bytes[at++] === newline) missing--;
      position += at;
    }
    return Math.max(position, this.#start);
  }

  /** Returns the number of the line that begins at a position. The position must be kept, or the end. */
  lineAt(position: number): number {
    if (position >= this.#end) return this.#lines + 1;
    const mark = this.#marks.findLast((one) => one.position <= position) ?? this.#marks[0]!;
    return mark.line + countLines(this.read(mark.position, position));
  }

  /** Resolves when more output arrives, even of an unfinished line. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#listeners.add(resolve));
  }

  /** Frees the kept output and closes its files. */
  drop(): void {
    for (const segment of this.#segments.splice(0)) segment.drop();
    this.#start = this.#end;
    this.#marks.splice(0, this.#marks.length, { line: this.#lines + 1, position: this.#end });
  }

  #finish(pieces: Buffer[]): void {
    if (pieces.length > 0) this.#append(Buffer.concat([...pieces, lineEnd]));
    pieces.length = 0;
  }

  /** Appends bytes that end with a line end. */
  #append(bytes: Buffer): void {
    if (this.#end - this.#marks.at(-1)!.position >= markBytes)
      this.#marks.push({ line: this.#lines + 1, position: this.#end });
    this.#lines += countLines(bytes);
    let done = 0;
    while (done < bytes.length) {
      const last = this.#segments.at(-1);
      const written = last?.append(bytes.subarray(done)) ?? 0;
      done += written;
      this.#end += written;
      if (written === 0) this.#addSegment(last);
    }
    this.#dropOldest();
  }

  #addSegment(full: Segment | undefined): void {
    if (full?.hasFailed) this.#hasFiles = false;
    const { maxBytes, temporaryFolder } = this.#options;
    const isFirst = full === undefined;
    const file = isFirst || !this.#hasFiles ? undefined : openNameless(temporaryFolder);
    if (file === undefined) {
      this.#hasFiles &&= isFirst;
      const capacity = Math.min(memoryBytes, maxBytes) / (isFirst ? 1 : maxSegments);
      this.#segments.push(new MemorySegment(this.#end, Math.max(1, Math.floor(capacity))));
    } else this.#segments.push(new FileSegment(this.#end, Math.ceil(maxBytes / maxSegments), file));
  }

  #dropOldest(): void {
    const most = this.#hasFiles ? this.#options.maxBytes : Math.min(2 * memoryBytes, this.#options.maxBytes);
    const kept = () => this.#end - this.#segments[0]!.start;
    if (kept() <= most) return;
    while (this.#segments.length > 1 && kept() > most) this.#segments.shift()!.drop();
    this.#startAfterLine(this.#segments[0]!.start);
  }

  /** Begins with the first complete line whose number is known. */
  #startAfterLine(position: number): void {
    const end = { line: this.#lines + 1, position: this.#end };
    while (this.#marks.length > 0 && this.#marks[0]!.position < position) this.#marks.shift();
    if (this.#marks.length === 0) this.#marks.push(end);
    this.#start = this.#marks[0]!.position;
  }

  #notify(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

const newline = 0x0a;
const lineEnd = Buffer.from("\n");

/** Counts byte by byte: a native search for each short line takes twenty times as long. */
function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === newline) count++;
  return count;
}

const sizeOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** A part of the log. */
interface Segment {
  readonly start: number;
  readonly end: number;
  /** Whether its file is full. */
  readonly hasFailed: boolean;
  /** Writes the bytes that fit. Returns their number. */
  append(bytes: Buffer): number;
  read(from: number, to: number): Buffer;
  drop(): void;
}

class MemorySegment implements Segment {
  readonly start: number;
  readonly hasFailed = false;
  readonly #capacity: number;
  #kept = Buffer.alloc(0);
  #length = 0;

  constructor(start: number, capacity: number) {
    this.start = start;
    this.#capacity = capacity;
  }

  get end(): number {
    return this.start + this.#length;
  }

  append(bytes: Buffer): number {
    const taken = Math.min(bytes.length, this.#capacity - this.#length);
    const needed = this.#length + taken;
    if (needed > this.#kept.length) {
      const larger = Buffer.alloc(Math.min(this.#capacity, Math.max(needed, 2 * this.#kept.length)));
      this.#kept.copy(larger, 0, 0, this.#length);
      this.#kept = larger;
    }
    bytes.copy(this.#kept, this.#length, 0, taken);
    this.#length = needed;
    return taken;
  }

  read(from: number, to: number): Buffer {
    return Buffer.from(this.#kept.subarray(from - this.start, to - this.start));
  }

  drop(): void {
    this.#kept = Buffer.alloc(0);
    this.#length = 0;
  }
}

class FileSegment implements Segment {
  readonly start: number;
  readonly #capacity: number;
  readonly #descriptor: number;
  #length = 0;
  #hasFailed = false;

  constructor(start: number, capacity: number, descriptor: number) {
    this.start = start;
    this.#capacity = capacity;
    this.#descriptor = descriptor;
  }

  get end(): number {
    return this.start + this.#length;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  append(bytes: Buffer): number {
    if (this.#hasFailed) return 0;
    try {
      const room = Math.min(bytes.length, this.#capacity - this.#length);
      const written = room === 0 ? 0 : writeSync(this.#descriptor, bytes, 0, room, this.#length);
      this.#length += written;
      return written;
    } catch {
      // The disk is full: later output stays in memory.
      this.#hasFailed = true;
      return 0;
    }
  }

  read(from: number, to: number): Buffer {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, bytes.length, from - this.start));
  }

  drop(): void {
    closeSync(this.#descriptor);
  }
}

let files = 0;

/**
 * Opens a file that no other process can open, and that ends with this one. Returns `undefined` if that
 * fails.
 */
function openNameless(folder: string): number | undefined {
  const path = join(folder, `.coder-output-${process.pid}-${files++}-${Date.now().toString(36)}`);
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const descriptor = openSync(path, flags, 0o600);
    unlinkSync(path);
    return descriptor;
  } catch {
    return undefined;
  }
}
