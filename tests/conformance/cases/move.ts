import type { Code } from "../../harness/errors.ts";
import { type Changes, gone, type Tree } from "../../harness/tree.ts";
import { type Case, entryError, failure, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::move";

interface Entry {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
  readonly parents?: boolean;
}

const moved = ({ from, to }: Entry) => ({ from, to, success: true, moved: true });
const stayed = ({ from, to }: Entry) => ({ from, to, success: true, moved: false });
const failed = ({ from, to }: Entry, code: Code, ...says: string[]) => ({
  from,
  to,
  success: false,
  moved: false,
  error: entryError(code, ...says),
});

const batch = (
  name: string,
  tree: Tree,
  files: readonly Entry[],
  expect: { results: readonly unknown[]; tree: Changes },
): Case => ({
  name,
  tree,
  call: { function: id, payload: { files } },
  expect: { answer: { results: expect.results }, tree: expect.tree },
});

const moves = (name: string, tree: Tree, entry: Entry, changes: Changes): Case =>
  batch(name, tree, [entry], { results: [moved(entry)], tree: changes });

const stays = (name: string, tree: Tree, entry: Entry): Case =>
  batch(name, tree, [entry], { results: [stayed(entry)], tree: {} });

const refuses = (name: string, tree: Tree, entry: Entry, error: readonly [Code, ...string[]]): Case =>
  batch(name, tree, [entry], { results: [failed(entry, ...error)], tree: {} });

const renames: Case[] = [
  moves("a file", { a: "a" }, { from: "a", to: "b" }, { a: gone, b: "a" }),
  moves("a file into a folder", { a: "a", "s/x": "x" }, { from: "a", to: "s/a" }, { a: gone, "s/a": "a" }),
  moves(
    "a file into folders that are made",
    { a: "a" },
    { from: "a", to: "s/t/a" },
    { a: gone, "s/t/a": "a" },
  ),
  moves(
    "an executable",
    { a: { text: "a", mode: 0o755 } },
    { from: "a", to: "b" },
    {
      a: gone,
      b: { text: "a", mode: 0o755 },
    },
  ),
  moves(
    "a folder with everything in it",
    { "s/a": "a", "s/t/b": "b" },
    { from: "s", to: "u" },
    {
      "s/": gone,
      "u/a": "a",
      "u/t/b": "b",
    },
  ),
  moves(
    "a link stays a link",
    { a: "a", ln: { link: "a" } },
    { from: "ln", to: "other" },
    {
      ln: gone,
      other: { link: "a" },
    },
  ),
  moves(
    "a file onto another, asked to",
    { a: "a", b: "b" },
    { from: "a", to: "b", overwrite: true },
    {
      a: gone,
      b: "a",
    },
  ),
  moves(
    "a file onto a link replaces the link",
    { a: "a", b: "b", ln: { link: "b" } },
    { from: "a", to: "ln", overwrite: true },
    {
      a: gone,
      ln: "a",
    },
  ),
  stays("a file onto itself", { a: "a" }, { from: "a", to: "a" }),
  stays(
    "a file onto itself, otherwise written",
    { "s/a": "a" },
    { from: "s/a", to: "./s/../s//a", overwrite: true },
  ),
  stays("a folder onto itself", { "s/a": "a" }, { from: "s", to: "s/" }),
];

const refusals: Case[] = [
  refuses("a missing file", { a: "a" }, { from: "none", to: "b" }, ["C211"]),
  refuses("onto a file, unasked", { a: "a", b: "b" }, { from: "a", to: "b" }, ["C217", "overwrite"]),
  refuses("onto a folder, unasked", { a: "a", "s/": null }, { from: "a", to: "s" }, ["C217"]),
  refuses(
    "a folder onto an empty folder",
    { "s/a": "a", "t/": null },
    { from: "s", to: "t", overwrite: true },
    ["C210", "folder"],
  ),
  refuses("a file onto a folder", { a: "a", "t/": null }, { from: "a", to: "t", overwrite: true }, [
    "C210",
    "folder",
  ]),
  refuses("a file onto a FIFO", { a: "a", p: { fifo: true } }, { from: "a", to: "p", overwrite: true }, [
    "C210",
  ]),
  refuses(
    "a file onto a link to a folder",
    { a: "a", "s/": null, ln: { link: "s" } },
    { from: "a", to: "ln", overwrite: true },
    ["C210", "folder"],
  ),
  refuses("a folder onto a file", { "s/a": "a", b: "b" }, { from: "s", to: "b", overwrite: true }, [
    "C210",
    "folder",
  ]),
  refuses("a folder into itself", { "s/a": "a" }, { from: "s", to: "s/t" }, ["C210", "itself"]),
  refuses(
    "into a folder that is missing, without parents",
    { a: "a" },
    { from: "a", to: "s/a", parents: false },
    ["C211"],
  ),
  refuses("the base", { a: "a" }, { from: ".", to: "b" }, ["C210", "base"]),
  refuses("onto the base", { a: "a" }, { from: "a", to: ".", overwrite: true }, ["C210", "folder"]),
  refuses("from outside", { "../outside/x": "x" }, { from: "../outside/x", to: "x" }, ["C215"]),
  refuses("to outside", { a: "a" }, { from: "a", to: "../outside/a" }, ["C215"]),
  refuses("an empty path", { a: "a" }, { from: "a", to: "" }, ["C210", "empty"]),
];

const denied: Case[] = [
  refuses("a denied file", { ".env": "1" }, { from: ".env", to: "b" }, ["C211"]),
  refuses("to a denied name", { a: "a" }, { from: "a", to: ".env" }, ["C211"]),
  refuses("onto a denied file", { a: "a", "x.pem": "1" }, { from: "a", to: "x.pem", overwrite: true }, [
    "C211",
  ]),
  refuses("a folder with a denied file inside", { "s/t/.env": "1", "s/a": "a" }, { from: "s", to: "u" }, [
    "C211",
  ]),
  {
    ...refuses("a folder with a file that would be denied", { "s/t/a": "a" }, { from: "s", to: "u" }, [
      "C211",
    ]),
    config: { non_accessible_globs: ["u/t/a"] },
  },
  {
    ...moves(
      "a folder whose files are denied elsewhere only",
      { "s/a": "a" },
      { from: "s", to: "v" },
      {
        "s/": gone,
        "v/a": "a",
      },
    ),
    config: { non_accessible_globs: ["u/a"] },
  },
];

const batches: Case[] = [
  batch(
    "one entry fails, the others go on, in order",
    { a: "a", b: "b" },
    [
      { from: "a", to: "c" },
      { from: "a", to: "d" },
      { from: "b", to: "a" },
    ],
    {
      results: [
        moved({ from: "a", to: "c" }),
        failed({ from: "a", to: "d" }, "C211"),
        moved({ from: "b", to: "a" }),
      ],
      tree: { a: "b", b: gone, c: "a" },
    },
  ),
];

const payloads: Case[] = [
  ...notAnObject(id),
  {
    name: "files is empty",
    tree: {},
    call: { function: id, payload: { files: [] } },
    expect: { error: failure("C210", "files", "empty") },
  },
  ...["from", "to"].flatMap((field) =>
    wrongTypes({
      function: id,
      field: `files[0].${field}`,
      takes: ["a string"],
      says: ["files", field, "string"],
      payload: (value) => ({ files: [{ from: "a.txt", to: "b.txt", [field]: value }] }),
    }),
  ),
];

export const cases: readonly Case[] = [...renames, ...refusals, ...denied, ...batches, ...payloads];
