/**
 * The contents of small files that calls have read or written while the tree is watched, so that a later
 * change by another program can be shown line by line.
 */
import { ancestorsOf } from "../jail/backend.ts";

/** A file as a call saw it. */
export interface KnownFile {
  readonly content: Buffer;
  readonly mode: number;
}

/**
 * Maximum size of a file, and of all contents together, in bytes; and maximum number of contents, and of
 * folders whose files are to be forgotten.
 */
export const maxKnown = {
  file: 256 * 1024,
  total: 4 * 1024 * 1024,
  contents: 16_384,
  folders: 1024,
} as const;

type Limits = Readonly<Record<keyof typeof maxKnown, number>>;

interface Version {
  readonly path: string;
  readonly file: KnownFile;
  /** The number of folders that had been dropped before it was noted. */
  readonly drops: number;
  /** The number of the change that ended it, or `undefined` if none has. */
  readonly until: number | undefined;
}

export class KnownContents {
  readonly #max: Limits;
  /** The versions of unchanged files, by path, and those before a change, by path and number. */
  readonly #versions = new Map<string, Version>();
  #bytes = 0;
  /** The folders that were dropped, each with its number. Their unchanged files are forgotten on access. */
  readonly #dropped = new Map<string, number>();
  #drops = 0;

  constructor(max: Partial<Limits> = {}) {
    this.#max = { ...maxKnown, ...max };
  }

  /** Notes the current content of a file, and forgets the oldest ones over the limits. */
  note(path: string, file: KnownFile): void {
    this.#forget(path);
    if (file.content.length > this.#max.file) return;
    this.#keep({ path, file, drops: this.#drops, until: undefined });
  }

  /** Notes that the file at a path was changed, moved or removed by the change of this number. */
  end(path: string, seq: number): void {
    const version = this.#current(path);
    this.#forget(path);
    if (version !== undefined) this.#keep({ ...version, until: seq });
  }

  /** Forgets the unchanged files in a folder that was moved, removed or replaced; "" for all files. */
  dropBelow(folder: string): void {
    this.#dropped.set(folder, ++this.#drops);
    if (this.#dropped.size <= this.#max.folders) return;
    for (const { path, until } of this.#versions.values())
      if (until === undefined && this.#current(path) === undefined) this.#forget(path);
    this.#dropped.clear();
  }

  /** Returns the unchanged file at a path, if a call has seen it. */
  current(path: string): KnownFile | undefined {
    return this.#current(path)?.file;
  }

  /** Returns the file that the change of this number ended, if a call had seen it. */
  before(path: string, seq: number): KnownFile | undefined {
    return this.#versions.get(keyOf({ path, until: seq }))?.file;
  }

  #current(path: string): Version | undefined {
    const version = this.#versions.get(path);
    if (version === undefined) return undefined;
    const isDropped = (folder: string) => (this.#dropped.get(folder) ?? 0) > version.drops;
    return ["", ...ancestorsOf(path)].some(isDropped) ? undefined : version;
  }

  #keep(version: Version): void {
    this.#versions.set(keyOf(version), version);
    this.#bytes += version.file.content.length;
    for (const key of this.#versions.keys()) {
      if (this.#bytes <= this.#max.total && this.#versions.size <= this.#max.contents) break;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#versions.get(key)?.file.content.length ?? 0;
    this.#versions.delete(key);
  }
}

/** Returns the key of a version, with a NUL as separator, which no path contains. */
const keyOf = ({ path, until }: Pick<Version, "path" | "until">): string =>
  until === undefined ? path : `${path}\0${until}`;
