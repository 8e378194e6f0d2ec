import type { ErrorCode } from "../../harness/errors.ts";
import { type Changes, gone, type Tree } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith, failure, notAnObject, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::delete-file";

const removed = (path: string) => ({ path, success: true, removed: true });
const absent = (path: string) => ({ path, success: true, removed: false });
const failed = (path: string, code: ErrorCode, ...says: string[]) => ({
  path,
  success: false,
  removed: false,
  error: errorWith(code, ...says),
});

interface Request {
  readonly paths: readonly string[];
  readonly recursive?: boolean;
}

const batch = batchOf(id, (payload: Request) => payload);

const removes = (name: string, tree: Tree, path: string, changes: Changes): Case =>
  batch(name, tree, { paths: [path] }, { results: [removed(path)], tree: changes });

const removesAll = (name: string, tree: Tree, path: string, changes: Changes): Case =>
  batch(name, tree, { paths: [path], recursive: true }, { results: [removed(path)], tree: changes });

const finds = (name: string, tree: Tree, path: string): Case =>
  batch(name, tree, { paths: [path] }, { results: [absent(path)], tree: {} });

/** Makes two cases that are refused alike, with and without `recursive`. */
const refuses = (name: string, tree: Tree, path: string, error: readonly [ErrorCode, ...string[]]): Case[] =>
  [false, true].map((recursive) => {
    const [code, ...says] = error;
    return batch(
      `${name}, recursive ${recursive}`,
      tree,
      { paths: [path], recursive },
      { results: [failed(path, code, ...says)], tree: {} },
    );
  });

const removals: Case[] = [
  removes("a file", { a: "a", b: "b" }, "a", { a: gone }),
  removes("a file in a folder leaves the folder", { "sub/a": "a" }, "sub/a", { "sub/a": gone }),
  removes("a file however it is written", { a: "a", "sub/b": "b" }, "./sub/..//a", { a: gone }),
  removes("a read-only file", { a: { text: "a", mode: 0o444 } }, "a", { a: gone }),
  removes("a hidden file", { ".a": "a" }, ".a", { ".a": gone }),
  removes("a large file", { a: "x".repeat(1 << 20) }, "a", { a: gone }),
  ...["constructor", "toString", "__proto__"].map((name) =>
    removes(`a file with the name ${name}`, { [name]: "a" }, name, { [name]: gone }),
  ),
  removes("a FIFO", { pipe: { fifo: true }, a: "a" }, "pipe", { pipe: gone }),
  removes("an empty folder", { "sub/": null, a: "a" }, "sub", { "sub/": gone }),
  removes("an empty folder with a slash behind it", { "sub/": null, a: "a" }, "sub/", { "sub/": gone }),
  removes(
    "a hard link leaves the file outside",
    { "../outside/x": "x", a: { hardlink: "../outside/x" } },
    "a",
    { a: gone },
  ),
  removesAll("an empty folder, recursive", { "sub/": null }, "sub", { "sub/": gone }),
  removesAll("a file, recursive", { a: "a" }, "a", { a: gone }),
  removesAll(
    "a folder with everything in it",
    { "s/a": "a", "s/t/b": "b", "s/t/u/": null, "s/p": { fifo: true }, x: "x" },
    "s",
    { "s/": gone },
  ),
  removesAll("a folder in a folder", { "s/t/b": "b", "s/a": "a" }, "s/t", { "s/t/": gone }),
  removesAll("a deep folder", { [`${"d/".repeat(60)}x`]: "x" }, "d", { "d/": gone }),
  removesAll("names that are not UTF-8", { "s/bad\udcff": "a", "s/bad\udcfe/x": "b", x: "x" }, "s", {
    "s/": gone,
  }),
  {
    ...removesAll("a file larger than the limits", { "s/a": "0123456789+" }, "s", { "s/": gone }),
    config: { max_read_bytes: 10, max_write_bytes: 10 },
  },
];

const missing: Case[] = [
  finds("a missing file", { a: "a" }, "missing"),
  finds("a missing file in a missing folder", {}, "missing/x"),
  finds("a path through a file", { a: "a" }, "a/x"),
  finds("a missing folder", {}, "missing/"),
  finds("a file with a slash behind it is no folder", { a: "a" }, "a/"),
  batch(
    "a missing path, recursive",
    {},
    { paths: ["missing"], recursive: true },
    { results: [absent("missing")], tree: {} },
  ),
];

