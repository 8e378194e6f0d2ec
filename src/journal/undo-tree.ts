/** What an undo needs of a tree. */

/** What has a name, links not followed. */
export type TreeState =
  | { readonly kind: "absent" | "other" }
  | { readonly kind: "file"; readonly mode: number; readonly revision: string }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number };

/** The tree as the undo so far leaves it. Paths are from the base; everything throws a `Refusal`. */
export interface UndoTree {
  state(path: string): TreeState;
  /** Whether both are names of one entry, which the second one only spells in another way. */
  isRespelling(path: string, other: string): boolean;
  /** Makes a file with exactly this mode, or replaces a file or a link by it. */
  putFile(path: string, content: Buffer, mode: number): Promise<void>;
  /** Makes a link, or replaces a file or a link by it. */
  putLink(path: string, text: Buffer): Promise<void>;
  makeFolder(path: string, mode: number): Promise<void>;
  /** Removes a file, a link, or a folder that is empty. */
  remove(path: string): Promise<void>;
  /** Gives an entry a name that nothing has. */
  move(from: string, to: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
}
