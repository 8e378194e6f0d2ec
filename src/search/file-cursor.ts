import type { NameBytes } from "../jail/name.ts";

/** Files in the order of their paths: their names one behind the other, folder by folder. */
export interface FileNames {
  /** As they are on disk, with a NUL behind each. */
  readonly bytes: Buffer;
  readonly count: number;
  /** Of each folder, the index of its first file. */
  readonly firsts: readonly number[];
  /** Of each folder, what stands before its names in paths from the base. */
  readonly prefixes: readonly string[];
}

/** Goes from one file to the next. It is itself the name of the file it has come to. */
export class FileCursor implements NameBytes {
  readonly bytes: Buffer;
  from = 0;
  to = -1;
  /** Of the file, from 0; -1 before the first. */
  index = -1;
  readonly #files: FileNames;
  #folder = -1;
  /** The index of the first file of the next folder. */
  #nextFirst = 0;

  constructor(files: FileNames) {
    this.#files = files;
    this.bytes = files.bytes;
  }

  /** The number of its folder. */
  get folder(): number {
    return this.#folder;
  }

  get path(): string {
    return this.#files.prefixes[this.#folder]! + this.bytes.toString("utf8", this.from, this.to);
  }

  /** False when there is no further file. */
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
