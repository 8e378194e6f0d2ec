import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith, failure, notAnObject, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::create-file";

interface File {
  readonly path: string;
  readonly content: string;
  readonly mode?: string;
  readonly overwrite?: boolean;
  readonly parents?: boolean;
}

const created = (file: File) => ({
  path: file.path,
  success: true,
  bytes_written: Buffer.byteLength(file.content),
});
const failed = (path: string, code: ErrorCode, ...says: string[]) => ({
  path,
  success: false,
  bytes_written: 0,
  error: errorWith(code, ...says),
});

const batch = batchOf(id, (files: readonly File[]) => ({ files }));

/** Makes a case that creates one file. `changes` are its changes of `tree`. */
const creates = (name: string, tree: Tree, file: File, changes: Changes): Case =>
  batch(name, tree, [file], { results: [created(file)], tree: changes });

/** Makes a case whose only file is refused, and that changes nothing. */
const refuses = (
  name: string,
  tree: Tree,
  file: Partial<File> & { path: string },
  error: readonly [ErrorCode, ...string[]],
): Case => {
  const [code, ...says] = error;
  return batch(name, tree, [{ content: "new", ...file }], {
    results: [failed(file.path, code, ...says)],
    tree: {},
  });
};

const text = (name: string, content: string): Case =>
  creates(name, {}, { path: "new.txt", content }, { "new.txt": content });

const contents: Case[] = [
  text("a file with the defaults", "hello\n"),
  text("an empty file", ""),
  text("bytes_written counts bytes", "é😀\n"),
  text("line endings stay as they are sent", "a\r\nb\nc\r"),
  text("a byte order mark stays", "\ufeffa"),
  text("no final newline is added", "a"),
  text("a NUL stays", "a\0b"),
  text("a megabyte", "x".repeat(1 << 20)),
];

const modes: Case[] = [
  ...["0644", "0600", "0755", "755", "0777", "0666", "0400", "0000", "7"].map((mode) =>
    creates(
      `mode ${mode}, whatever the umask`,
      {},
      { path: "new", content: "x", mode },
      { new: { text: "x", mode: Number.parseInt(mode, 8) } },
    ),
  ),
  ...[
    "",
    "0888",
    "9",
    "rw-r--r--",
    "01777",
    "04755",
    "2755",
    "1000",
    "-1",
    "0o644",
    "0x1ff",
    " 644",
    "6.4",
    "644\n",
    "٦٤٤",
  ].map((mode) =>
    refuses(`mode ${JSON.stringify(mode)}`, {}, { path: "new", mode }, ["C210", "mode", "octal"]),
  ),
  refuses("a bad mode makes no folder either", {}, { path: "a/b/new", mode: "9" }, ["C210", "mode"]),
  refuses("a bad mode overwrites nothing", { a: "old" }, { path: "a", mode: "9", overwrite: true }, [
    "C210",
    "mode",
  ]),
];

const parents: Case[] = [
  creates("parents are made by default", {}, { path: "a/b/new", content: "x" }, { "a/b/new": "x" }),
  creates("some parents exist", { "a/x": "" }, { path: "a/b/c/new", content: "x" }, { "a/b/c/new": "x" }),
  creates(
    "parents false, and the parent exists",
    { "a/x": "" },
    { path: "a/new", content: "x", parents: false },
    { "a/new": "x" },
  ),
  creates("parents false in the base", {}, { path: "new", content: "x", parents: false }, { new: "x" }),
  refuses("parents false, and no parent", {}, { path: "a/new", parents: false }, ["C211", "not found"]),
  refuses("parents false, and no parent's parent", { "a/x": "" }, { path: "a/b/c/new", parents: false }, [
    "C211",
  ]),
  refuses("a parent that is a file", { a: "old" }, { path: "a/new" }, ["C211"]),
  refuses("a parent's parent that is a file", { a: "old" }, { path: "a/b/c/new" }, ["C211"]),
  creates(
    "in a folder reached through a link",
    { "sub/x": "", ln: { link: "sub" } },
    { path: "ln/new", content: "x" },
    { "sub/new": "x" },
  ),
  creates(
    "parents below a link",
    { "sub/x": "", ln: { link: "sub" } },
    { path: "ln/a/new", content: "x" },
    { "sub/a/new": "x" },
  ),
  creates("./ and //", {}, { path: "./a//new", content: "x" }, { "a/new": "x" }),
  creates(".. inside the base", { "a/x": "" }, { path: "a/../new", content: "x" }, { new: "x" }),
  creates(
    ".. out of a folder that does not exist makes no such folder",
    {},
    { path: "a/../new", content: "x" },
    { new: "x" },
  ),
];

