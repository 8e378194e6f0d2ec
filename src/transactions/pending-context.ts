import type { Requester } from "../files/mutation.ts";
import type { WriteTarget } from "../files/path-lock.ts";
import type { FilesConfig } from "../files/types.ts";
import type { Jail } from "../jail/folder.ts";
import type { PendingChanges, PendingPlace } from "./pending-changes.ts";

/** What the verbs of a pending tree share. */
export interface PendingContext {
  /** The jail over the pending tree, which remembers what it has admitted. */
  readonly jail: Jail;
  readonly config: FilesConfig;
  readonly changes: PendingChanges;
  /** Remembers what is in a folder that is to be taken as a whole, where reads are remembered. */
  rememberTree(place: PendingPlace, requester: Requester): Promise<void>;
  /** Throws too-large when the new contents are larger together than they may be. */
  takeBytes(bytes: number): void;
}

/** Admits a path to the pending tree. */
export const admitPending = ({ jail }: Pick<PendingContext, "jail">, { path, ...options }: WriteTarget) =>
  jail.admit(path, options) as PendingPlace;

/** What is at a path; links are not followed. */
export type EntryState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly mode: number; readonly revision: string | undefined }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number }
  | { readonly kind: "other" };