const links: Case[] = [
  removes("a link to a file is removed, the file stays", { a: "a", ln: { link: "a" } }, "ln", { ln: gone }),
  removes("a link to a folder is removed, the folder stays", { "s/a": "a", ln: { link: "s" } }, "ln", {
    ln: gone,
  }),
  removes("an absolute link inside", { a: "a", ln: { link: "<base>/a" } }, "ln", { ln: gone }),
  removes("a link to a link", { a: "a", l1: { link: "l2" }, l2: { link: "a" } }, "l1", { l1: gone }),
  removes(
    "a link in a folder reached through a link",
    { "s/a": "a", "s/ln": { link: "a" }, t: { link: "s" } },
    "t/ln",
    { "s/ln": gone },
  ),
  removes("a file in a folder reached through a link", { "s/a": "a", ln: { link: "s" } }, "ln/a", {
    "s/a": gone,
  }),
  removesAll("a link to a folder, recursive", { "s/a": "a", ln: { link: "s" } }, "ln", { ln: gone }),
  removesAll(
    "links inside are removed and never followed",
    {
      "../outside/secret.txt": "outside-secret",
      "keep/x": "x",
      "s/dead": { link: "none" },
      "s/in": { link: "../keep" },
      "s/loop": { link: "loop" },
      "s/out": { link: "../../outside" },
      "s/t/file": { link: "../../../outside/secret.txt" },
    },
    "s",
    { "s/": gone },
  ),
];

const out: Tree = {
  "../outside/secret.txt": "outside-secret",
  "../outside/sub/x": "outside-secret",
  a: "a",
  dead: { link: "none" },
  deadOut: { link: "../outside/none" },
  file: { link: "../outside/secret.txt" },
  folder: { link: "../outside" },
  loop: { link: "loop" },
};

const leaving: Case[] = [
  "../outside/secret.txt",
  "../outside",
  "../none",
  "..",
  "none/../../outside",
  "file",
  "folder",
  "folder/secret.txt",
  "folder/none",
  "folder/sub",
  "dead",
  "deadOut",
  "loop",
].flatMap((path) => refuses(`${path} leads out or nowhere`, out, path, ["C215"]));

const folders: Case[] = [
  batch(
    "a folder that is not empty",
    { "s/a": "a" },
    { paths: ["s"] },
    { results: [failed("s", "C216", "recursive")], tree: {} },
  ),
  batch(
    "a folder that is not empty, recursive false",
    { "s/a": "a" },
    { paths: ["s"], recursive: false },
    {
      results: [failed("s", "C216", "not empty")],
      tree: {},
    },
  ),
  batch(
    "a folder that holds an empty folder",
    { "s/t/": null },
    { paths: ["s"] },
    { results: [failed("s", "C216")], tree: {} },
  ),
  batch(
    "a folder that holds a dangling link",
    { "s/dead": { link: "none" } },
    { paths: ["s"] },
    { results: [failed("s", "C216")], tree: {} },
  ),
  ...refuses("the base", { a: "a" }, ".", ["C210", "base"]),
  ...refuses("the base with slashes", { a: "a" }, ".//", ["C210", "base"]),
  ...refuses("the base by ..", { "s/a": "a" }, "s/..", ["C210", "base"]),
  ...refuses("the base when it is empty", {}, ".", ["C210"]),
];