const existing: Case[] = [
  refuses("a file that exists", { a: "old" }, { path: "a" }, ["C217", "overwrite", "coder::update-file"]),
  refuses("a file that exists, overwrite false", { a: "old" }, { path: "a", overwrite: false }, ["C217"]),
  refuses("an empty file that exists", { a: "" }, { path: "a" }, ["C217"]),
  refuses("a link to a file that exists", { a: "old", ln: { link: "a" } }, { path: "ln" }, ["C217"]),
  refuses("a folder that exists", { "a/x": "x" }, { path: "a" }, ["C217"]),
  refuses("a FIFO that exists", { a: { fifo: true } }, { path: "a" }, ["C217"]),
  refuses("the base", { a: "old" }, { path: "." }, ["C217"]),
  creates(
    "overwrite replaces",
    { a: "old and longer" },
    { path: "a", content: "new", overwrite: true },
    { a: "new" },
  ),
  creates("overwrite with nothing", { a: "old" }, { path: "a", content: "", overwrite: true }, { a: "" }),
  creates(
    "overwrite where there is nothing creates",
    {},
    { path: "a", content: "new", overwrite: true },
    { a: "new" },
  ),
  creates(
    "overwrite without a mode sets the default mode",
    { a: { text: "old", mode: 0o755 } },
    { path: "a", content: "new", overwrite: true },
    { a: { text: "new", mode: 0o644 } },
  ),
  creates(
    "overwrite sets the mode that is sent",
    { a: { text: "old", mode: 0o600 } },
    { path: "a", content: "new", overwrite: true, mode: "0755" },
    { a: { text: "new", mode: 0o755 } },
  ),
  creates(
    "overwrite through a link keeps the link",
    { a: "old", ln: { link: "a" } },
    { path: "ln", content: "new", overwrite: true },
    { a: "new" },
  ),
  creates(
    "overwrite leaves a hard link outside alone",
    { "../outside/x": "outside-secret", a: { hardlink: "../outside/x" } },
    { path: "a", content: "new", overwrite: true },
    { a: "new" },
  ),
  refuses("overwrite of a folder", { "a/x": "x" }, { path: "a", overwrite: true }, ["C210", "folder"]),
  refuses("overwrite of an empty folder", { "a/": null }, { path: "a", overwrite: true }, ["C210", "folder"]),
  refuses("overwrite of the base", { a: "old" }, { path: ".", overwrite: true }, ["C210"]),
  refuses("overwrite of a FIFO", { a: { fifo: true } }, { path: "a", overwrite: true }, [
    "C210",
    "regular file",
  ]),
];

const out: Tree = {
  "../outside/secret.txt": "outside-secret",
  dead: { link: "none" },
  "dead-out": { link: "../outside/none" },
  file: { link: "../outside/secret.txt" },
  folder: { link: "../outside" },
  loop: { link: "loop" },
};

const leaving: Case[] = [false, true].flatMap((overwrite) =>
  [
    "../new",
    "../outside/secret.txt",
    "a/../../new",
    "dead",
    "dead-out",
    "dead/new",
    "file",
    "folder",
    "folder/new",
    "folder/a/new",
    "loop",
    "loop/new",
  ].map((path) =>
    refuses(`${path} leads out or nowhere, overwrite ${overwrite}`, out, { path, overwrite }, ["C215"]),
  ),
);

