import { mtime, type Tree } from "../../harness/tree.ts";
import { anySize, type Case, textWith } from "../case.ts";

const id = "coder::tree";

type Node = Readonly<Record<string, unknown>>;

const named = (path: string) => ({
  name: path.split("/").at(-1) || "base",
  path,
  mtime,
  non_accessible: false,
});
const file = (path: string, size = 0): Node => ({ ...named(path), kind: "file", size });
const unopened = (path: string): Node => ({ ...named(path), kind: "dir", size: anySize });
const folder = (path: string, ...children: Node[]): Node => ({ ...unopened(path), children });
const excluded = (path: string): Node => ({
  ...unopened(path),
  truncated: { reason: "default_excludes", shown: 0, hint: textWith("use_default_excludes") },
});

interface Given {
  readonly tree: Tree;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Number of omitted entries that the answer reports, if it has that field. */
  readonly omitted?: number;
}

const shows = (name: string, { tree, payload = {}, config = {}, omitted }: Given, root: Node): Case => ({
  name,
  config,
  tree,
  call: { function: id, payload },
  expect: { answer: { root, ...(omitted !== undefined && { omitted }) } },
});

const ignoring: Tree = {
  ".gitignore": "*.log\n/out/\n",
  "a.log": "",
  "c/b.log": "",
  "c/out/x": "",
  "out/x": "",
};
const kept = folder("", file(".gitignore", 12), folder("c", folder("c/out", file("c/out/x"))));

export const cases: readonly Case[] = [
  shows(
    "respect_gitignore leaves out files and folders",
    { tree: ignoring, payload: { respect_gitignore: true }, omitted: 3 },
    kept,
  ),
  shows(
    "profile agent: ignore files count",
    { tree: ignoring, config: { profile: "agent" }, omitted: 3 },
    kept,
  ),
  shows(
    "respect_gitignore: an ignored folder as path",
    { tree: ignoring, payload: { respect_gitignore: true, path: "out" }, omitted: 0 },
    folder("out", file("out/x")),
  ),
  shows(
    "respect_gitignore: a path below goes by the files above it",
    { tree: ignoring, payload: { respect_gitignore: true, path: "c" }, omitted: 1 },
    folder("c", folder("c/out", file("c/out/x"))),
  ),
  shows(
    "respect_gitignore: a nearer file takes back",
    {
      tree: { ".gitignore": "a\n", "c/.gitignore": "!a\n", "c/a": "", a: "" },
      payload: { respect_gitignore: true },
      omitted: 1,
    },
    folder("", file(".gitignore", 2), folder("c", file("c/.gitignore", 3), file("c/a"))),
  ),
  shows(
    "what is ignored does not count",
    {
      tree: { ".gitignore": "a*\n", a1: "", a2: "", b: "", c: "" },
      payload: { respect_gitignore: true, per_folder_limit: 2 },
      omitted: 2,
    },
    {
      ...folder("", file(".gitignore", 3), file("b")),
      truncated: { reason: "per_folder_limit", shown: 2, total: 3, hint: textWith("coder::list-folder") },
    },
  ),
  shows(
    "use_default_excludes shows the folder and does not open it",
    {
      tree: { "node_modules/x/y": "", "a/dist/z": "", b: "" },
      payload: { use_default_excludes: true },
      omitted: 0,
    },
    folder("", folder("a", excluded("a/dist")), file("b"), excluded("node_modules")),
  ),
  shows(
    "use_default_excludes: such a folder as path",
    { tree: { "dist/target/z": "" }, payload: { use_default_excludes: true, path: "dist" }, omitted: 0 },
    folder("dist", folder("dist/target", file("dist/target/z"))),
  ),
  shows(
    "default_exclude_globs that are for files",
    {
      tree: { "a.min.js": "", "a.js": "" },
      payload: { use_default_excludes: true },
      config: { default_exclude_globs: ["**/*.min.js"] },
      omitted: 1,
    },
    folder("", file("a.js")),
  ),
  shows(
    "profile agent: default excludes",
    { tree: { "dist/z": "" }, config: { profile: "agent" }, omitted: 0 },
    folder("", excluded("dist")),
  ),
  shows(
    "no filter by default",
    { tree: { ".gitignore": "a\n", a: "", "dist/z": "" } },
    folder("", file(".gitignore", 2), file("a"), folder("dist", file("dist/z"))),
  ),
  shows(
    "include_hidden false",
    { tree: { ".a": "", ".b/c": "", "d/.e": "", "d/f": "" }, payload: { include_hidden: false }, omitted: 3 },
    folder("", folder("d", file("d/f"))),
  ),
  shows(
    "include_hidden false, and path names a hidden folder",
    { tree: { ".b/c": "", ".b/.d": "" }, payload: { include_hidden: false, path: ".b" }, omitted: 1 },
    folder(".b", file(".b/c")),
  ),
  shows(
    "include_hidden false: hidden ignore files count all the same",
    {
      tree: { ".gitignore": "a\n", a: "", b: "" },
      payload: { include_hidden: false, respect_gitignore: true },
      omitted: 2,
    },
    folder("", file("b")),
  ),
  shows(
    "include_hidden true",
    { tree: { ".a": "" }, payload: { include_hidden: true } },
    folder("", file(".a")),
  ),
];
