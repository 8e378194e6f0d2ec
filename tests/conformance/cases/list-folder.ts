import { mtime, type Tree } from "../../harness/tree.ts";
import { anySize, type Case, type Failure, failure, notAnObject, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::list-folder";

interface Listed {
  readonly name: string;
  readonly kind: "file" | "dir" | "symlink" | "other";
  readonly size: unknown;
  readonly mtime: number;
  readonly non_accessible: boolean;
}

const file = (name: string, size: number, non_accessible = false): Listed => ({
  name,
  kind: "file",
  size,
  mtime,
  non_accessible,
});
const folder = (name: string, non_accessible = false): Listed => ({
  name,
  kind: "dir",
  size: anySize,
  mtime,
  non_accessible,
});
const link = (name: string, target: string): Listed => ({
  name,
  kind: "symlink",
  size: target.length,
  mtime,
  non_accessible: false,
});

const page = (entries: readonly Listed[], differs: Record<string, unknown> = {}) => ({
  path: ".",
  page: 1,
  page_size: 100,
  total: entries.length,
  has_more: false,
  entries,
  ...differs,
});

const lists = (name: string, tree: Tree, payload: Record<string, unknown>, answer: unknown): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { answer },
});

const refuses = (name: string, tree: Tree, path: string, error: Failure): Case => ({
  name,
  tree,
  call: { function: id, payload: { path } },
  expect: { error },
});

const abc: Tree = { a: "1", b: "22", "c/x": "x" };
const listedAbc = [file("a", 1), file("b", 2), folder("c")];

const defaults: Case[] = [
  lists("no field at all lists the base", abc, {}, page(listedAbc)),
  lists("page_size may be null", abc, { page_size: null }, page(listedAbc)),
  lists("an empty folder", {}, {}, page([])),
  lists(
    "a folder",
    { "sub/a": "1", "sub/b/": null },
    { path: "sub" },
    page([file("a", 1), folder("b")], { path: "sub" }),
  ),
  lists(
    "the path is echoed as it was sent",
    { "sub/a": "1" },
    { path: "./sub//" },
    page([file("a", 1)], { path: "./sub//" }),
  ),
  lists("the base by ..", { "sub/a": "1" }, { path: "sub/.." }, page([folder("sub")], { path: "sub/.." })),
  lists(
    "a link to a folder inside",
    { "sub/a": "1", ln: { link: "sub" } },
    { path: "ln" },
    page([file("a", 1)], { path: "ln" }),
  ),
  {
    ...lists(
      "the default page size is configured",
      abc,
      {},
      page(listedAbc.slice(0, 2), { page_size: 2, total: 3, has_more: true }),
    ),
    config: { list_default_page_size: 2 },
  },
  {
    ...lists(
      "the default page size is capped too",
      abc,
      {},
      page(listedAbc.slice(0, 2), { page_size: 2, total: 3, has_more: true }),
    ),
    config: { list_default_page_size: 50, list_max_page_size: 2 },
  },
];

const order: Case[] = [
  lists(
    "names are sorted by their bytes, folders and files mixed",
    { "😀": "", Ａ: "", é: "", "a.b": "", "a/x": "", _: "", Z: "", "9": "", "10": "", "0": "" },
    {},
    page([
      file("0", 0),
      file("10", 0),
      file("9", 0),
      file("Z", 0),
      file("_", 0),
      folder("a"),
      file("a.b", 0),
      file("é", 0),
      file("Ａ", 0),
      file("😀", 0),
    ]),
  ),
  lists(
    "code points beyond the basic plane sort behind all others",
    { "😀": "", "\uffee": "" },
    {},
    page([file("\uffee", 0), file("😀", 0)]),
  ),
  lists(
    "a shorter name comes first",
    { ab: "", a: "", abc: "" },
    {},
    page([file("a", 0), file("ab", 0), file("abc", 0)]),
  ),
];

