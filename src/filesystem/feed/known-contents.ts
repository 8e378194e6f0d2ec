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

/**
 * Forgets the files of many dropped folders, some with each further one, so that it ends before there are as
 * many again.
 */
interface Sweep {
  readonly dropped: ReadonlyMap<string, number>;
  readonly rest: Iterator<Version, undefined>;
  /** The number of versions that are checked with each dropped folder. */
  readonly perDrop: number;
}

export class KnownContents {
  readonly #max: Limits;
  /** The versions of unchanged files, by path, and those before a change, by path and number. */
  readonly #versions = new Map<string, Version>();
  #bytes = 0;
  /** The folders that were dropped, each with its number. Their unchanged files are forgotten on access. */
  #dropped = new Map<string, number>();
  #drops = 0;
  /** The last drop above a folder after `drops` of them. Files in a row often share their folder. */
  #last = { folder: "", drops: 0, drop: 0 };
  #sweep: Sweep | undefined;

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
    const { folders } = this.#max;
    if (this.#dropped.size > folders) {
      const perDrop = Math.ceil(this.#versions.size / folders);
      this.#sweep = { dropped: this.#dropped, rest: this.#versions.values(), perDrop };
      this.#dropped = new Map();
    }
    this.#sweepSome();
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
    return version === undefined || this.#dropAbove(path) > version.drops ? undefined : version;
  }

  /** Returns the number of the last drop of a folder above a path, or 0. */
  #dropAbove(path: string): number {
    const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
    if (this.#last.folder === folder && this.#last.drops === this.#drops) return this.#last.drop;
    const dropOf = (above: string) => this.#dropped.get(above) ?? this.#sweep?.dropped.get(above) ?? 0;
    const drop = ancestorsOf(path).reduce((last, above) => Math.max(last, dropOf(above)), dropOf(""));
    this.#last = { folder, drops: this.#drops, drop };
    return drop;
  }

  #sweepSome(): void {
    for (let count = this.#sweep?.perDrop ?? 0; count > 0; count--) {
      const { done, value } = this.#sweep!.rest.next();
      if (done === true) {
        this.#sweep = undefined;
        return;
      }
      const { path, until } = value;
      if (until === undefined && this.#current(path) === undefined) this.#forget(path);
    }
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
