/** The types that the verbs of this room share. */
import type { Jail, Name } from "../jail/folder.ts";
import type { EntryKind } from "../jail/kind.ts";
import type { TransactionMark } from "../jail/temporary.ts";
import type { EditLock } from "./edit-lock.ts";
import type { KeyedMutex } from "./keyed-mutex.ts";
import type { Mutations } from "./mutations.ts";

/** The configuration keys that concern the disk. */
export interface FilesConfig {
  readonly max_write_bytes: number;
  readonly fsync: boolean;
}

/** The context that the writing verbs share. */
export interface FilesContext {
  readonly jail: Jail;
  readonly config: FilesConfig;
  readonly locks: KeyedMutex;
  readonly mutations: Mutations;
  /** Held while a file is compared with its expected state, and replaced, moved or removed. */
  readonly editLock: EditLock;
  /**
   * Returns whether a temporary entry of a transaction is no longer in use. If absent, none is known to be
   * abandoned.
   */
  readonly isAbandoned?: ((mark: TransactionMark) => boolean) | undefined;
}

/** A name in a folder. */
export interface Entry {
  /** The name as text, with U+FFFD for invalid UTF-8; callers cannot send such a name back. */
  readonly name: string;
  /** The name on disk, for `Folder.child` and `Folder.enter`. */
  readonly raw: Name;
  /** The kind of the entry when the folder was read, links not followed. */
  readonly kind: EntryKind;
}

/** Some entries of a folder. */
export interface Page {
  readonly entries: readonly Entry[];
  /** The number of entries in the whole folder. */
  readonly total: number;
}

/** Maximum bytes of a file, and the configuration key that sets it. */
export interface Limit {
  readonly key: string;
  readonly bytes: number;
}
