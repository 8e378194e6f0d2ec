/** A tree as an undo leaves it: its operations, without an implementation. */
import type { Metadata } from "../disk/metadata.ts";

/** The state of a path, without following links. */
export type TreeState =
  | { readonly kind: "absent" }
  /** `identity` is present for an entry on disk: see `entryIdentityOf`. */
  | { readonly kind: "other"; readonly identity?: string | undefined }
  /** `identity` is present for a large file on disk, and `revision` is empty if that was not hashed. */
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly revision: string;
      readonly identity?: string | undefined;
    }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number };

/**
 * The tree in the state that the undo so far leaves. Paths are relative to the base; everything throws a
 * `Refusal`.
 */
export interface RestoredTree {
  /**
   * Returns the state of a path, after hashing a large file in slices. A file with the identity `unhashed` is
   * not hashed.
   */
  stateInSlices(path: string, unhashed?: string): TreeState | Promise<TreeState>;
  /** Returns the folder above a path that is a link now, if one is: the path would lead to another place. */
  linkAbove(path: string): string | undefined;
  /** Returns the outermost path above `path` that is not a folder now, and its state. */
  nonFolderAbove(path: string): { readonly path: string; readonly state: TreeState } | undefined;
  /** Returns the path of an entry that the caller may see in a folder, if it has any. */
  entryIn(folder: string): string | undefined;
  /** Returns whether both paths name one entry, in different spellings. */
  isRespelling(path: string, other: string): boolean;
  /**
   * Creates a file with this mode and, if permitted, owner, replacing a file or a link. Set-id bits are for
   * the owner alone.
   */
  putFile(path: string, content: Buffer, metadata: Pick<Metadata, "mode" | "owner">): Promise<void>;
  /** Creates a link, replacing a file or a link. */
  putLink(path: string, text: Buffer): Promise<void>;
  makeFolder(path: string, mode: number): Promise<void>;
  /** Returns the tree for the former contents of a removed folder that was created again at `path`. */
  inRemade(path: string): RestoredTree;
  /** Removes a file, a link, or an empty folder. */
  remove(path: string): Promise<void>;
  /** Moves an entry to a free name. */
  move(from: string, to: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
}
