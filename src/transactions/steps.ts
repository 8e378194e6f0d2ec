/**
 * What a transaction does to the tree: a list of steps, each of which is one reversible system call on names
 * (coder §17). Paths are canonical: from the base, links resolved, as the tree is when the step runs.
 */
import type { Metadata } from "../files/metadata.ts";

/** An entry as it was when it was planned with: what has the name when its step runs must be the same. */
export interface EntryVersion {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  /** Not compared once an earlier step of the same transaction has renamed the entry or set its mode. */
  readonly ctimeNs: bigint;
  /**
   * `sha256:` and the digest of the bytes of a file that a step takes away. Without it a change within one tick of the
   * file system's clock that keeps the size goes unnoticed.
   */
  readonly revision?: string | undefined;
}

/** What has a name when its step runs: what was there when it was planned, or what an earlier step has put there. */
export type Expected = EntryVersion | { readonly staged: Staged };

/** Content in pieces that follow each other. */
export type StagedContent = readonly Uint8Array[];

/** An entry on disk that is read while the transaction is staged: its path is that of before all steps. */
export interface StagedSource {
  readonly path: string;
  readonly expected: EntryVersion;
}

/** A regular file to be. `attributes`: those of the file that it replaces or is a copy of. */
export interface StagedFile extends Metadata {
  readonly kind: "file";
  /** Its bytes, or the file that has them, whose blocks are shared where the file system can. */
  readonly content: StagedContent | { readonly cloneOf: StagedSource };
  /** When it was last used and changed; otherwise now. */
  readonly times?: { readonly atime: Date; readonly mtime: Date } | undefined;
}

/**
 * An empty folder. Later steps place what is in it, for which its `mode` must let this process write there: another one
 * is a `chmod` after them. Without a mode: what the umask leaves.
 */
export interface StagedFolder {
  readonly kind: "dir";
  readonly mode?: number | undefined;
}

export interface StagedLink {
  readonly kind: "symlink";
  readonly text: Buffer;
}

/** A folder with everything in it that callers may see. `requested`: the path to name in refusals. */
export interface StagedCopy {
  readonly kind: "copy";
  readonly of: StagedSource;
  readonly requested: string;
}

/** What is made under a temporary name before the first step. The same object stands in at most one step. */
export type Staged = StagedFile | StagedFolder | StagedLink | StagedCopy;

interface OfChange {
  /** The index of the change that the step belongs to, for errors. */
  readonly change: number;
}

/** Gives a staged entry a name that nothing has. */
export interface PlaceStep extends OfChange {
  readonly kind: "place";
  readonly path: string;
  readonly staged: Staged;
}

/** Gives a staged file or link the name of another file or link, which then lies under the temporary name. */
export interface ExchangeStep extends OfChange {
  readonly kind: "exchange";
  readonly path: string;
  readonly staged: StagedFile | StagedLink;
  readonly expected: Expected;
}

/** Gives what is to go, a folder with everything in it, a temporary name in its folder until the commit is done. */
export interface SetAsideStep extends OfChange {
  readonly kind: "set-aside";
  readonly path: string;
  readonly expected: Expected;
  /** Of a folder of which a copy was made: what `digestOfTree` says of it as long as it is what was copied. */
  readonly digest?: string | undefined;
}

/**
 * Gives an entry a new name, which nothing has: what is to be overwritten is set aside before. Both folders lie on one file
 * system, and can be held at once.
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

/** What a transaction is to do, in order, and what else the call needs once it is done. */
export interface Plan<T> {
  readonly steps: readonly Step[];
  /** The queues of all paths that it looked at: see `Jail.fold`. */
  readonly keys: ReadonlySet<string>;
  readonly value: T;
}
