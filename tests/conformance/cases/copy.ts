import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith, failure, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::copy";

interface Entry {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
  readonly parents?: boolean;
}

const copied = ({ from, to }: Entry) => ({ from, to, success: true, copied: true });
const stayed = ({ from, to }: Entry) => ({ from, to, success: true, copied: false });
const failed = ({ from, to }: Entry, code: ErrorCode, ...says: string[]) => ({
  from,
  to,
  success: false,
  copied: false,
  error: errorWith(code, ...says),
});

const batch = batchOf(id, (files: readonly Entry[]) => ({ files }));

const copies = (name: string, tree: Tree, entry: Entry, changes: Changes): Case =>
  batch(name, tree, [entry], { results: [copied(entry)], tree: changes });

const stays = (name: string, tree: Tree, entry: Entry): Case =>
  batch(name, tree, [entry], { results: [stayed(entry)], tree: {} });

const refuses = (name: string, tree: Tree, entry: Entry, error: readonly [ErrorCode, ...string[]]): Case =>
  batch(name, tree, [entry], { results: [failed(entry, ...error)], tree: {} });

const files: Case[] = [
  copies("a file", { a: "a" }, { from: "a", to: "b" }, { b: "a" }),
  copies("a file into a folder", { a: "a", "s/x": "x" }, { from: "a", to: "s/a" }, { "s/a": "a" }),
  copies("a file into folders that are made", { a: "a" }, { from: "a", to: "s/t/a" }, { "s/t/a": "a" }),
  copies(
    "an executable",
    { a: { text: "a", mode: 0o755 } },
    { from: "a", to: "b" },
    {
      b: { text: "a", mode: 0o755 },
    },
  ),
  copies(
    "a folder with everything in it",
    { "s/a": "a", "s/t/b": "b" },
    { from: "s", to: "u" },
    {
      "u/a": "a",
      "u/t/b": "b",
    },
  ),
  copies(
    "a link stays a link",
    { a: "a", ln: { link: "a" } },
    { from: "ln", to: "other" },
    {
      other: { link: "a" },
    },
  ),
  copies(
    "a file onto another, asked to",
    { a: "a", b: "b" },
    { from: "a", to: "b", overwrite: true },
    {
      b: "a",
    },
  ),
  copies(
    "a file onto a link replaces the link",
    { a: "a", b: "b", ln: { link: "b" } },
    { from: "a", to: "ln", overwrite: true },
    {
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
    ...copies(
      "a folder whose files are denied elsewhere only",
      { "s/a": "a" },
      { from: "s", to: "v" },
      {
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
      { from: "a", to: "b" },
      { from: "c", to: "d" },
    ],
    {
      results: [
        copied({ from: "a", to: "c" }),
        failed({ from: "a", to: "b" }, "C217"),
        copied({ from: "c", to: "d" }),
      ],
      tree: { c: "a", d: "a" },
    },
  ),
];

/** Copies of various entries to various targets. */
const kinds: Case[] = [
  copies("an empty file", { a: "" }, { from: "a", to: "b" }, { b: "" }),
  copies(
    "a file whose bytes are not UTF-8",
    { a: Buffer.from("AP/+gICA", "base64") },
    { from: "a", to: "b" },
    { b: Buffer.from("AP/+gICA", "base64") },
  ),
  copies(
    "a file that may not be written",
    { a: { text: "a", mode: 0o444 } },
    { from: "a", to: "b" },
    { b: { text: "a", mode: 0o444 } },
  ),
  copies(
    "a private file",
    { a: { text: "a", mode: 0o600 } },
    { from: "a", to: "b" },
    { b: { text: "a", mode: 0o600 } },
  ),
  copies(
    "a file onto another, with its mode",
    { a: { text: "a", mode: 0o640 }, b: { text: "b", mode: 0o755 } },
    { from: "a", to: "b", overwrite: true },
    { b: { text: "a", mode: 0o640 } },
  ),
  copies(
    "set-id and sticky bits stay behind",
    { a: { text: "a", mode: 0o4755 } },
    { from: "a", to: "b" },
    { b: { text: "a", mode: 0o755 } },
  ),
  copies(
    "folders with their modes",
    { "s/": { mode: 0o750 }, "s/t/": { mode: 0o700 }, "s/t/a": "a" },
    { from: "s", to: "u" },
    { "u/": { mode: 0o750 }, "u/t/": { mode: 0o700 }, "u/t/a": "a" },
  ),
  copies(
    "a folder that may not be written",
    { "s/a": "a", "s/": { mode: 0o555 } },
    { from: "s", to: "t" },
    { "t/": { mode: 0o555 }, "t/a": "a" },
  ),
  copies("names that are not UTF-8", { "s/bad\udcff": "1" }, { from: "s", to: "t" }, { "t/bad\udcff": "1" }),
  copies(
    "links of every sort, as they are",
    {
      "s/in": { link: "a" },
      "s/up": { link: ".." },
      "s/loop": { link: "loop" },
      "s/denied": { link: "../.env" },
      ".env": "1",
    },
    { from: "s", to: "t" },
    {
      "t/in": { link: "a" },
      "t/up": { link: ".." },
      "t/loop": { link: "loop" },
      "t/denied": { link: "../.env" },
    },
  ),
  copies(
    "a link to a folder, as a link",
    { "s/a": "a", ln: { link: "s" } },
    { from: "ln", to: "other" },
    { other: { link: "s" } },
  ),
  copies(
    "a link onto a file",
    { a: "a", b: "b", ln: { link: "a" } },
    { from: "ln", to: "b", overwrite: true },
    { b: { link: "a" } },
  ),
  copies("a file through a link", { "s/a": "a", ln: { link: "s" } }, { from: "ln/a", to: "b" }, { b: "a" }),
  copies(
    "a file onto a hard link of it, which becomes a file of its own",
    { a: "a", b: { hardlink: "a" } },
    { from: "a", to: "b", overwrite: true },
    {},
  ),
  refuses(
    "a file onto a hard link of it, unasked",
    { a: "a", b: { hardlink: "a" } },
    { from: "a", to: "b" },
    ["C217", "overwrite"],
  ),
  refuses("a FIFO", { p: { fifo: true } }, { from: "p", to: "q" }, ["C210", "FIFO"]),
  refuses("a folder with a FIFO inside", { "s/t/p": { fifo: true }, "s/a": "a" }, { from: "s", to: "u" }, [
    "C210",
    "FIFO",
  ]),
];

const smallest = { max_write_bytes: 4 };

const limits: Case[] = [
  {
    ...copies("a file as large as may be", { a: "1234" }, { from: "a", to: "b" }, { b: "1234" }),
    config: smallest,
  },
  {
    ...refuses("a file that is too large", { a: "12345" }, { from: "a", to: "b" }, [
      "C213",
      "max_write_bytes",
    ]),
    config: smallest,
  },
  {
    ...copies(
      "a folder of files each as large as may be",
      { "s/a": "1234", "s/b": "1234" },
      { from: "s", to: "t" },
      { "t/a": "1234", "t/b": "1234" },
    ),
    config: smallest,
  },
  {
    ...refuses("a folder with a file that is too large", { "s/t/a": "12345" }, { from: "s", to: "u" }, [
      "C213",
      "max_write_bytes",
    ]),
    config: smallest,
  },
];

const folders: Case[] = [
  copies("an empty folder", { "s/": null }, { from: "s", to: "t" }, { "t/": null }),
  copies("a folder, its new path with a slash", { "s/a": "a" }, { from: "s/", to: "t/" }, { "t/a": "a" }),
  copies(
    "a folder into folders that are made",
    { "s/a": "a" },
    { from: "s", to: "t/u/v" },
    { "t/u/v/a": "a" },
  ),
  copies(
    "a folder with links and modes in it",
    {
      "s/ln": { link: "none" },
      "s/out": { link: "/etc/passwd" },
      "s/x": { text: "x", mode: 0o750 },
    },
    { from: "s", to: "t/s" },
    {
      "t/s/ln": { link: "none" },
      "t/s/out": { link: "/etc/passwd" },
      "t/s/x": { text: "x", mode: 0o750 },
    },
  ),
  copies("a folder out of its folder", { "s/t/a": "a" }, { from: "s/t", to: "t" }, { "t/a": "a" }),
  copies("a folder to a name that begins like it", { "s/a": "a" }, { from: "s", to: "s2" }, { "s2/a": "a" }),
  refuses("onto its own folder", { "s/a": "a" }, { from: "s/a", to: "s" }, ["C217", "folder"]),
  refuses("onto its own folder, asked to", { "s/a": "a" }, { from: "s/a", to: "s", overwrite: true }, [
    "C210",
    "folder",
  ]),
  refuses("a folder deep into itself", { "s/t/a": "a" }, { from: "s", to: "s/t/u/s" }, ["C210", "itself"]),
  refuses(
    "a folder into itself through a link",
    { "s/a": "a", ln: { link: "s" } },
    { from: "s", to: "ln/t" },
    ["C210", "itself"],
  ),
  refuses("a file to a path with a slash", { a: "a" }, { from: "a", to: "b/" }, ["C210", "folder"]),
  refuses("a file as a folder", { a: "a" }, { from: "a/", to: "b" }, ["C211"]),
  refuses("below a file", { a: "a", b: "b" }, { from: "a", to: "b/a" }, ["C211"]),
  refuses(
    "a folder onto a link to a folder",
    { "s/a": "a", "t/": null, ln: { link: "t" } },
    { from: "s", to: "ln" },
    ["C217"],
  ),
  refuses("through a link that dangles", { a: "a", ln: { link: "none" } }, { from: "a", to: "ln/a" }, [
    "C215",
  ]),
  refuses("onto a link that dangles", { a: "a", ln: { link: "none" } }, { from: "a", to: "ln" }, ["C215"]),
  refuses("a link that leads out", { ln: { link: "/etc/passwd" } }, { from: "ln", to: "b" }, ["C215"]),
  refuses(
    "onto a file that may not be written",
    { a: "a", b: { text: "b", mode: 0o444 } },
    { from: "a", to: "b", overwrite: true },
    ["C216"],
  ),
  refuses("a new name with a backslash", { a: "a" }, { from: "a", to: "s\\b" }, ["C210", "backslash"]),
];

const tryBatch = batchOf(id, (files: readonly Entry[]) => ({ files, dry_run: true }));

/** Makes a dry run: it has the answer of the real call, and leaves the tree unchanged. */
const tries = (name: string, tree: Tree, entry: Entry, result: unknown): Case =>
  tryBatch(`tried: ${name}`, tree, [entry], { results: [result], tree: {} });

const dryRuns: Case[] = [
  ...(
    [
      ["a file", { a: "a" }, { from: "a", to: "b" }],
      ["a file into folders that are missing", { a: "a" }, { from: "a", to: "s/t/a" }],
      ["a folder", { "s/a": "a" }, { from: "s", to: "t" }],
      ["a file onto another, asked to", { a: "a", b: "b" }, { from: "a", to: "b", overwrite: true }],
    ] as const
  ).map(([name, tree, entry]) => tries(name, tree, entry, copied(entry))),
  tries("a file onto itself", { a: "a" }, { from: "a", to: "a" }, stayed({ from: "a", to: "a" })),
  ...(
    [
      ["a missing file", { a: "a" }, { from: "none", to: "b" }, "C211"],
      ["onto a file, unasked", { a: "a", b: "b" }, { from: "a", to: "b" }, "C217"],
      ["a folder into itself", { "s/a": "a" }, { from: "s", to: "s/t" }, "C210"],
      ["a denied file", { ".env": "1" }, { from: ".env", to: "b" }, "C211"],
      ["a folder with a denied file inside", { "s/.env": "1" }, { from: "s", to: "u" }, "C211"],
      ["to outside", { a: "a" }, { from: "a", to: "../a" }, "C215"],
    ] as const
  ).map(([name, tree, entry, code]) => tries(name, tree, entry, failed(entry, code))),
  tryBatch(
    "tried: each entry of a batch, on the tree that those before it would leave",
    { a: "a" },
    [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
    ],
    {
      results: [copied({ from: "a", to: "b" }), copied({ from: "b", to: "c" })],
      tree: {},
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
  ...["overwrite", "parents"].flatMap((field) =>
    wrongTypes({
      function: id,
      field: `files[0].${field}`,
      takes: ["a boolean"],
      says: ["files", field, "true or false"],
      payload: (value) => ({ files: [{ from: "a.txt", to: "b.txt", [field]: value }] }),
    }),
  ),
  ...wrongTypes({
    function: id,
    field: "dry_run",
    takes: ["a boolean"],
    says: ["dry_run", "true or false"],
    payload: (value) => ({ files: [{ from: "a.txt", to: "b.txt" }], dry_run: value }),
  }),
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

export const cases: readonly Case[] = [
  ...files,
  ...kinds,
  ...limits,
  ...folders,
  ...refusals,
  ...denied,
  ...dryRuns,
  ...batches,
  ...payloads,
];
