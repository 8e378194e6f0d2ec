import type { FilesConfig } from "../files/types.ts";
import type { Jail } from "../jail/folder.ts";
import type { TransactionMark } from "../jail/temporary.ts";
import { createEditLock, type EditLock, type RootEditLock } from "./edit-lock.ts";
import { EndedTransactions } from "./ended-transactions.ts";
import { createKeyedMutex, type KeyedMutex } from "./keyed-mutex.ts";
import type { MutationListener } from "./mutation.ts";
import { Mutations } from "./mutations.ts";

/** The disk below the folders that a jail holds, and the locks that separate its steps. */
export interface Disk {
  readonly jail: Jail;
  readonly config: FilesConfig;
  /** Held by a call on the paths that it changes. */
  readonly locks: KeyedMutex;
  readonly mutations: Mutations;
  /** Held while a file is compared with its expected state, and replaced, moved or removed. */
  readonly editLock: EditLock;
  /**
   * Returns whether a temporary entry of a transaction is no longer in use. If absent, none is known to be
   * abandoned.
   */
  readonly isAbandoned?: ((mark: TransactionMark) => boolean) | undefined;
  readonly ended: EndedTransactions;
}

export interface DiskOptions extends Pick<Disk, "jail" | "config" | "isAbandoned"> {
  /** The listeners, called for every change. */
  readonly listeners?: readonly MutationListener[];
  /** Receives the errors of listeners. */
  readonly onListenerError?: (error: unknown) => void;
  /** The lock of workers that share a state folder. */
  readonly rootEditLock?: RootEditLock | undefined;
}

/** Opens the disk for everything that changes it over one jail. */
export const openDisk = (options: DiskOptions): Disk => ({
  jail: options.jail,
  config: options.config,
  locks: createKeyedMutex(),
  mutations: new Mutations(options.listeners, options.onListenerError),
  isAbandoned: options.isAbandoned,
  ended: new EndedTransactions(),
  editLock: createEditLock(options.rootEditLock),
});