const kinds: Case[] = [
  lists(
    "kinds come from the entry itself, not from where it leads",
    {
      "dir/x": "x",
      file: "four",
      "link-to-dir": { link: "dir" },
      "link-to-file": { link: "file" },
      pipe: { fifo: true },
    },
    {},
    page([
      folder("dir"),
      file("file", 4),
      link("link-to-dir", "dir"),
      link("link-to-file", "file"),
      { name: "pipe", kind: "other", size: 0, mtime, non_accessible: false },
    ]),
  ),
  lists(
    "links out, dangling and in a loop are listed like any other",
    {
      "../outside/secret.txt": "outside-secret",
      dangling: { link: "none" },
      loop: { link: "loop" },
      out: { link: "../outside" },
    },
    {},
    page([link("dangling", "none"), link("loop", "loop"), link("out", "../outside")]),
  ),
  lists("the size of a file is in bytes", { a: "é" }, {}, page([file("a", 2)])),
  lists("a hidden file", { ".a": "1" }, {}, page([file(".a", 1)])),
  lists(
    "a name that is not UTF-8 is shown with U+FFFD",
    { "bad\udcff.txt": "1", ok: "22" },
    {},
    page([file("bad\ufffd.txt", 1), file("ok", 2)]),
  ),
  lists(
    "odd names",
    { "a\nb": "", 'q"': "", " ": "" },
    {},
    page([file(" ", 0), file("a\nb", 0), file('q"', 0)]),
  ),
];

const accessible: Case[] = [
  lists(
    "files that are still being written are not there",
    { ".coder-tmp-x": "half", a: "1", ".coder-tm": "1" },
    {},
    page([file(".coder-tm", 1), file("a", 1)]),
  ),
  lists(
    "denied entries are listed and flagged",
    { ".env": "denied-secret", ".env.local": "denied-secret", "a.pem": "x", "b.key": "x", c: "c" },
    {},
    page([
      file(".env", 13, true),
      file(".env.local", 13, true),
      file("a.pem", 1, true),
      file("b.key", 1, true),
      file("c", 1),
    ]),
  ),
  lists(
    "what a folder of secrets holds is flagged",
    { "secrets/x": "x", "secrets/y/z": "z" },
    { path: "secrets" },
    page([file("x", 1, true), folder("y", true)], { path: "secrets" }),
  ),
  lists(
    "a link is flagged by its own path, as the schema says, not by where it leads",
    { ".env": "x", ln: { link: ".env" } },
    {},
    page([file(".env", 1, true), link("ln", ".env")]),
  ),
  {
    ...lists(
      "a denied folder is listed and flagged",
      { "private/x": "x" },
      {},
      page([folder("private", true)]),
    ),
    config: { non_accessible_globs: ["private"] },
  },
  {
    ...refuses("a denied folder is not opened", { "private/x": "x" }, "private", failure("C211")),
    config: { non_accessible_globs: ["private"] },
  },
  {
    ...lists("nothing is flagged by no glob", { ".env": "x" }, {}, page([file(".env", 1)])),
    config: { non_accessible_globs: [] },
  },
];

