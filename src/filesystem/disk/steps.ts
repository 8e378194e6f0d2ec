/**
 * The effects of a transaction on the tree: a list of steps, each of which is one reversible system call on
 * names (coder §17). Paths are canonical: relative to the base, with links resolved, in the tree at the time
 * of the step.
 */
import type { Metadata } from "./metadata.ts";

/**
 * The version of an entry at the time of planning. The entry that has the name when its step runs must match
 * it.
 */
export interface EntryVersion {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  /** Not compared once an earlier step of the transaction has renamed the entry or set its mode. */
  readonly ctimeNs: bigint;
  /**
   * `sha256:` and the digest of the bytes of a file that a step takes away. Without it, a change within one
   * tick of the file system's clock that keeps the size goes unnoticed.
   */
  readonly revision?: string | undefined;
}

/** The entry that must have the name when its step runs: the planned one, or one from an earlier step. */
export type Expected = EntryVersion | { readonly staged: Staged };

/** The content of a file, in consecutive pieces. */
export type StagedContent = readonly Uint8Array[];

/** An entry on disk that is read while the transaction is staged. Its path is that before all steps. */
export interface StagedSource {
  readonly path: string;
  readonly expected: EntryVersion;
}

/** A regular file to be made. `attributes` are those of the file that it replaces or copies. */
export interface StagedFile extends Metadata {
  readonly kind: "file";
  /** Its bytes, or the file that has them, whose blocks are shared if the file system supports that. */
  readonly content: StagedContent | { readonly cloneOf: StagedSource };
  /** The times of the last use and change. Default: now. */
  readonly times?: { readonly atime: Date; readonly mtime: Date } | undefined;
}

/**
 * An empty folder. Later steps place its entries, so `mode` must let this process write there; a different
 * final mode is set by a later `chmod`. Without a mode, the umask applies.
 */
export interface StagedFolder {
  readonly kind: "dir";
  readonly mode?: number | undefined;
}

export interface StagedLink {
  readonly kind: "symlink";
  readonly text: Buffer;
}

/** A folder with everything in it that callers may see. `requested` is the path to name in refusals. */
export interface StagedCopy {
  readonly kind: "copy";
  readonly of: StagedSource;
  readonly requested: string;
}

/**
 * An entry that is made under a temporary name before the first step. Each object belongs to at most one
 * step.
 */
export type Staged = StagedFile | StagedFolder | StagedLink | StagedCopy;

interface OfChange {
  /** The index of the change that the step belongs to, for errors. */
  readonly change: number;
}

/** Gives a staged entry a name that is free. */
export interface PlaceStep extends OfChange {
  readonly kind: "place";
  readonly path: string;
  readonly staged: Staged;
}

/** Gives a staged file or link the name of another file or link, which moves to the temporary name. */
export interface ExchangeStep extends OfChange {
  readonly kind: "exchange";
  readonly path: string;
  readonly staged: StagedFile | StagedLink;
  readonly expected: Expected;
  /** Whether the file is the earlier one with a part of it replaced. */
  readonly isEdit?: boolean;
}

/**
 * Gives an entry that is to be removed, such as a folder with everything in it, a temporary name in its
 * folder until the commit is done.
 */
export interface SetAsideStep extends OfChange {
  readonly kind: "set-aside";
  readonly path: string;
  readonly expected: Expected;
  /** The value of `digestOfTree` for a folder that was copied, which must be unchanged since. */
  readonly digest?: string | undefined;
}

/**
 * Gives an entry a new name that is free; an entry to be overwritten is set aside first. Both folders are on
 * one file system, and can be held at once.
 */
export interface RenameStep extends OfChange {
  readonly kind: "rename";
  readonly from: string;
  readonly to: string;
  readonly expected: Expected;
}

/** Sets the permission bits of a file or folder, exactly. */
export interface ChmodStep extends OfChange {
  readonly kind: "chmod";
  readonly path: string;
  readonly mode: number;
  readonly expected: Expected;
}

export type Step = PlaceStep | ExchangeStep | SetAsideStep | RenameStep | ChmodStep;

/** The steps of a transaction, in order, and the data that the call needs once they are done. */
export interface Plan<T> {
  readonly steps: readonly Step[];
  /** The queues of all paths that it has read: see `Jail.fold`. */
  readonly keys: ReadonlySet<string>;
  readonly value: T;
}