const denied: Case[] = [
  ...refuses("a file that is still being written", { ".coder-tmp-x": "half" }, ".coder-tmp-x", ["C211"]),
  removesAll(
    "a folder that a killed write left something in",
    { "s/.coder-tmp-x": "half", "s/a": "a" },
    "s",
    { "s/": gone },
  ),
  ...[".env", "s/.env", "a.pem", "secrets/x", "secrets/in"].flatMap((path) =>
    refuses(
      `${path} is denied`,
      { ".env": "denied-secret", "s/.env": "1", "a.pem": "1", "secrets/x": "1", "secrets/in/y": "1" },
      path,
      ["C211", "not found", "denies"],
    ),
  ),
  ...refuses("a denied file that does not exist", {}, ".env", ["C211"]),
  ...refuses("a missing file in a folder of denied names", {}, "secrets/missing", ["C211"]),
  ...refuses("a link to a denied file", { ".env": "denied-secret", ln: { link: ".env" } }, "ln", ["C211"]),
  batch(
    "a folder with a denied file inside",
    { "s/a": "a", "s/t/.env": "1" },
    { paths: ["s"], recursive: true },
    {
      results: [failed("s", "C211")],
      tree: {},
    },
  ),
  batch(
    "a folder with a denied file that comes last",
    { "s/a": "a", "s/b/c": "c", "s/z.pem": "1" },
    { paths: ["s"], recursive: true },
    {
      results: [failed("s", "C211")],
      tree: {},
    },
  ),
  batch(
    "a folder with a denied link inside",
    { "s/a": "a", "s/x.key": { link: "a" } },
    { paths: ["s"], recursive: true },
    {
      results: [failed("s", "C211")],
      tree: {},
    },
  ),
  batch(
    "a folder of secrets",
    { "secrets/a": "a" },
    { paths: ["secrets"], recursive: true },
    { results: [failed("secrets", "C211")], tree: {} },
  ),
  batch(
    "a link out to a folder of secrets does not count",
    { "keep/.env": "1", "s/ln": { link: "../keep" } },
    { paths: ["s"], recursive: true },
    {
      results: [removed("s")],
      tree: { "s/": gone },
    },
  ),
  {
    ...removesAll("nothing is denied by no glob", { "s/.env": "1" }, "s", { "s/": gone }),
    config: { non_accessible_globs: [] },
  },
];

const malformed: Case[] = [
  ...refuses("an empty path", { a: "a" }, "", ["C210", "empty"]),
  ...refuses("an absolute path", { a: "a" }, "/tmp/none", ["C210", "absolute"]),
  ...refuses("an absolute path inside the base", { a: "a" }, "<base>/a", ["C210", "absolute"]),
  ...refuses("a NUL", { a: "a" }, "a\0", ["C210"]),
];

const batches: Case[] = [
  batch(
    "several paths, in order",
    { a: "a", b: "b", c: "c" },
    { paths: ["c", "a"] },
    {
      results: [removed("c"), removed("a")],
      tree: { a: gone, c: gone },
    },
  ),
  batch(
    "one path twice",
    { a: "a" },
    { paths: ["a", "a"] },
    { results: [removed("a"), absent("a")], tree: { a: gone } },
  ),
  batch(
    "a file, then its folder",
    { "s/a": "a" },
    { paths: ["s/a", "s"] },
    {
      results: [removed("s/a"), removed("s")],
      tree: { "s/": gone },
    },
  ),
  batch(
    "one entry fails, the others go on",
    { a: "a", ".env": "1", "s/x": "x", z: "z" },
    { paths: ["a", ".env", "../x", "s", "", "missing", "z"] },
    {
      results: [
        removed("a"),
        failed(".env", "C211"),
        failed("../x", "C215"),
        failed("s", "C216"),
        failed("", "C210"),
        absent("missing"),
        removed("z"),
      ],
      tree: { a: gone, z: gone },
    },
  ),
];

const payloads: Case[] = [
  ...notAnObject(id),
  {
    name: "paths is missing",
    tree: { a: "a" },
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "paths") },
  },
  {
    name: "paths is empty",
    tree: { a: "a" },
    call: { function: id, payload: { paths: [] } },
    expect: { error: failure("C210", "paths", "empty") },
  },
  ...wrongTypes({
    function: id,
    field: "paths",
    takes: ["an array"],
    says: ["paths", "array"],
    payload: (paths) => ({ paths }),
  }),
  ...wrongTypes({
    function: id,
    field: "paths[1]",
    takes: ["a string"],
    says: ["paths", "1", "string"],
    payload: (path) => ({ paths: ["a.txt", path] }),
  }),
  ...wrongTypes({
    function: id,
    field: "recursive",
    takes: ["a boolean"],
    says: ["recursive", "true or false"],
    payload: (recursive) => ({ paths: ["a.txt"], recursive }),
  }),
  {
    name: "unknown fields are ignored",
    tree: { "s/a": "a" },
    call: {
      function: id,
      payload: payloadOf(
        '{"paths":["s"],"force":true,"_caller_worker_id":"x","__proto__":{"recursive":true}}',
      ),
    },
    expect: { answer: { results: [failed("s", "C216")] } },
  },
];

export const cases: readonly Case[] = [
  ...removals,
  ...missing,
  ...links,
  ...leaving,
  ...folders,
  ...denied,
  ...malformed,
  ...batches,
  ...payloads,
];