const denied: Case[] = [
  refuses("a name reserved for files that are being written", {}, { path: ".coder-tmp-x" }, ["C211"]),
  ...[
    ".env",
    ".env.local",
    "a/.env",
    "new.pem",
    "a/b.key",
    "secrets/new",
    "a/secrets/b/new",
    "new.pem/new",
  ].flatMap((path) => [
    refuses(`${path} is denied, and no folder is made`, {}, { path }, ["C211", "not found", "denies"]),
    refuses(`${path} is denied, overwrite or not`, {}, { path, overwrite: true }, ["C211"]),
  ]),
  refuses("a denied file that exists", { ".env": "denied-secret" }, { path: ".env" }, ["C211"]),
  refuses(
    "a denied file that exists, overwrite",
    { ".env": "denied-secret" },
    { path: ".env", overwrite: true },
    ["C211"],
  ),
  refuses(
    "a link to a denied file",
    { ".env": "denied-secret", ln: { link: ".env" } },
    { path: "ln", overwrite: true },
    ["C211"],
  ),
  refuses(
    "in a denied folder through a link",
    { "secrets/in/x": "", ln: { link: "secrets/in" } },
    { path: "ln/new" },
    ["C211"],
  ),
  creates("a name that is nearly denied", {}, { path: ".envrc", content: "x" }, { ".envrc": "x" }),
  {
    ...creates(
      "nothing is denied by no glob",
      {},
      { path: "secrets/.env", content: "x" },
      { "secrets/.env": "x" },
    ),
    config: { non_accessible_globs: [] },
  },
];

const malformed: Case[] = [
  refuses("an empty path", {}, { path: "" }, ["C210", "empty"]),
  refuses("an absolute path", {}, { path: "/tmp/coder-new" }, ["C210", "absolute"]),
  refuses("an absolute path inside the base", {}, { path: "<base>/new" }, ["C210", "absolute"]),
  refuses("a NUL", {}, { path: "new\0" }, ["C210"]),
  refuses("a slash behind the name", {}, { path: "new/" }, ["C210"]),
  refuses("a newline in a new name", {}, { path: "new\nname" }, ["C210"]),
  refuses("an escape character in a new name", {}, { path: "\u001b[2J" }, ["C210"]),
  refuses("a control character in a new folder", {}, { path: "a\u007f/new" }, ["C210"]),
  refuses("a backslash in a new name", {}, { path: "a\\b" }, ["C210"]),
  refuses("a drive letter", {}, { path: "C:\\new" }, ["C210"]),
  refuses("a drive letter with a slash", {}, { path: "C:/new" }, ["C210"]),
  refuses("a name longer than 255 bytes", {}, { path: "é".repeat(128) }, ["C210", "255"]),
  refuses("a path longer than 4096 bytes", {}, { path: "n/".repeat(2049) }, ["C210", "4096"]),
  creates("a name of 255 bytes", {}, { path: "n".repeat(255), content: "x" }, { ["n".repeat(255)]: "x" }),
  creates(
    "spaces, quotes and non-ASCII in a new name",
    {},
    { path: 'a "é" 😀', content: "x" },
    { 'a "é" 😀': "x" },
  ),
];

const limits: Case[] = [
  {
    ...creates("as large as max_write_bytes", {}, { path: "a", content: "0123456789" }, { a: "0123456789" }),
    config: { max_write_bytes: 10 },
  },
  {
    ...refuses("larger than max_write_bytes", {}, { path: "a", content: "0123456789+" }, [
      "C213",
      "max_write_bytes",
      "10",
    ]),
    config: { max_write_bytes: 10 },
  },
  {
    ...refuses("larger in bytes, not in characters", {}, { path: "a", content: "éééééé" }, [
      "C213",
      "max_write_bytes",
    ]),
    config: { max_write_bytes: 10 },
  },
  {
    ...refuses("too large makes no folder", {}, { path: "b/a", content: "0123456789+" }, ["C213"]),
    config: { max_write_bytes: 10 },
  },
  {
    ...refuses(
      "too large overwrites nothing",
      { a: "old" },
      { path: "a", content: "0123456789+", overwrite: true },
      ["C213"],
    ),
    config: { max_write_bytes: 10 },
  },
];

