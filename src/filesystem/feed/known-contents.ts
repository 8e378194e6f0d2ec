/**
 * The contents of small files that calls have read or written while the tree is watched, so that a later
 * change by another program can be shown line by line.
 */

/** A file as a call saw it. */
export interface KnownFile {
  readonly content: Buffer;
  readonly mode: number;
}

/** Maximum size of a file, and of all contents together, in bytes. */
export const maxKnown = { file: 256 * 1024, total: 4 * 1024 * 1024 } as const;

interface Version {
  readonly path: string;
  readonly file: KnownFile;
  /** The number of the change that ended it, or `undefined` if none has. */
  readonly until: number | undefined;
}

export class KnownContents {
  readonly #max: { readonly file: number; readonly total: number };
  /** The versions of unchanged files, by path, and those before a change, by path and number. */
  readonly #versions = new Map<string, Version>();
  #bytes = 0;

  constructor(max: { readonly file: number; readonly total: number } = maxKnown) {
    this.#max = max;
  }

  /** Notes the current content of a file, and forgets the oldest ones over the limit. */
  note(path: string, file: KnownFile): void {
    this.#forget(path);
    if (file.content.length > this.#max.file) return;
    this.#keep({ path, file, until: undefined });
  }

  /** Notes that the file at a path was changed, moved or removed by the change of this number. */
  end(path: string, seq: number): void {
    const version = this.#versions.get(path);
    if (version === undefined) return;
    this.#forget(path);
    this.#keep({ ...version, until: seq });
  }

  /** Forgets the unchanged files in a folder that was moved, removed or replaced; "" for all files. */
  dropBelow(folder: string): void {
    for (const { path, until } of [...this.#versions.values()])
      if (until === undefined && (folder === "" || path.startsWith(`${folder}/`))) this.#forget(path);
  }

  /** Returns the unchanged file at a path, if a call has seen it. */
  current(path: string): KnownFile | undefined {
    return this.#versions.get(path)?.file;
  }

  /** Returns the file that the change of this number ended, if a call had seen it. */
  before(path: string, seq: number): KnownFile | undefined {
    return this.#versions.get(keyOf({ path, until: seq }))?.file;
  }

  #keep(version: Version): void {
    this.#versions.set(keyOf(version), version);
    this.#bytes += version.file.content.length;
    for (const key of this.#versions.keys()) {
      if (this.#bytes <= this.#max.total) break;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#versions.get(key)?.file.content.length ?? 0;
    this.#versions.delete(key);
  }
}

/** No path has a NUL. */
const keyOf = ({ path, until }: Pick<Version, "path" | "until">): string =>
  until === undefined ? path : `${path}\0${until}`;