const pages: Case[] = [
  lists(
    "the first of two pages",
    abc,
    { page_size: 2 },
    page(listedAbc.slice(0, 2), { page_size: 2, total: 3, has_more: true }),
  ),
  lists(
    "the last page",
    abc,
    { page: 2, page_size: 2 },
    page(listedAbc.slice(2), { page: 2, page_size: 2, total: 3 }),
  ),
  lists("a page that ends exactly at the end", abc, { page_size: 3 }, page(listedAbc, { page_size: 3 })),
  lists(
    "a last page that is full",
    { a: "", b: "" },
    { page: 2, page_size: 1 },
    page([file("b", 0)], { page: 2, page_size: 1, total: 2 }),
  ),
  lists(
    "a page past the end is empty",
    abc,
    { page: 3, page_size: 2 },
    page([], { page: 3, page_size: 2, total: 3 }),
  ),
  lists(
    "a page far past the end",
    abc,
    { page: 4294967295, page_size: 1000 },
    page([], { page: 4294967295, page_size: 1000, total: 3 }),
  ),
  lists("page 0 is page 1", abc, { page: 0 }, page(listedAbc)),
  lists(
    "page_size 0 is 1",
    abc,
    { page_size: 0 },
    page(listedAbc.slice(0, 1), { page_size: 1, total: 3, has_more: true }),
  ),
  lists("page_size is capped at 1000", abc, { page_size: 4294967295 }, page(listedAbc, { page_size: 1000 })),
  {
    ...lists(
      "page_size is capped by list_max_page_size",
      abc,
      { page_size: 3 },
      page(listedAbc.slice(0, 2), { page_size: 2, total: 3, has_more: true }),
    ),
    config: { list_max_page_size: 2 },
  },
  lists(
    "the cap holds with more entries than it",
    numbered(1001),
    { page_size: 2000 },
    page(
      names(1001)
        .slice(0, 1000)
        .map((name) => file(name, 0)),
      { page_size: 1000, total: 1001, has_more: true },
    ),
  ),
  lists(
    "the page after the cap",
    numbered(1001),
    { page: 2, page_size: 2000 },
    page(
      names(1001)
        .slice(1000)
        .map((name) => file(name, 0)),
      { page: 2, page_size: 1000, total: 1001 },
    ),
  ),
  lists(
    "a folder of more than the default page size",
    numbered(101),
    {},
    page(
      names(101)
        .slice(0, 100)
        .map((name) => file(name, 0)),
      { total: 101, has_more: true },
    ),
  ),
];

function names(count: number): string[] {
  return Array.from({ length: count }, (_, n) => String(n).padStart(5, "0"));
}

function numbered(count: number): Tree {
  return Object.fromEntries(names(count).map((name) => [`${name}`, ""]));
}

const there: Tree = {
  "../outside/secret.txt": "outside-secret",
  "a.txt": "a",
  "sub/b": "b",
  out: { link: "../outside" },
  dead: { link: "none" },
};

const refusals: Case[] = [
  refuses("a file", there, "a.txt", failure("C210", "folder", "coder::read-file")),
  refuses("a FIFO", { pipe: { fifo: true } }, "pipe", failure("C210", "folder")),
  refuses("a link to a file", { a: "a", ln: { link: "a" } }, "ln", failure("C210", "folder")),
  refuses("a missing folder", there, "missing", failure("C211", "not found")),
  refuses("a path through a file", there, "a.txt/x", failure("C211")),
  refuses("a folder of denied names below", { "secrets/in/x": "x" }, "secrets/in", failure("C211")),
  refuses("the folder above", there, "..", failure("C215")),
  refuses("a folder outside", there, "../outside", failure("C215")),
  refuses("a link out", there, "out", failure("C215", "link")),
  refuses("a dangling link", there, "dead", failure("C215")),
  refuses("an empty path", there, "", failure("C210", "empty")),
  refuses("an absolute path", there, "/etc", failure("C210", "absolute")),
  refuses("an absolute path to the base", there, "<base>", failure("C210", "absolute")),
  refuses("a NUL", there, "sub\0", failure("C210")),
];

const integers: Case[] = ["page", "page_size"].flatMap((field) => [
  ...wrongTypes({
    function: id,
    field,
    takes: ["a number", ...(field === "page_size" ? ["null"] : [])],
    says: [field, "whole number"],
    payload: (value) => ({ [field]: value }),
  }),
  ...[-1, 4294967296, 1e21].map((value) => ({
    name: `${field} is ${value}`,
    tree: abc,
    call: { function: id, payload: { [field]: value } },
    expect: { error: failure("C210", field) },
  })),
]);

const payloads: Case[] = [
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "path",
    takes: ["a string"],
    says: ["path", "string"],
    payload: (path) => ({ path }),
  }),
  ...integers,
  lists(
    "unknown fields are ignored",
    abc,
    payloadOf('{"_caller_worker_id":"x","size":7,"__proto__":{"page_size":1}}') as Record<string, unknown>,
    page(listedAbc),
  ),
];

export const cases: readonly Case[] = [
  ...defaults,
  ...order,
  ...kinds,
  ...accessible,
  ...pages,
  ...refusals,
  ...payloads,
];
