/** A tree as an undo leaves it: its operations, without an implementation. */

/** The state of a path, without following links. */
export type TreeState =
  | { readonly kind: "absent" | "other" }
  | { readonly kind: "file"; readonly mode: number; readonly revision: string }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number };

/**
 * The tree in the state that the undo so far leaves. Paths are relative to the base; everything throws a
 * `Refusal`.
 */
export interface RestoredTree {
  state(path: string): TreeState;
  /** Returns whether both are names of one entry, which the second one only spells differently. */
  isRespelling(path: string, other: string): boolean;
  /** Makes a file with exactly this mode, or replaces a file or a link by it. */
  putFile(path: string, content: Buffer, mode: number): Promise<void>;
  /** Makes a link, or replaces a file or a link by it. */
  putLink(path: string, text: Buffer): Promise<void>;
  makeFolder(path: string, mode: number): Promise<void>;
  /** Returns the tree for what was in a folder that was removed, and has been made again at `path`. */
  inRemade(path: string): RestoredTree;
  /** Removes a file, a link, or an empty folder. */
  remove(path: string): Promise<void>;
  /** Moves an entry to a name that is free. */
  move(from: string, to: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
}
