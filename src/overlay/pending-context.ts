import type { WriteTarget } from "../changes/path-lock.ts";
import type { Requester } from "../disk/mutation.ts";
import type { FilesConfig } from "../files/types.ts";
import type { Jail } from "../jail/folder.ts";
import type { PendingChanges, PendingPlace } from "./pending-changes.ts";

/** The context that the verbs of a pending tree share. */
export interface PendingContext {
  /** The jail over the pending tree, which remembers the paths that it has admitted. */
  readonly jail: Jail;
  readonly config: FilesConfig;
  readonly changes: PendingChanges;
  /** Remembers the contents of a folder that is about to be used as a whole, if reads are remembered. */
  rememberTree(place: PendingPlace, requester: Requester): Promise<void>;
  /** Counts the bytes of new contents. Throws too-large if their total exceeds the limit. */
  takeBytes(bytes: number): void;
}

/** Admits a path to the pending tree. */
export const admitPending = ({ jail }: Pick<PendingContext, "jail">, { path, ...options }: WriteTarget) =>
  jail.admit(path, options) as PendingPlace;

/** The state of a path, without following links. */
export type EntryState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly mode: number; readonly revision: string | undefined }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number }
  | { readonly kind: "other" };
