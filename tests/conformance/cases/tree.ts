import { mtime, type Tree } from "../../harness/tree.ts";
import {
  anySize,
  type Case,
  type Failure,
  failure,
  notAnObject,
  payloadOf,
  textWith,
  wrongTypes,
} from "../case.ts";

const id = "coder::tree";

type Node = Readonly<Record<string, unknown>> & { readonly path: string };

const nameOf = (path: string): string => path.split("/").at(-1) || "base";

const file = (path: string, size = 0): Node => ({
  name: nameOf(path),
  path,
  kind: "file",
  size,
  mtime,
  non_accessible: false,
});
const link = (path: string, target: string): Node => ({ ...file(path, target.length), kind: "symlink" });
const folder = (path: string, children: readonly Node[]): Node => ({ ...unopened(path), children });
const unopened = (path: string): Node => ({ ...file(path), kind: "dir", size: anySize });
const denied = (node: Node): Node => ({ ...node, non_accessible: true });

const cutByDepth = (path: string): Node => ({
  ...unopened(path),
  truncated: { reason: "max_depth", shown: 0, hint: textWith("max_depth") },
});

const cutByWidth = (path: string, total: number, children: readonly Node[]): Node => ({
  ...folder(path, children),
  truncated: {
    reason: "per_folder_limit",
    shown: children.length,
    total,
    hint: textWith("coder::list-folder"),
  },
});

const shows = (name: string, tree: Tree, payload: Record<string, unknown>, root: Node): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { answer: { root } },
});

const refuses = (name: string, tree: Tree, path: string, error: Failure): Case => ({
  name,
  tree,
  call: { function: id, payload: { path } },
  expect: { error },
});

const deep: Tree = { "1/2/3/4/5/x": "", "1/a": "1" };

const shapes: Case[] = [
  shows(
    "no field at all shows the base",
    { a: "1", "sub/b": "22" },
    {},
    folder("", [file("a", 1), folder("sub", [file("sub/b", 2)])]),
  ),
  shows("an empty base", {}, {}, folder("", [])),
  shows("an empty folder has children, none", { "empty/": null }, {}, folder("", [folder("empty", [])])),
  shows(
    "the limits may be null",
    { a: "1" },
    { max_depth: null, per_folder_limit: null },
    folder("", [file("a", 1)]),
  ),
  shows("a folder", { "s/t/a": "1" }, { path: "s/t" }, folder("s/t", [file("s/t/a", 1)])),
  shows(
    "a folder however it is written",
    { "s/t/a": "1" },
    { path: "./s//t/" },
    folder("s/t", [file("s/t/a", 1)]),
  ),
  shows("the base by ..", { "s/a": "1" }, { path: "s/.." }, folder("", [folder("s", [file("s/a", 1)])])),
  shows(
    "a folder through a link has its own name and path",
    { "s/a": "1", ln: { link: "s" } },
    { path: "ln" },
    folder("s", [file("s/a", 1)]),
  ),
  shows(
    "children are sorted by the bytes of their names",
    { Z: "", "a.b": "", "a/x": "", é: "", "😀": "", "\uffee": "" },
    {},
    folder("", [file("Z"), folder("a", [file("a/x")]), file("a.b"), file("é"), file("\uffee"), file("😀")]),
  ),
  shows(
    "kinds, and links that are never descended",
    {
      "dir/x": "1",
      ln: { link: "dir" },
      out: { link: ".." },
      dead: { link: "none" },
      loop: { link: "." },
      pipe: { fifo: true },
    },
    {},
    folder("", [
      link("dead", "none"),
      folder("dir", [file("dir/x", 1)]),
      link("ln", "dir"),
      link("loop", "."),
      link("out", ".."),
      { ...file("pipe"), kind: "other" },
    ]),
  ),
  shows("a name that is not UTF-8", { "bad\udcff": "1" }, {}, folder("", [file("bad\ufffd", 1)])),
  shows("hidden files", { ".a/.b": "" }, {}, folder("", [folder(".a", [file(".a/.b")])])),
];

const depths: Case[] = [
  shows("depth 0 shows the folder alone", deep, { max_depth: 0 }, cutByDepth("")),
  shows("depth 1", deep, { max_depth: 1 }, folder("", [cutByDepth("1")])),
  shows("depth 2", deep, { max_depth: 2 }, folder("", [folder("1", [cutByDepth("1/2"), file("1/a", 1)])])),
  shows(
    "the default depth is 4",
    deep,
    {},
    folder("", [folder("1", [folder("1/2", [folder("1/2/3", [cutByDepth("1/2/3/4")])]), file("1/a", 1)])]),
  ),
  shows(
    "depth counts from the folder asked for",
    deep,
    { path: "1/2", max_depth: 1 },
    folder("1/2", [cutByDepth("1/2/3")]),
  ),
  shows(
    "an empty folder at the depth is not looked into",
    { "a/b/": null },
    { max_depth: 2 },
    folder("", [folder("a", [cutByDepth("a/b")])]),
  ),
  shows("an empty base at depth 0", {}, { max_depth: 0 }, cutByDepth("")),
  shows(
    "a depth that is never reached",
    { "a/b": "" },
    { max_depth: 60 },
    folder("", [folder("a", [file("a/b")])]),
  ),
  shows(
    "the greatest depth",
    { "a/b": "" },
    { max_depth: 4294967295 },
    folder("", [folder("a", [file("a/b")])]),
  ),
  {
    ...shows("the default depth is configured", deep, {}, folder("", [cutByDepth("1")])),
    config: { tree_default_depth: 1 },
  },
  {
    ...shows(
      "max_depth goes before the default",
      { "a/b/c": "" },
      { max_depth: 3 },
      folder("", [folder("a", [folder("a/b", [file("a/b/c")])])]),
    ),
    config: { tree_default_depth: 1 },
  },
];

