/** Random changes of a tree, for tests. */
import fc from "fast-check";
import type { Tree } from "../../../tests/harness/tree.ts";
import type { Requester } from "../disk/mutation.ts";
import type { Verbs } from "../operations/verbs.test-kit.ts";

const changedTree: Tree = {
  a: "a",
  b: { text: "b", mode: 0o600 },
  "read-only": { text: "r", mode: 0o444 },
  "s/a": "in s",
  "s/t/x": { text: "x", mode: 0o755 },
  "s/t/ln": { link: "../a" },
  "u/": { mode: 0o700 },
  "v/secrets/k": "denied",
  "v/a": "a",
  ln: { link: "s" },
  lf: { link: "s/a" },
  p: { fifo: true },
};

/**
 * Returns the tree for a list of changes. A file has a second name only if no mode is set, because a pending
 * tree does not know the other names that a mode also affects. Transactions set modes by `changeOwnMode`.
 */
export const treeFor = (list: readonly RandomChange[]): Tree =>
  list.some(({ op }) => op === "chmod") ? changedTree : { ...changedTree, same: { hardlink: "a" } };

const names = ["a", "b", "s", "t", "u", "x", "ln", "lf", "n"];
const path = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
      .map((all) => all.join("/")),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ".",
      "..",
      ".env",
      "v",
      "v/secrets/k",
      "read-only",
      "p",
      "same",
      "s/",
      "s/../a",
      "",
    ),
  },
);
const flag = fc.boolean();
const mostly = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false));
const mode = fc.constantFrom(0o644, 0o755, 0o700, 0o500);

export const anyChange = fc.oneof(
  fc.record({
    op: fc.constant("create"),
    path,
    text: fc.string({ maxLength: 5 }),
    mode,
    overwrite: flag,
    parents: mostly,
  }),
  fc.record({ op: fc.constant("update"), path, text: fc.string({ maxLength: 5 }) }),
  fc.record({ op: fc.constant("remove"), path, recursive: mostly }),
  fc.record({ op: fc.constant("move"), path, to: path, overwrite: flag, parents: mostly }),
  fc.record({ op: fc.constant("copy"), path, to: path, overwrite: flag, parents: mostly }),
  fc.record({ op: fc.constant("makeFolder"), path, mode, parents: mostly }),
  // A backend without descriptors cannot set the mode of a FIFO, which shows at the commit.
  fc.record({ op: fc.constant("chmod"), path: path.filter((path) => path !== "p"), mode }),
) as fc.Arbitrary<RandomChange>;

export interface RandomChange {
  readonly op: "create" | "update" | "remove" | "move" | "copy" | "makeFolder" | "chmod";
  readonly path: string;
  readonly to: string;
  readonly text: string;
  readonly mode: number;
  readonly overwrite: boolean;
  readonly parents: boolean;
  readonly recursive: boolean;
}

/** Makes a change by the verbs. */
export async function makeChange(files: Verbs, change: RandomChange, call: Requester): Promise<unknown> {
  const { op, path, to, text, mode, overwrite, parents, recursive } = change;
  if (op === "create") return await files.create(path, Buffer.from(text), { mode, overwrite, parents }, call);
  if (op === "update")
    return await files.update(path, (before) => Buffer.concat([before, Buffer.from(text)]), call, {
      project: ({ before, after }) => [String(before), String(Buffer.concat(after))],
    });
  if (op === "remove") return await files.remove(path, { recursive }, call);
  if (op === "makeFolder") return await files.makeFolder(path, { mode, parents, mayExist: true }, call);
  if (op === "chmod")
    return await files.changeMode(path, { mode, uid: undefined, gid: undefined, recursive: false }, call);
  return await files[op]({ from: path, to, overwrite, parents }, call);
}
