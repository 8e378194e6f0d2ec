/** A change of the tree as a value, which listeners receive before and after it. */
import type { Author } from "../../base/author.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Walker } from "../../base/scheduling/walk-slice.ts";
import type { EntryKind } from "../jail/kind.ts";
import type { Owner } from "./metadata.ts";

/** The call that uses the disk: its caller and its deadline. The context of a handler is one. */
export interface Requester extends Walker {
  /** The object that copies of a requester for the same call share. */
  readonly call?: object;
  /** The function that was called. */
  readonly functionId?: string | undefined;
  /** The author of the call, if known. */
  readonly author?: Author | undefined;
  /** The caller's label for the change. */
  readonly label?: string | undefined;
  /** Receives the removals that a dry run would make. */
  readonly forecast?: RemovalForecast | undefined;
}

/** Foresees whether removals can be undone. */
export interface RemovalForecast {
  /** The number of removals so far that could not be undone. */
  readonly count: number;
  /** Begins a removal. In one step, a folder goes with everything in it. */
  removal(how: { readonly isOneStep: boolean }): ForeseenRemoval;
}

/** A removal that is checked, and not made. */
export interface ForeseenRemoval {
  add(entry: GoingEntry): void;
  /** Ends the removal, once all checks have passed. */
  end(): void;
}

/** An entry that would be removed. */
export interface GoingEntry {
  readonly kind: EntryKind;
  readonly size: number;
  /** Whether its name is UTF-8. */
  readonly isText: boolean;
}

/**
 * The kind of a change. `copy` names a folder with everything in it, which was built out of sight; `sweep`
 * removes a temporary file or folder that a killed process left. Callers never saw their temporary names. A
 * `transaction` is a tree whose steps are all made or none: when it has `failed`, those that were `done` have
 * been reverted, which is not reported.
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

/** Permission bits and owners; `undefined` for the parts that a change keeps. */
export interface Permissions {
  readonly mode: number;
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** An entry on disk, links not followed. Every method throws the errno error. */
export interface HeldEntry {
  readonly kind: EntryKind;
  /** The permission bits, including the special ones. */
  readonly mode: number;
  /** The size of a file, in bytes. */
  readonly size: number;
  /** The user and group that it belongs to, unless the entry is only opened. */
  readonly owner?: Owner;
  /** Returns its identity (`entryIdentityOf`). Present for an entry that has a name on disk. */
  identity?(): string;
  /** Calls `use` with a descriptor of the regular file, which is closed afterwards. */
  read<T>(use: (descriptor: number) => T): T | undefined;
  /** Like `read`, for work on a large file in steps. */
  readInSteps<T>(use: (descriptor: number) => Steps<T>): Steps<T | undefined>;
  linkText(): Buffer;
  /**
   * Yields the contents of a folder that callers may see, each folder before its own contents, and
   * `undefined` after each step of listing a folder. Paths are relative to the folder, and text if they are
   * UTF-8; an entry is held until the next one is requested.
   */
  inside(): Iterable<
    { readonly path: string; readonly isText: boolean; readonly entry: HeldEntry } | undefined
  >;
}

/** The entries of a step. Call it in `before`; afterwards the names mean something else. */
export interface StepEntries {
  /** Returns the entry at `path`, which is changed, removed or moved, if any. */
  replaced(): HeldEntry | undefined;
  /** Returns the entry that gets the name. Absent if that is removed, and for a folder made under it. */
  placed?(): HeldEntry | undefined;
  /**
   * Returns the removed entry under its temporary name, after the step. Present if a transaction sets aside a
   * folder, which it removes once it is committed.
   */
  aside?(): HeldEntry | undefined;
}

/**
 * One change: a single step of the file system, or that of a tree, whose steps are mutations that name it as
 * their `whole`.
 */
export interface Mutation {
  readonly kind: MutationKind;
  /** The path from the base, links resolved, with U+FFFD for invalid UTF-8. For a rename, the new path. */
  readonly path: string;
  /** `false` if `path` or `from` has U+FFFD for invalid UTF-8. Default: true. */
  readonly isText?: boolean | undefined;
  /** The old path of a rename, or the path of a copied folder. */
  readonly from?: string;
  /** Whether it removes a folder again that the call made for a change that has failed. Default: false. */
  readonly takesBack?: boolean | undefined;
  /** The kind of the changed entry. A link is never followed. */
  readonly entry: EntryKind;
  /** The permissions before and after a change of mode. */
  readonly permissions?: { readonly before: Permissions; readonly after: Permissions };
  /** Whether it is that of a tree, whose steps are mutations too. */
  readonly isTree: boolean;
  /** The entries of a step that assigns or removes a name, except for a sweep. */
  readonly entries?: StepEntries | undefined;
  /** The name of a transaction, and the caller's label for it. */
  readonly transaction?: { readonly id: string; readonly label?: string | undefined };
  /**
   * The requester, the same object for all changes of one call; `undefined` if the worker acts on its own.
   */
  readonly requester: Requester | undefined;
  /** The change of a tree that this is a step of. The last step is that of the tree's own name. */
  readonly whole?: Mutation | undefined;
  /**
   * Returns `sha256:` and the digest, as lowercase hex, of the bytes of the file before the change;
   * `undefined` if no content is concerned, or it cannot be read. It is hashed on the first call, which has
   * to be in `before`.
   */
  revisionBefore(): string | undefined;
  /**
   * Like `revisionBefore`, but for the bytes afterwards, if any are written. Call it in `before` or `after`.
   */
  revisionAfter(): string | undefined;
}

/**
 * Receives every mutation, in the order in which they happen: `before` and `after` enclose a step, and those
 * of a tree enclose its steps. Both are called while the change is made, so they must be quick, must not
 * change the tree, and must not await. Their errors are reported, and have no effect.
 */
export interface MutationListener {
  before?(mutation: Mutation): void;
  /**
   * Called before the first step of a call, once its paths are locked. It may await, so that `before` has
   * little to read. Returns `undefined` if it need not.
   */
  catchUp?(): Promise<void> | undefined;
  /**
   * Called before the step that places a folder with everything in it, while that has a temporary name. It
   * may await, so that reading many entries keeps no other call waiting.
   */
  readPlaced?(entries: StepEntries): Promise<void>;
  /**
   * Called before a step that removes a folder with everything in it, outside of a transaction. It may await
   * for the same reason.
   */
  readRemoved?(entries: StepEntries, requester: Requester): Promise<void>;
  /** Called after the step that sets a folder aside, if that is done. It may await for the same reason. */
  readAside?(entries: StepEntries): Promise<void>;
  /**
   * Called shortly before a step that removes, replaces or moves a large file, to hash it if the listener is
   * going to need its revision, or to copy it. It may await for the same reason.
   */
  readAhead?(entries: StepEntries, requester: Requester | undefined): Promise<void>;
  /**
   * Called once the steps of a transaction are over, before `after`. It may await, so that reporting many
   * steps keeps no other call waiting.
   */
  atEnd?(transaction: Mutation, outcome: MutationOutcome): Promise<void>;
  /**
   * Called after a change. `failed` means that nothing was changed, or in a tree only the steps that were
   * `done`.
   */
  after?(mutation: Mutation, outcome: MutationOutcome): void;
}

export type MutationOutcome = "done" | "failed";
