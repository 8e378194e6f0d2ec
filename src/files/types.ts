/** The types that the verbs of this room share. */
import type { Jail, Name } from "../jail/folder.ts";
import type { EntryKind } from "../jail/kind.ts";
import type { TransactionMark } from "../jail/temporary.ts";
import type { EditLock } from "./edit-lock.ts";
import type { KeyedMutex } from "./keyed-mutex.ts";
import type { Mutations } from "./mutations.ts";

/** The configuration keys that decide how the disk is touched. */
export interface FilesConfig {
  readonly max_write_bytes: number;
  readonly fsync: boolean;
}

/** What the writing verbs share. */
export interface FilesContext {
  readonly jail: Jail;
  readonly config: FilesConfig;
  readonly locks: KeyedMutex;
  readonly mutations: Mutations;
  /** Held for the moment in which a file is compared with what a call has seen of it, and replaced, moved or removed. */
  readonly editLock: EditLock;
  /** Whether a temporary entry of a transaction is in use no more; absent: none is known to be. */
  readonly isAbandoned?: ((mark: TransactionMark) => boolean) | undefined;
}

/** A name in a folder. */
export interface Entry {
  /** As text; bytes that are not UTF-8 became U+FFFD, and then callers cannot send this name back. */
  readonly name: string;
  /** As it is on disk, for `Folder.child` and `Folder.enter`. */
  readonly raw: Name;
  /** What it was when the folder was read, links not followed. */
  readonly kind: EntryKind;
}

/** Some entries of a folder. */
export interface Page {
  readonly entries: readonly Entry[];
  /** Entries of the whole folder. */
  readonly total: number;
}

/** The most bytes a file may have, and the configuration key that says so. */
export interface Limit {
  readonly key: string;
  readonly bytes: number;
}
