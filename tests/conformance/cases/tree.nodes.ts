/** Trees with a limit on nodes or bytes: the nodes that are shown, and the notes in place of the others. */
import { mtime, type Tree } from "../../harness/tree.ts";
import { anySize, type Case, failure, textWith, wrongTypes } from "../case.ts";

const id = "coder::tree";

type Node = Readonly<Record<string, unknown>>;

const named = (path: string) => ({
  name: path.split("/").at(-1) || "base",
  path,
  mtime,
  non_accessible: false,
});
const file = (path: string): Node => ({ ...named(path), kind: "file", size: 0 });
const folder = (path: string, ...children: Node[]): Node => ({
  ...named(path),
  kind: "dir",
  size: anySize,
  children,
});
const unopened = (path: string, reason = "max_nodes"): Node => ({
  ...named(path),
  kind: "dir",
  size: anySize,
  truncated: { reason, shown: 0, hint: textWith(`Send a larger ${reason}`) },
});
const cut = (node: Node, shown: number, total: number, reason = "max_nodes"): Node => ({
  ...node,
  truncated: { reason, shown, total, hint: textWith(`${shown} of ${total}`) },
});

const tree: Tree = { "a/b/c": "", "a/b/d": "", "a/e": "", "f/g": "", "f/h": "", i: "" };
const whole = folder(
  "",
  folder("a", folder("a/b", file("a/b/c"), file("a/b/d")), file("a/e")),
  folder("f", file("f/g"), file("f/h")),
  file("i"),
);

interface Given {
  readonly tree?: Tree;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly omitted?: number;
}

const shows = (name: string, { tree: given = tree, payload, omitted }: Given, root: Node): Case => ({
  name: `${"max_bytes" in payload ? "max_bytes" : "max_nodes"}: ${name}`,
  tree: given,
  call: { function: id, payload },
  expect: { answer: { root, ...(omitted !== undefined && { omitted }) } },
});

export const cases: readonly Case[] = [
  shows("as many as there are", { payload: { max_nodes: 10 } }, whole),
  shows("more than there are", { payload: { max_nodes: 4294967295 } }, whole),
  shows(
    "one less cuts the deepest folder, at its end",
    { payload: { max_nodes: 9 } },
    folder(
      "",
      folder("a", cut(folder("a/b", file("a/b/c")), 1, 2), file("a/e")),
      folder("f", file("f/g"), file("f/h")),
      file("i"),
    ),
  ),
  shows(
    "a depth that has no room at all is not opened",
    { payload: { max_nodes: 8 } },
    folder("", folder("a", unopened("a/b"), file("a/e")), folder("f", file("f/g"), file("f/h")), file("i")),
  ),
  shows(
    "in the last depth the first folders come first",
    { payload: { max_nodes: 5 } },
    folder("", cut(folder("a", unopened("a/b")), 1, 2), cut(folder("f"), 0, 2), file("i")),
  ),
  shows(
    "nothing but the first depth",
    { payload: { max_nodes: 4 } },
    folder("", unopened("a"), unopened("f"), file("i")),
  ),
  shows("a part of the first depth", { payload: { max_nodes: 2 } }, cut(folder("", unopened("a")), 1, 3)),
  shows("the root alone", { payload: { max_nodes: 1 } }, unopened("")),
  shows("0 is 1", { payload: { max_nodes: 0 } }, unopened("")),
  shows("one file", { tree: { a: "" }, payload: { max_nodes: 2 } }, folder("", file("a"))),
  shows("an empty folder", { tree: {}, payload: { max_nodes: 2 } }, folder("")),
  shows("of a folder", { payload: { path: "f", max_nodes: 2 } }, cut(folder("f", file("f/g")), 1, 2)),
  shows(
    "max_depth ends before it",
    { payload: { max_nodes: 10, max_depth: 1 } },
    folder("", unopened("a", "max_depth"), unopened("f", "max_depth"), file("i")),
  ),
  shows(
    "what max_depth hides is not counted",
    { tree: { "a/b/c": "", "a/b/d": "", e: "" }, payload: { max_nodes: 4, max_depth: 2 } },
    folder("", folder("a", unopened("a/b", "max_depth")), file("e")),
  ),
  shows(
    "what per_folder_limit hides is not counted",
    { tree: { "a/1": "", "a/2": "", "a/3": "", b: "" }, payload: { max_nodes: 5, per_folder_limit: 2 } },
    folder("", cut(folder("a", file("a/1"), file("a/2")), 2, 3, "per_folder_limit"), file("b")),
  ),
  shows(
    "the narrower of the two limits is named",
    { tree: { "a/1": "", "a/2": "", "a/3": "", b: "" }, payload: { max_nodes: 4, per_folder_limit: 2 } },
    folder("", cut(folder("a", file("a/1")), 1, 3), file("b")),
  ),
  shows(
    "what is ignored is not counted",
    {
      tree: { ".ignore": "a\n", a: "", b: "" },
      payload: { max_nodes: 3, respect_gitignore: true },
      omitted: 1,
    },
    folder("", { ...file(".ignore"), size: 2 }, file("b")),
  ),
  shows(
    "an excluded folder is a node, and what is in it is none",
    { tree: { "dist/a": "", e: "" }, payload: { max_nodes: 3, use_default_excludes: true }, omitted: 0 },
    folder(
      "",
      {
        ...unopened("dist"),
        truncated: { reason: "default_excludes", shown: 0, hint: textWith("use_default_excludes") },
      },
      file("e"),
    ),
  ),
  shows(
    "denied entries are nodes",
    { tree: { "secrets/a": "", "secrets/b": "", z: "" }, payload: { max_nodes: 5 } },
    folder(
      "",
      folder(
        "secrets",
        { ...file("secrets/a"), non_accessible: true },
        { ...file("secrets/b"), non_accessible: true },
      ),
      file("z"),
    ),
  ),
  shows("more than there are", { payload: { max_bytes: 1000 } }, whole),
  shows("the root alone", { payload: { max_bytes: 0 } }, unopened("", "max_bytes")),
  shows("an empty folder", { tree: {}, payload: { max_bytes: 100 } }, folder("")),
  shows(
    "no room for what is in the folders",
    { payload: { max_bytes: 45 } },
    folder("", unopened("a", "max_bytes"), unopened("f", "max_bytes"), file("i")),
  ),
  shows(
    "folders come before files",
    {
      tree: { ...Object.fromEntries(Array.from("abcdefghij", (name) => [name, ""])), "z/y": "" },
      payload: { max_bytes: 60 },
    },
    cut(folder("", ...Array.from("abcdefg", file), unopened("z", "max_bytes")), 8, 11, "max_bytes"),
  ),
  shows(
    "max_nodes may be narrower",
    { payload: { max_bytes: 1000, max_nodes: 4 } },
    folder("", unopened("a"), unopened("f"), file("i")),
  ),
  ...["max_nodes", "max_bytes"].flatMap((field) => [
    {
      name: `${field} below 0`,
      tree,
      call: { function: id, payload: { [field]: -1 } },
      expect: { error: failure("C210", field) },
    },
    ...wrongTypes({
      function: id,
      field,
      takes: ["null", "a number"],
      says: [field],
      payload: (value) => ({ [field]: value }),
    }),
  ]),
];
