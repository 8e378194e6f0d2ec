import { mtime, type Tree } from "../../harness/tree.ts";
import { type Case, type Failure, failure, notAnObject, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::read-file";

interface Content {
  readonly path: string;
  readonly content: string;
  readonly is_utf8: boolean;
  readonly size: number;
  readonly mode: number;
  readonly mtime: number;
}

const content = (path: string, text: string, differs: Partial<Content> = {}): Content => ({
  path,
  content: text,
  is_utf8: true,
  size: Buffer.byteLength(text),
  mode: 0o644,
  mtime,
  ...differs,
});

const reads = (name: string, tree: Tree, answer: Content): Case => ({
  name,
  tree,
  call: { function: id, payload: { path: answer.path } },
  expect: { answer },
});

const refuses = (name: string, tree: Tree, path: string, error: Failure): Case => ({
  name,
  tree,
  call: { function: id, payload: { path } },
  expect: { error },
});

const text = (name: string, body: string): Case => reads(name, { "a.txt": body }, content("a.txt", body));

const foreign = (name: string, bytes: readonly number[], decoded: string): Case =>
  reads(
    name,
    { "a.bin": Buffer.from(bytes) },
    content("a.bin", decoded, { is_utf8: false, size: bytes.length }),
  );

const outside: Tree = { "../outside/secret.txt": "outside-secret\n", "a.txt": "a\n", "sub/b.txt": "b\n" };

const contents: Case[] = [
  text("plain text", "hello\n"),
  text("an empty file", ""),
  text("no final newline", "a\nb"),
  text("CRLF line endings stay", "a\r\nb\r\n"),
  text("mixed line endings stay", "a\r\nb\nc\rd"),
  text("a byte order mark stays", "\ufeffa\n"),
  text("two-byte characters count two bytes", "éé\n"),
  text("characters beyond the basic plane", "😀 𝒳\n"),
  text("a NUL byte is a character", "a\0b"),
  text("control characters, line and paragraph separators", "\u0001\u007f\u2028\u2029\t\u0085"),
  text("a real U+FFFD is valid UTF-8", "\ufffd\n"),
  text("noncharacters are valid UTF-8", "\uffff\ufdd0"),
  text("quotes, backslashes and slashes", '"\\/\n'),
  text("100,000 lines", "line\n".repeat(100_000)),
  foreign("a single foreign byte", [0xff], "\ufffd"),
  foreign("foreign bytes between letters", [0x61, 0xfe, 0x62, 0x80, 0x63], "a\ufffdb\ufffdc"),
  foreign("an overlong form is replaced byte by byte", [0xc0, 0x80], "\ufffd\ufffd"),
  foreign("a surrogate is replaced byte by byte", [0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"),
  foreign(
    "a code point beyond U+10FFFF is replaced byte by byte",
    [0xf4, 0x90, 0x80, 0x80],
    "\ufffd\ufffd\ufffd\ufffd",
  ),
  foreign("three of four bytes are one maximal subpart", [0xf0, 0x9f, 0x98, 0x61], "\ufffda"),
  foreign("two of three bytes at the end are one maximal subpart", [0x61, 0xe2, 0x82], "a\ufffd"),
  foreign("a lead byte before a letter", [0xe2, 0x41], "\ufffdA"),
  foreign("a byte order mark before foreign bytes stays", [0xef, 0xbb, 0xbf, 0xff], "\ufeff\ufffd"),
  foreign("UTF-16 with its mark", [0xff, 0xfe, 0x61, 0x00], "\ufffd\ufffda\0"),
];

const modes: Case[] = [0o755, 0o600, 0o444, 0o777, 0o640].map((mode) =>
  reads(`mode ${mode.toString(8)}`, { "a.txt": { text: "a", mode } }, content("a.txt", "a", { mode })),
);

const names: Case[] = [
  reads("in a folder", { "sub/deep/b.txt": "b" }, content("sub/deep/b.txt", "b")),
  reads("a leading ./", { "a.txt": "a" }, content("./a.txt", "a")),
  reads("doubled slashes", { "sub/b.txt": "b" }, content("sub//b.txt", "b")),
  reads("dots in the middle", { "sub/b.txt": "b" }, content("./sub/././b.txt", "b")),
  reads(".. inside the base", { "a.txt": "a", "sub/b.txt": "b" }, content("sub/../a.txt", "a")),
  reads(".. twice inside the base", { "a.txt": "a", "s/t/b.txt": "b" }, content("s/t/../../a.txt", "a")),
  reads(".. out of a folder that does not exist", { "a.txt": "a" }, content("missing/../a.txt", "a")),
  reads("spaces", { " a b .txt": "a" }, content(" a b .txt", "a")),
  reads("non-ASCII", { "données/é😀.txt": "a" }, content("données/é😀.txt", "a")),
  reads(
    "a backslash is an ordinary character of a file that exists",
    { "a\\b.txt": "a" },
    content("a\\b.txt", "a"),
  ),
  reads("a newline in the name", { "a\nb.txt": "a" }, content("a\nb.txt", "a")),
  reads("a name that begins with two dots", { "..a": "a" }, content("..a", "a")),
  reads("a name of three dots", { "...": "a" }, content("...", "a")),
  reads("a name of 255 bytes", { ["n".repeat(255)]: "a" }, content("n".repeat(255), "a")),
  reads("a tilde", { "~": "a" }, content("~", "a")),
  reads("a hidden file", { ".gitignore": "a" }, content(".gitignore", "a")),
  reads("a name like a member of every object", { constructor: "a" }, content("constructor", "a")),
  reads(
    "a decomposed name is its own name",
    { "cafe\u0301": "decomposed" },
    content("cafe\u0301", "decomposed"),
  ),
  refuses(
    "a composed name does not find the decomposed one",
    { "cafe\u0301": "a" },
    "caf\u00e9",
    failure("C211"),
  ),
  refuses(
    "a long path is shown cut, between characters",
    {},
    `${"long/".repeat(59)}name😀/x`,
    failure("C211", "not found"),
  ),
  refuses("another case does not find the file", { "a.txt": "a" }, "A.TXT", failure("C211")),
];

const missing: Case[] = [
  ["a missing file", "missing.txt"],
  ["a missing folder", "missing/a.txt"],
  ["a missing file with a newline in its name", "mis\nsing"],
  ["a missing file with a line separator in its name", "mis\u2028sing"],
  ["a path through a file", "a.txt/b"],
  ["a file with a slash behind it", "a.txt/"],
  ["percent escapes are literal", "%2e%2e/outside/secret.txt"],
  ["a tilde is literal", "~/a.txt"],
  ["a variable is literal", "$HOME/a.txt"],
  ["an address is literal", "file:a.txt"],
  ["a drive letter is literal", "C:\\a.txt"],
  ["a trailing space is literal", "a.txt "],
].map(([name, path]) => refuses(name!, outside, path!, failure("C211", "not found", "coder::list-folder")));

const links: Case[] = [
  reads("a link to a file", { "a.txt": "a", ln: { link: "a.txt" } }, content("ln", "a")),
  reads(
    "a link to a link",
    { "a.txt": "a", l1: { link: "l2" }, l2: { link: "./a.txt" } },
    content("l1", "a"),
  ),
  reads("through a link to a folder", { "sub/b.txt": "b", ln: { link: "sub" } }, content("ln/b.txt", "b")),
  reads(
    "a link to a folder written with a slash",
    { "sub/b.txt": "b", ln: { link: "sub/" } },
    content("ln/b.txt", "b"),
  ),
  reads(
    "a link upwards that stays inside",
    { "a.txt": "a", "sub/ln": { link: "../a.txt" } },
    content("sub/ln", "a"),
  ),
  reads(
    "an absolute link that stays inside",
    { "a.txt": "a", ln: { link: "<base>/a.txt" } },
    content("ln", "a"),
  ),
  reads(
    "an absolute link to a folder inside",
    { "sub/b.txt": "b", ln: { link: "<base>/sub" } },
    content("ln/b.txt", "b"),
  ),
  reads("a link to the base", { "a.txt": "a", "sub/ln": { link: ".." } }, content("sub/ln/a.txt", "a")),
  reads(
    ".. is resolved after a link",
    { "s/t/u/x": "x", "s/b.txt": "in s", "b.txt": "in base", ln: { link: "s/t" } },
    content("ln/../b.txt", "in s"),
  ),
  reads(
    "a link's own mode does not count",
    { "a.txt": { text: "a", mode: 0o600 }, ln: { link: "a.txt" } },
    content("ln", "a", { mode: 0o600 }),
  ),
  reads(
    "a hard link to a file outside",
    { "../outside/x": "x", a: { hardlink: "../outside/x" } },
    content("a", "x"),
  ),
  reads("a link on the other side of nine", chain(9), content("l0", "end")),
];

function chain(length: number): Tree {
  const tree: Record<string, Tree[string]> = { end: "end" };
  for (let n = 0; n < length; n++) tree[`l${n}`] = { link: n + 1 === length ? "end" : `l${n + 1}` };
  return tree;
}

const leaving: Case[] = [
  refuses(".. out of the base", outside, "../outside/secret.txt", failure("C215", "base folder")),
  refuses(".. later in the path", outside, "sub/../../outside/secret.txt", failure("C215")),
  refuses(".. out and in again", outside, "../base/a.txt", failure("C215")),
  refuses(".. alone", outside, "..", failure("C215")),
  refuses(".. out to what does not exist", outside, "../missing", failure("C215")),
  refuses(".. beyond a missing folder", outside, "missing/../../outside/secret.txt", failure("C215")),
  refuses("many ..", outside, `${"../".repeat(40)}etc/passwd`, failure("C215")),
  refuses("a link out", { ...outside, ln: { link: "../outside/secret.txt" } }, "ln", failure("C215", "link")),
  refuses("an absolute link out", { ...outside, ln: { link: "/etc/passwd" } }, "ln", failure("C215")),
  refuses(
    "a link to a folder outside",
    { ...outside, ln: { link: "../outside" } },
    "ln/secret.txt",
    failure("C215"),
  ),
  refuses(
    "a link to the folder above",
    { ...outside, ln: { link: ".." } },
    "ln/outside/secret.txt",
    failure("C215"),
  ),
  refuses("a link to the root", { ...outside, ln: { link: "/" } }, "ln/etc/passwd", failure("C215")),
  refuses(
    "a chain of links out",
    { ...outside, l1: { link: "l2" }, l2: { link: "../outside/secret.txt" } },
    "l1",
    failure("C215"),
  ),
  refuses("a link out and in again", { ...outside, ln: { link: "../base/a.txt" } }, "ln", failure("C215")),
  refuses(
    "a link out to what does not exist",
    { ...outside, ln: { link: "../outside/none" } },
    "ln",
    failure("C215"),
  ),
  refuses("a dangling link", { ln: { link: "none" } }, "ln", failure("C215", "link")),
  refuses("a dangling link as a folder", { ln: { link: "none" } }, "ln/a.txt", failure("C215")),
  refuses("a link to itself", { ln: { link: "ln" } }, "ln", failure("C215")),
  refuses("a loop of links", { l1: { link: "l2" }, l2: { link: "l1" } }, "l1", failure("C215")),
  refuses("a loop of folders", { "sub/ln": { link: "../sub/ln/x" } }, "sub/ln", failure("C215")),
  refuses(
    "a link to another process's root",
    { ln: { link: "/proc/self/root/etc/passwd" } },
    "ln",
    failure("C215"),
  ),
  refuses("a link to an open descriptor", { ln: { link: "/proc/self/fd/0" } }, "ln", failure("C215")),
  refuses(
    "a link to the current folder of the process",
    { ln: { link: "/proc/self/cwd" } },
    "ln/a.txt",
    failure("C215"),
  ),
  refuses(
    ".. through a link to the base",
    { "a.txt": "a", "sub/ln": { link: ".." } },
    "sub/ln/../outside",
    failure("C215"),
  ),
];

const secrets: Tree = {
  ".env": "denied-secret",
  ".env.local": "denied-secret",
  "sub/.env": "denied-secret",
  "sub/server.pem": "denied-secret",
  "id.key": "denied-secret",
  "secrets/x": "denied-secret",
  "sub/secrets/deep/y": "denied-secret",
  ".envrc": "open",
  env: "open",
  "secrets.txt": "open",
  pem: "open",
  "a.pem.txt": "open",
  "mysecrets/x": "open",
  ".ENV": "open",
  ln: { link: ".env" },
  "ln.pem": { link: "env" },
  folder: { link: "secrets" },
};

const denied: Case[] = [
  refuses("a file that is still being written", { ".coder-tmp-x": "half" }, ".coder-tmp-x", failure("C211")),
  ...[".env", ".env.local", "sub/.env", "sub/server.pem", "id.key", "secrets/x", "sub/secrets/deep/y"].map(
    (path) => refuses(`${path} is denied`, secrets, path, failure("C211", "not found", "denies")),
  ),
  ...["./.env", "sub/../.env", "sub//.env", "secrets/../.env"].map((path) =>
    refuses(`${path} is denied however it is written`, secrets, path, failure("C211")),
  ),
  refuses("a link to a denied file", secrets, "ln", failure("C211")),
  refuses("a link to a folder of denied files", secrets, "folder/x", failure("C211")),
  refuses("a link whose own name is denied", secrets, "ln.pem", failure("C211")),
  refuses("a denied file that does not exist", {}, ".env", failure("C211")),
  refuses("a path through a denied file", secrets, ".env/x", failure("C211")),
  ...[".envrc", "env", "secrets.txt", "pem", "a.pem.txt", "mysecrets/x", ".ENV"].map((path) =>
    reads(`${path} is not denied`, secrets, content(path, "open")),
  ),
  {
    ...reads("nothing is denied by no glob", secrets, content(".env", "denied-secret")),
    config: { non_accessible_globs: [] },
  },
  {
    ...refuses("a star in a deny glob crosses folders", { "sub/a.txt": "a" }, "sub/a.txt", failure("C211")),
    config: { non_accessible_globs: ["*.txt"] },
  },
  {
    ...refuses(
      "a denied folder denies what is below it",
      { "private/a.txt": "a" },
      "private/a.txt",
      failure("C211"),
    ),
    config: { non_accessible_globs: ["private"] },
  },
  {
    ...refuses("a deny glob with a class", { "b.txt": "b" }, "b.txt", failure("C211")),
    config: { non_accessible_globs: ["[!a].txt"] },
  },
  {
    ...reads("a deny glob that begins with ! is literal", { "b.txt": "b" }, content("b.txt", "b")),
    config: { non_accessible_globs: ["!a.txt"] },
  },
];

const limits: Case[] = [
  {
    ...reads("as large as max_read_bytes", { a: "0123456789" }, content("a", "0123456789")),
    config: { max_read_bytes: 10 },
  },
  {
    ...refuses(
      "one byte larger than max_read_bytes",
      { a: "0123456789+" },
      "a",
      failure("C213", "max_read_bytes", "10"),
    ),
    config: { max_read_bytes: 10 },
  },
  {
    ...refuses("characters are counted in bytes", { a: "éééééé" }, "a", failure("C213", "max_read_bytes")),
    config: { max_read_bytes: 10 },
  },
  {
    ...refuses(
      "a denied file is not told apart by its size",
      { ".env": "denied-secret" },
      ".env",
      failure("C211"),
    ),
    config: { max_read_bytes: 10 },
  },
];

const kinds: Case[] = [
  refuses("a folder", { "sub/b.txt": "b" }, "sub", failure("C210", "coder::list-folder")),
  refuses("a folder with a slash behind it", { "sub/b.txt": "b" }, "sub/", failure("C210")),
  refuses("the base", {}, ".", failure("C210")),
  refuses("a link to a folder", { "sub/b.txt": "b", ln: { link: "sub" } }, "ln", failure("C210")),
  refuses("a FIFO does not block", { pipe: { fifo: true } }, "pipe", failure("C210", "regular file")),
  refuses("a link to a FIFO", { pipe: { fifo: true }, ln: { link: "pipe" } }, "ln", failure("C210")),
];

const malformed: Case[] = [
  refuses("an empty path", outside, "", failure("C210", "empty")),
  refuses("an absolute path", outside, "/etc/passwd", failure("C210", "absolute")),
  refuses("an absolute path inside the base", outside, "<base>/a.txt", failure("C210", "absolute")),
  refuses("two slashes in front", outside, "//a.txt", failure("C210", "absolute")),
  refuses("a NUL", outside, "a.txt\0", failure("C210")),
  refuses("a NUL in the middle", outside, "a\0/../a.txt", failure("C210")),
  refuses("a name longer than 255 bytes", outside, "n".repeat(256), failure("C210", "255")),
  refuses("a name longer than 255 bytes, not characters", outside, "€".repeat(86), failure("C210", "255")),
  refuses("a path longer than 4096 bytes", outside, "n/".repeat(2049), failure("C210", "4096")),
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
  {
    name: "path is missing",
    tree: outside,
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "path") },
  },
  {
    name: "unknown fields are ignored",
    tree: { "a.txt": "a" },
    call: {
      function: id,
      payload: payloadOf(
        '{"path":"a.txt","_caller_worker_id":"x","encoding":7,"__proto__":{"path":"/etc/passwd"},"constructor":1}',
      ),
    },
    expect: { answer: content("a.txt", "a") },
  },
  {
    name: "a path in the prototype is no path",
    tree: { "a.txt": "a" },
    call: { function: id, payload: payloadOf('{"__proto__":{"path":"a.txt"}}') },
    expect: { error: failure("C210", "path") },
  },
];

export const cases: readonly Case[] = [
  ...contents,
  ...modes,
  ...names,
  ...missing,
  ...links,
  ...leaving,
  ...denied,
  ...limits,
  ...kinds,
  ...malformed,
  ...payloads,
];
