/**
 * Remembers how many lines end before places in large files. Lines deep in a file are found from the last
 * such place before them, instead of by reading everything before, as long as the stamps of the file prove it
 * unchanged (decision 41).
 */
import {
  areSettled,
  hasExactStamps,
  hasNoWriter,
  readStamps,
  releaseLease,
  sizeAt,
  stamps,
} from "../jail/stamps.ts";
import { pieceBytes } from "./open-file.ts";

/** A place in a file, in bytes, and the number of line feeds before it. */
export interface CountedOffset {
  readonly offset: number;
  readonly lines: number;
}

/** The counts for one content of a file. */
interface Counted {
  readonly stamps: Uint32Array;
  /** The number of line feeds before each multiple of `pieceBytes`, from 0. */
  readonly lines: readonly number[];
}

export interface LineCountsOptions {
  /**
   * Maximum places that are kept for all files together, of eight bytes each. The default suffices for 64 GiB
   * of files.
   */
  readonly maxPlaces?: number;
  /** Returns the milliseconds since 1970. */
  readonly now?: () => number;
}

/** Keeps the counts of the files that were read last. */
export class LineCounts {
  /** The counts by inode and device, the most recently read file last. */
  readonly #files = new Map<string, Counted>();
  readonly #maxPlaces: number;
  readonly #now: () => number;
  #places = 0;

  constructor({ maxPlaces = 2 ** 18, now = Date.now }: LineCountsOptions = {}) {
    this.#maxPlaces = maxPlaces;
    this.#now = now;
  }

  /**
   * Returns the counts for a file that was opened and is about to be read, or none if its content might
   * change unnoticed.
   */
  of(descriptor: number): FileLines {
    if (!readStamps(descriptor)) return unknownLines;
    const file = stamps.subarray(0, sizeAt).join();
    const known = this.#files.get(file);
    const isKnown = known !== undefined && hasStamps(known.stamps);
    if (!isKnown && !this.#canBeTrusted(descriptor)) return unknownLines;
    return new KnownLines(descriptor, {
      counted: isKnown ? known : { stamps: stamps.slice(), lines: [0] },
      maxPlaces: this.#maxPlaces,
      keep: (counted) => this.#keep(file, counted),
    });
  }

  /** Returns whether every later change gives the file stamps that differ from those just read. */
  #canBeTrusted(descriptor: number): boolean {
    if (!hasExactStamps(descriptor) || !areSettled(this.#now()) || !hasNoWriter(descriptor)) return false;
    releaseLease(descriptor);
    return true;
  }

  #keep(file: string, counted: Counted): void {
    const known = this.#files.get(file);
    // Another call may have read further since.
    const isFurther =
      known !== undefined && hasStamps(known.stamps) && known.lines.length > counted.lines.length;
    const kept = isFurther ? known : counted;
    this.#forget(file);
    this.#files.set(file, kept);
    this.#places += kept.lines.length;
    while (this.#places > this.#maxPlaces) this.#forget(this.#files.keys().next().value!);
  }

  #forget(file: string): void {
    this.#places -= this.#files.get(file)?.lines.length ?? 0;
    this.#files.delete(file);
  }
}

/** The known counts of a file while it is read, and the findings of the reader. */
export interface FileLines {
  /**
   * Returns the last known place before the start of line `line`, counted from 1: the start of the file, or a
   * multiple of `pieceBytes`.
   */
  beforeLine(line: number): CountedOffset;
  /** Returns the last known place at or before `offset`. */
  beforeOffset(offset: number): CountedOffset;
  /** Adds a place that was reached. Places that cannot be kept are ignored. */
  add(place: CountedOffset): void;
  /**
   * Returns whether the content is still the one that the places belong to. If so, the bytes read between
   * them are right, and the added places are kept.
   */
  keep(): boolean;
}

const startOfFile: CountedOffset = { offset: 0, lines: 0 };

/** The counts of a file that is unknown and cannot be kept. */
const unknownLines: FileLines = {
  beforeLine: () => startOfFile,
  beforeOffset: () => startOfFile,
  add: () => undefined,
  keep: () => true,
};

class KnownLines implements FileLines {
  readonly #descriptor: number;
  readonly #stamps: Uint32Array;
  readonly #lines: number[];
  readonly #maxPlaces: number;
  readonly #keep: (counted: Counted) => void;

  constructor(
    descriptor: number,
    { counted, maxPlaces, keep }: { counted: Counted; maxPlaces: number; keep: (counted: Counted) => void },
  ) {
    this.#descriptor = descriptor;
    this.#stamps = counted.stamps;
    this.#lines = counted.lines.slice();
    this.#maxPlaces = maxPlaces;
    this.#keep = keep;
  }

  beforeLine(line: number): CountedOffset {
    let [low, high] = [0, this.#lines.length];
    // A line that begins exactly at the place does not count as ahead, because whether one does is unknown.
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#lines[middle]! + 1 < line) low = middle;
      else high = middle;
    }
    return this.#placeAt(low);
  }

  beforeOffset(offset: number): CountedOffset {
    return this.#placeAt(Math.min(Math.floor(offset / pieceBytes), this.#lines.length - 1));
  }

  add({ offset, lines }: CountedOffset): void {
    const count = this.#lines.length;
    if (offset === count * pieceBytes && count < this.#maxPlaces) this.#lines.push(lines);
  }

  keep(): boolean {
    if (!readStamps(this.#descriptor) || !hasStamps(this.#stamps)) return false;
    this.#keep({ stamps: this.#stamps, lines: this.#lines });
    return true;
  }

  #placeAt(index: number): CountedOffset {
    return { offset: index * pieceBytes, lines: this.#lines[index]! };
  }
}

/** Returns whether these are the stamps that were read last. */
const hasStamps = (of: Uint32Array): boolean => stamps.every((word, at) => word === of[at]);