const batches: Case[] = [
  batch(
    "several files, in order",
    {},
    [
      { path: "b", content: "1" },
      { path: "a", content: "22" },
      { path: "c/d", content: "" },
    ],
    {
      results: [
        created({ path: "b", content: "1" }),
        created({ path: "a", content: "22" }),
        created({ path: "c/d", content: "" }),
      ],
      tree: { a: "22", b: "1", "c/d": "" },
    },
  ),
  batch(
    "one entry fails, the others go on",
    { old: "old" },
    [
      { path: "a", content: "1" },
      { path: "old", content: "2" },
      { path: "../x", content: "3" },
      { path: ".env", content: "4" },
      { path: "b", content: "5", mode: "x" },
      { path: "", content: "6" },
      { path: "c", content: "7" },
    ],
    {
      results: [
        created({ path: "a", content: "1" }),
        failed("old", "C217"),
        failed("../x", "C215"),
        failed(".env", "C211"),
        failed("b", "C210", "mode"),
        failed("", "C210"),
        created({ path: "c", content: "7" }),
      ],
      tree: { a: "1", c: "7" },
    },
  ),
  batch(
    "one path twice",
    {},
    [
      { path: "a", content: "1" },
      { path: "./a", content: "2" },
    ],
    { results: [created({ path: "a", content: "1" }), failed("./a", "C217")], tree: { a: "1" } },
  ),
  batch(
    "one path twice, overwritten",
    {},
    [
      { path: "a", content: "1" },
      { path: "a", content: "2", overwrite: true },
    ],
    {
      results: [created({ path: "a", content: "1" }), created({ path: "a", content: "2" })],
      tree: { a: "2" },
    },
  ),
  batch(
    "a later entry in a folder that an earlier one made",
    {},
    [
      { path: "a/b", content: "1" },
      { path: "a/c", content: "2", parents: false },
    ],
    {
      results: [created({ path: "a/b", content: "1" }), created({ path: "a/c", content: "2" })],
      tree: { "a/b": "1", "a/c": "2" },
    },
  ),
];

const valid = { path: "new", content: "x" };

const payloads: Case[] = [
  ...notAnObject(id),
  {
    name: "files is missing",
    tree: {},
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "files") },
  },
  {
    name: "files is empty",
    tree: {},
    call: { function: id, payload: { files: [] } },
    expect: { error: failure("C210", "files", "empty") },
  },
  ...wrongTypes({
    function: id,
    field: "files",
    takes: ["an array"],
    says: ["files", "array"],
    payload: (files) => ({ files }),
  }),
  ...wrongTypes({
    function: id,
    field: "files[1]",
    takes: ["an object"],
    says: ["files", "1", "object"],
    payload: (file) => ({ files: [valid, file] }),
  }),
  ...["path", "content", "mode"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a string"],
      says: [field, "string"],
      payload: (value) => ({ files: [valid, { ...valid, path: "other", [field]: value }] }),
    }),
  ),
  ...["overwrite", "parents"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a boolean"],
      says: [field, "true or false"],
      payload: (value) => ({ files: [{ ...valid, [field]: value }] }),
    }),
  ),
  {
    name: "path is missing",
    tree: {},
    call: { function: id, payload: { files: [{ content: "x" }] } },
    expect: { error: failure("C210", "path") },
  },
  {
    name: "content is missing",
    tree: {},
    call: { function: id, payload: { files: [{ path: "new" }] } },
    expect: { error: failure("C210", "content") },
  },
  {
    name: "unknown fields are ignored",
    tree: { old: "old" },
    call: {
      function: id,
      payload: payloadOf(
        '{"files":[{"path":"old","content":"x","encoding":"utf8","__proto__":{"overwrite":true}}],"_caller_worker_id":"x","overwrite":true}',
      ),
    },
    expect: { answer: { results: [failed("old", "C217")] } },
  },
];

export const cases: readonly Case[] = [
  ...contents,
  ...modes,
  ...parents,
  ...existing,
  ...leaving,
  ...denied,
  ...malformed,
  ...limits,
  ...batches,
  ...payloads,
];
