import type { NameBytes } from "../../filesystem/jail/name.ts";
import type { FilesByFolder } from "../signatures/filler.ts";

/** The names of files in path order, folder by folder. */
export interface FileNames {
  /** The raw names, each followed by a NUL. */
  readonly bytes: Buffer;
  readonly count: number;
  /** The index of the first file of each folder. */
  readonly firsts: readonly number[];
  /** The prefix of each folder's names in paths from the base. */
  readonly prefixes: readonly string[];
}

/** A cursor over files, which is also the name of the current one. */
export class FileCursor implements NameBytes {
  readonly bytes: Buffer;
  from = 0;
  to = -1;
  /** The index of the current file, or -1 before the first. */
  index = -1;
  readonly #files: FileNames;
  #folder = -1;
  /** The index of the first file of the next folder. */
  #nextFirst = 0;

  constructor(files: FileNames) {
    this.#files = files;
    this.bytes = files.bytes;
  }

  /** Creates a cursor over posted files, whose paths are not needed. */
  static over({ names, count, firsts }: FilesByFolder): FileCursor {
    return new FileCursor({ bytes: Buffer.from(names, "latin1"), count, firsts, prefixes: [] });
  }

  /** Returns the index of the folder of the current file. */
  get folder(): number {
    return this.#folder;
  }

  get path(): string {
    return this.#files.prefixes[this.#folder]! + this.bytes.toString("utf8", this.from, this.to);
  }

  /** Advances to the next file. Returns false at the end. */
  next(): boolean {
    const { bytes } = this;
    const { count, firsts } = this.#files;
    if (this.index + 1 === count) return false;
    this.index++;
    if (this.index === this.#nextFirst) {
      this.#folder++;
      this.#nextFirst = firsts[this.#folder + 1] ?? count;
    }
    this.from = this.to + 1;
    let to = this.from;
    while (bytes[to] !== 0) to++;
    this.to = to;
    return true;
  }
}
