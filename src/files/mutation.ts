/** What a change of the tree is: a value, which listeners get before and after it. */
import type { EntryKind } from "../jail/kind.ts";
import type { Walker } from "../scheduling/walk-slice.ts";

/** The call that the disk is touched for: who asked, and until when. The context of a handler is one. */
export interface Requester extends Walker {
  /** What copies of a requester that stand for one call share. */
  readonly call?: object;
  /** The function that was called. */
  readonly functionId?: string | undefined;
}

/**
 * `copy` gives a name to a folder with everything in it, which was built out of sight; `sweep` removes a temporary file or
 * folder that a killed process left. Callers never saw their temporary names. A `transaction` is a tree whose steps are all
 * made or none: when it has `failed`, those that were `done` have been taken back, which is not reported.
 */
export type MutationKind =
  | "create"
  | "replace"
  | "remove"
  | "rename"
  | "copy"
  | "make-folder"
  | "change-mode"
  | "sweep"
  | "transaction";

/** Permission bits and owners; undefined for what a change leaves as it is. */
export interface Permissions {
  readonly mode: number;
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** What has a name on disk, links not followed. Everything throws the errno error. */
export interface HeldEntry {
  readonly kind: EntryKind;
  /** The permission bits, the special ones too. */
  readonly mode: number;
  /** Bytes of a file. */
  readonly size: number;
  /** Lets `use` read the regular file through a descriptor, which is closed then. */
  read<T>(use: (descriptor: number) => T): T | undefined;
  linkText(): Buffer;
  /**
   * What is in a folder, as far as callers may see it, each folder before what is in it. Paths are from the
   * folder; an entry is held until the next one is asked for.
   */
  inside(): Iterable<{ readonly path: string; readonly entry: HeldEntry }>;
}

/** What a step has to do with. To be asked for in `before`; afterwards the names mean something else. */
export interface StepEntries {
  /** What has the name at `path` until then, and is changed, taken away or moved off; undefined: nothing. */
  replaced(): HeldEntry | undefined;
  /** What gets that name. Absent where the name goes, and of a new folder. */
  placed?(): HeldEntry | undefined;
}

/** One change: a single step of the file system, or a tree's, whose steps are mutations that name it as their `whole`. */
export interface Mutation {
  readonly kind: MutationKind;
  /** From the base, links resolved; bytes that are not UTF-8 became U+FFFD. Of a rename: the new path. */
  readonly path: string;
  /** Of a rename: the old path. Of a copy: that of the folder it is a copy of. */
  readonly from?: string;
  /** What it changes: a link is never followed. */
  readonly entry: EntryKind;
  /** Of a change of mode. */
  readonly permissions?: { readonly before: Permissions; readonly after: Permissions };
  /** Whether it is that of a tree, whose steps are mutations too. */
  readonly isTree: boolean;
  /** Of a step that gives a name or takes one away, other than a sweep. */
  readonly entries?: StepEntries | undefined;
  /** Of a transaction: its name, and what the caller calls it. */
  readonly transaction?: { readonly id: string; readonly label?: string | undefined };
  /** The same object for all that one call changes; undefined for what the worker does of its own accord. */
  readonly requester: Requester | undefined;
  /** The change of a tree that this is a step of. The last step is that of the tree's own name. */
  readonly whole?: Mutation | undefined;
  /**
   * `sha256:` and the digest of the bytes that the file has before the change, as lower-case hex; undefined where no
   * content is concerned, or it cannot be read. Hashed when it is first asked for, which has to be in `before`.
   */
  revisionBefore(): string | undefined;
  /** The same of the bytes that it has afterwards, where they are written. To be asked for in `before` or `after`. */
  revisionAfter(): string | undefined;
}

/**
 * Gets every mutation, in the order in which they happen: `before` and `after` enclose a step, and those of a tree
 * enclose its steps. Both are called while the change is made, so they must be quick, must not change the
 * tree, and must not await. What they throw is reported, and changes nothing.
 */
export interface MutationListener {
  before?(mutation: Mutation): void;
  /** `failed`: nothing was changed, and of a tree no more than the steps that were `done`. */
  after?(mutation: Mutation, outcome: MutationOutcome): void;
}

export type MutationOutcome = "done" | "failed";