const widths: Case[] = [
  shows(
    "as many entries as the limit",
    { a: "", b: "" },
    { per_folder_limit: 2 },
    folder("", [file("a"), file("b")]),
  ),
  shows(
    "one entry more than the limit",
    { a: "", b: "", c: "" },
    { per_folder_limit: 2 },
    cutByWidth("", 3, [file("a"), file("b")]),
  ),
  shows("limit 0 is 1", { a: "", b: "" }, { per_folder_limit: 0 }, cutByWidth("", 2, [file("a")])),
  shows("the greatest limit", { a: "" }, { per_folder_limit: 4294967295 }, folder("", [file("a")])),
  shows(
    "the limit is per folder",
    { "a/1": "", "a/2": "", "b/1": "" },
    { per_folder_limit: 1 },
    cutByWidth("", 2, [cutByWidth("a", 2, [file("a/1")])]),
  ),
  shows(
    "the default limit is 50",
    Object.fromEntries(numbers(51).map((name) => [`${name}.`, ""])),
    {},
    cutByWidth(
      "",
      51,
      numbers(50).map((name) => file(`${name}.`)),
    ),
  ),
  shows(
    "50 entries are not cut",
    Object.fromEntries(numbers(50).map((name) => [`${name}.`, ""])),
    {},
    folder(
      "",
      numbers(50).map((name) => file(`${name}.`)),
    ),
  ),
  {
    ...shows("the default limit is configured", { a: "", b: "" }, {}, cutByWidth("", 2, [file("a")])),
    config: { tree_per_folder_limit: 1 },
  },
  shows("depth goes before width", { a: "", b: "" }, { max_depth: 0, per_folder_limit: 1 }, cutByDepth("")),
];

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, n) => String(n).padStart(3, "0"));
}

const accessible: Case[] = [
  shows(
    "files that are still being written are not there, nor counted",
    { "s/.coder-tmp-x": "half", "s/a": "1", "s/b": "1" },
    { per_folder_limit: 1 },
    folder("", [cutByWidth("s", 2, [file("s/a", 1)])]),
  ),
  shows(
    "denied entries are shown and flagged",
    { ".env": "denied-secret", "a.pem": "1", "secrets/x": "1", b: "1" },
    {},
    folder("", [
      denied(file(".env", 13)),
      denied(file("a.pem", 1)),
      file("b", 1),
      folder("secrets", [denied(file("secrets/x", 1))]),
    ]),
  ),
  shows(
    "a denied folder is shown and not descended",
    { "secrets/in/x": "1" },
    {},
    folder("", [folder("secrets", [denied(unopened("secrets/in"))])]),
  ),
  shows(
    "a link is flagged by its own path, not by where it leads",
    { ".env": "1", ln: { link: ".env" } },
    {},
    folder("", [denied(file(".env", 1)), link("ln", ".env")]),
  ),
  {
    ...shows(
      "what a deny glob names as a folder is not descended",
      { "private/x": "1" },
      {},
      folder("", [denied(unopened("private"))]),
    ),
    config: { non_accessible_globs: ["private"] },
  },
  {
    ...shows("nothing is flagged by no glob", { ".env": "1" }, {}, folder("", [file(".env", 1)])),
    config: { non_accessible_globs: [] },
  },
  refuses("a denied folder is not opened", { "secrets/in/x": "1" }, "secrets/in", failure("C211")),
];

const there: Tree = {
  "../outside/secret.txt": "outside-secret",
  "a.txt": "a",
  "sub/b": "b",
  out: { link: "../outside" },
  dead: { link: "none" },
};

const refusals: Case[] = [
  refuses("a file", there, "a.txt", failure("C210", "folder")),
  refuses("a FIFO", { pipe: { fifo: true } }, "pipe", failure("C210", "folder")),
  refuses("a link to a file", { a: "a", ln: { link: "a" } }, "ln", failure("C210", "folder")),
  refuses("a missing folder", there, "missing", failure("C211", "not found")),
  refuses("a path through a file", there, "a.txt/x", failure("C211")),
  refuses("the folder above", there, "..", failure("C215")),
  refuses("a link out", there, "out", failure("C215", "link")),
  refuses("a dangling link", there, "dead", failure("C215")),
  refuses("an empty path", there, "", failure("C210", "empty")),
  refuses("an absolute path", there, "/", failure("C210", "absolute")),
  refuses("a NUL", there, "\0", failure("C210")),
];

const payloads: Case[] = [
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "path",
    takes: ["a string"],
    says: ["path", "string"],
    payload: (path) => ({ path }),
  }),
  ...["max_depth", "per_folder_limit"].flatMap((field) => [
    ...wrongTypes({
      function: id,
      field,
      takes: ["a number", "null"],
      says: [field, "whole number"],
      payload: (value) => ({ [field]: value }),
    }),
    ...[-1, 4294967296].map((value) => ({
      name: `${field} is ${value}`,
      tree: there,
      call: { function: id, payload: { [field]: value } },
      expect: { error: failure("C210", field) },
    })),
  ]),
  shows(
    "unknown fields are ignored",
    { "a/b": "" },
    payloadOf('{"depth":0,"_caller_worker_id":"x","__proto__":{"max_depth":0}}') as Record<string, unknown>,
    folder("", [folder("a", [file("a/b")])]),
  ),
];

export const cases: readonly Case[] = [
  ...shapes,
  ...depths,
  ...widths,
  ...accessible,
  ...refusals,
  ...payloads,
];
