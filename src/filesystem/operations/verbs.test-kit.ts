/** The verbs on one tree, for tests. */
import type { Requester } from "../disk/mutation.ts";
import { changeMode } from "./change-mode.ts";
import { type Copying, copyPath } from "./copy.ts";
import { type Creation, createFileAt } from "./create.ts";
import type { DiskTree } from "./disk-tree.ts";
import { type Making, makeFolderAt } from "./make-folder.ts";
import { type Moving, movePath } from "./move.ts";
import { type Removal, removePath, unlinkPath } from "./remove.ts";
import { renamePath } from "./rename.ts";
import type { TwoPaths } from "./require-target.ts";
import { type Storing, storeFile } from "./store.ts";
import { type Bodies, type Content, FileEdit } from "./update.ts";
import type { WritableTree } from "./writable-tree.ts";

interface UpdateOptions<T> {
  /** Makes the result from both contents, which it must not keep. */
  readonly project?: (bodies: Bodies) => T;
}

type Change = (before: Buffer) => Buffer | Content | Promise<Buffer | Content>;
type Options<Request, Positional extends keyof Request = never> = Omit<Request, "path" | Positional>;

/** Returns the verbs on a tree. */
export const verbsOn = (tree: WritableTree) => ({
  create: (path: string, content: Buffer, options: Options<Creation, "content">, requester: Requester) =>
    createFileAt(tree, { path, content, ...options }, requester),

  async update<T>(
    path: string,
    change: Change,
    requester: Requester,
    { project = () => undefined as T }: UpdateOptions<T> = {},
  ): Promise<T> {
    await using edit = await FileEdit.begin(tree, path, requester);
    for (;;) {
      const { before } = edit;
      const made = await change(before);
      const after = made instanceof Uint8Array ? [made] : made;
      const written = edit.write(after);
      const result = project({ before, after });
      if (await written) return result;
    }
  },

  remove: (path: string, options: Options<Removal>, requester: Requester) =>
    removePath(tree, { path, ...options }, requester),
  unlink: (path: string, options: Options<Removal>, requester: Requester) =>
    unlinkPath(tree, { path, ...options }, requester),
  makeFolder: (path: string, options: Options<Making>, requester: Requester) =>
    makeFolderAt(tree, { path, ...options }, requester),
  changeMode: (path: string, options: Options<Parameters<typeof changeMode>[1]>, requester: Requester) =>
    changeMode(tree, { path, ...options }, requester),
  move: (moving: Moving, requester: Requester) => movePath(tree, moving, requester),
  copy: (copying: Copying, requester: Requester) => copyPath(tree, copying, requester),
});

export type Verbs = ReturnType<typeof verbsOn>;

/** Returns the verbs that only the disk has. */
export const diskVerbsOn = (tree: DiskTree) => ({
  ...verbsOn(tree),
  rename: (paths: TwoPaths, requester: Requester) => renamePath(tree, paths, requester),
  store: (
    path: string,
    content: Storing["content"],
    options: Options<Storing, "content">,
    requester: Requester,
  ) => storeFile(tree, { path, content, ...options }, requester),
});

export type DiskVerbs = ReturnType<typeof diskVerbsOn>;
