import type { ErrorCode } from "../../harness/errors.ts";
import { type Changes, gone, type Tree } from "../../harness/tree.ts";
import { type Case, contentRevision, failure, Matcher, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::transact";

/** A change of the request. */
type Sent = Readonly<Record<string, unknown>> & { readonly op: string };

const name = new Matcher(
  "the name of a transaction",
  (value) => typeof value === "string" && /^[\da-f]{16}$/.test(value),
);
const plan = new Matcher("a plan", (value) => typeof value === "string" && /^[\da-f]{32}$/.test(value));
const later = new Matcher(
  "a time to come",
  (value) => Number.isSafeInteger(value) && Number(value) * 1000 > Date.now(),
);
const anything = new Matcher("anything", () => true);

interface Expected {
  readonly results?: readonly unknown[];
  readonly tree: Changes;
  readonly payload?: object;
  readonly config?: NonNullable<Case["config"]>;
}

const makes = (
  title: string,
  tree: Tree,
  changes: readonly Sent[],
  { results = changes.map(() => anything), tree: changed, payload, config }: Expected,
): Case => ({
  name: title,
  ...(config && { config }),
  tree,
  call: { function: id, payload: { changes, ...payload } },
  expect: { answer: { committed: true, transaction: name, results }, tree: changed },
});

interface Refused {
  readonly code: ErrorCode;
  readonly says?: readonly string[];
  readonly payload?: object;
  readonly config?: NonNullable<Case["config"]>;
}

const refuses = (title: string, tree: Tree, changes: readonly unknown[], refused: Refused): Case => ({
  name: title,
  ...(refused.config && { config: refused.config }),
  tree,
  call: { function: id, payload: { changes, ...refused.payload } },
  expect: { error: failure(refused.code, ...(refused.says ?? [])) },
});

const create = (path: string, content = "", more: object = {}): Sent => ({
  op: "create",
  path,
  content,
  ...more,
});
const append = (path: string, content: string, more: object = {}): Sent => ({
  op: "update",
  path,
  ops: [{ op: "insert", at_line: 1, content }],
  ...more,
});
const replace = (path: string, old: string, now: string): Sent => ({
  op: "update",
  path,
  ops: [{ op: "str_replace", old_str: old, new_str: now }],
});
const remove = (path: string, more: object = {}): Sent => ({ op: "delete", path, ...more });
const move = (from: string, to: string, more: object = {}): Sent => ({ op: "move", from, to, ...more });
const copy = (from: string, to: string, more: object = {}): Sent => ({ op: "copy", from, to, ...more });
const folder = (path: string, more: object = {}): Sent => ({ op: "make-folder", path, ...more });
const chmod = (path: string, mode: string): Sent => ({ op: "chmod", path, mode });

const single: Case[] = [
  makes("a file", {}, [create("s/a", "a")], {
    results: [{ op: "create", path: "s/a", bytes_written: 1, revision: contentRevision("a") }],
    tree: { "s/a": "a" },
  }),
  makes("a file with a mode", {}, [create("a", "", { mode: "0600" })], {
    tree: { a: { text: "", mode: 0o600 } },
  }),
  makes("a file in the place of another", { a: "old" }, [create("a", "new", { overwrite: true })], {
    tree: { a: "new" },
  }),
  makes("an edit", { a: "one\n" }, [append("a", "zero\n")], {
    results: [
      {
        op: "update",
        path: "a",
        applied: 1,
        new_line_count: 2,
        revision: contentRevision("zero\none\n"),
        echoes: anything,
        echoes_truncated: false,
      },
    ],
    tree: { a: "zero\none\n" },
  }),
  makes("an edit that shows a diff", { a: "one\n" }, [append("a", "zero\n")], {
    results: [
      {
        op: "update",
        path: "a",
        applied: 1,
        new_line_count: 2,
        revision: contentRevision("zero\none\n"),
        diff: anything,
        diff_truncated: false,
      },
    ],
    payload: { answer: "diff" },
    tree: { a: "zero\none\n" },
  }),
  makes("an edit that shows nothing", { a: "one\n" }, [append("a", "zero\n")], {
    results: [
      { op: "update", path: "a", applied: 1, new_line_count: 2, revision: contentRevision("zero\none\n") },
    ],
    payload: { answer: "none" },
    tree: { a: "zero\none\n" },
  }),
  makes("a file goes", { a: "a" }, [remove("a")], {
    results: [{ op: "delete", path: "a", removed: true }],
    tree: { a: gone },
  }),
  makes("a folder goes", { "s/t/a": "a" }, [remove("s", { recursive: true })], { tree: { "s/": gone } }),
  makes("a link goes, not what it leads to", { a: "a", ln: { link: "a" } }, [remove("ln")], {
    tree: { ln: gone },
  }),
  makes("a file moves", { a: "a" }, [move("a", "s/b")], {
    results: [{ op: "move", from: "a", to: "s/b", moved: true }],
    tree: { a: gone, "s/b": "a" },
  }),
  makes("a copy", { a: { text: "a", mode: 0o755 } }, [copy("a", "s/b")], {
    results: [{ op: "copy", from: "a", to: "s/b", copied: true }],
    tree: { "s/b": { text: "a", mode: 0o755 } },
  }),
  makes("a copy of a folder", { "s/t/a": "a", "s/ln": { link: "t" } }, [copy("s", "u")], {
    tree: { "u/t/a": "a", "u/ln": { link: "t" } },
  }),
  makes("a folder", {}, [folder("s/t")], {
    results: [{ op: "make-folder", path: "s/t", created: true }],
    tree: { "s/t/": null },
  }),
  makes("a folder with a mode", {}, [folder("s", { mode: "0700" })], { tree: { "s/": { mode: 0o700 } } }),
  makes("a mode", { a: "a" }, [chmod("a", "0700")], {
    results: [{ op: "chmod", path: "a", mode: "0700" }],
    tree: { a: { text: "a", mode: 0o700 } },
  }),
  makes("the mode of a folder", { "s/a": "a" }, [chmod("s", "0700")], { tree: { "s/": { mode: 0o700 } } }),
  makes("the mode of one name of a file with two", { a: "a", b: { hardlink: "a" } }, [chmod("b", "0600")], {
    tree: { b: { text: "a", mode: 0o600 } },
  }),
  makes("a label", {}, [create("a")], { payload: { label: "why" }, tree: { a: "" } }),
];

const nothing = (title: string, tree: Tree, changes: readonly Sent[], results: readonly unknown[]): Case => ({
  name: title,
  tree,
  call: { function: id, payload: { changes } },
  expect: { answer: { committed: true, results } },
});

const withoutEffect: Case[] = [
  nothing(
    "what is missing needs no delete",
    {},
    [remove("a")],
    [{ op: "delete", path: "a", removed: false }],
  ),
  nothing(
    "a file onto itself",
    { a: "a" },
    [move("a", "./a")],
    [{ op: "move", from: "a", to: "./a", moved: false }],
  ),
  nothing(
    "a folder that is there",
    { "s/": null },
    [folder("s")],
    [{ op: "make-folder", path: "s", created: false }],
  ),
  nothing(
    "an edit that changes nothing",
    { a: "a" },
    [{ op: "update", path: "a", ops: [{ op: "replace", pattern: "none", replacement: "b" }] }],
    [anything],
  ),
];

const inOrder: Case[] = [
  makes(
    "a file is made, edited, gets a mode, moves and is copied",
    {},
    [create("a", "one\n"), append("a", "zero\n"), chmod("a", "0600"), move("a", "s/b"), copy("s/b", "c")],
    { tree: { "s/b": { text: "zero\none\n", mode: 0o600 }, c: { text: "zero\none\n", mode: 0o600 } } },
  ),
  makes("a file goes and another is made there", { a: "old" }, [remove("a"), create("a", "new")], {
    tree: { a: "new" },
  }),
  makes("a file that is made goes again", { b: "b" }, [create("a"), remove("a"), chmod("b", "0600")], {
    tree: { b: { text: "b", mode: 0o600 } },
  }),
  makes("two names are swapped", { a: "a", b: "b" }, [move("a", "c"), move("b", "a"), move("c", "b")], {
    tree: { a: "b", b: "a" },
  }),
  makes(
    "a folder moves, and a file in it is edited",
    { "s/a": "one\n" },
    [move("s", "t"), append("t/a", "0\n")],
    {
      tree: { "s/": gone, "t/a": "0\none\n" },
    },
  ),
  makes(
    "a file is edited, and its folder moves",
    { "s/a": "one\n", "s/b": "b" },
    [append("s/a", "0\n"), move("s", "t/u")],
    { tree: { "s/": gone, "t/u/a": "0\none\n", "t/u/b": "b" } },
  ),
  makes(
    "a folder is copied, and changed in the copy",
    { "s/a": "one\n", "s/t/b": "b" },
    [copy("s", "u"), append("u/a", "0\n"), remove("u/t/b"), create("u/t/c", "c")],
    { tree: { "u/a": "0\none\n", "u/t/c": "c" } },
  ),
  makes("a folder is made, and a file in it", {}, [folder("s", { mode: "0700" }), create("s/a", "a")], {
    tree: { "s/": { mode: 0o700 }, "s/a": "a" },
  }),
  makes(
    "a folder goes, and a file takes its name",
    { "s/a": "a" },
    [remove("s", { recursive: true }), create("s", "file")],
    { tree: { "s/": gone, s: "file" } },
  ),
  makes("a folder that becomes empty goes", { "s/a": "a" }, [remove("s/a"), remove("s")], {
    tree: { "s/": gone },
  }),
  makes(
    "edits of one file build on each other",
    { a: "one\n" },
    [replace("a", "one", "two"), replace("a", "two", "three")],
    {
      tree: { a: "three\n" },
    },
  ),
  makes(
    "through a link that is moved",
    { "s/a": "one\n", ln: { link: "s" } },
    [move("ln", "other"), append("other/a", "0\n")],
    {
      tree: { ln: gone, other: { link: "s" }, "s/a": "0\none\n" },
    },
  ),
  makes(
    "a move over a file that was edited",
    { a: "one\n", b: "b\n" },
    [append("b", "0\n"), move("a", "b", { overwrite: true })],
    {
      tree: { a: gone, b: "one\n" },
    },
  ),
  makes(
    "a revision is that of what the changes before leave",
    { a: "a\n" },
    [append("a", "b\n"), remove("a", { expected_revision: contentRevision("b\na\n") })],
    { tree: { a: gone } },
  ),
  makes(
    "absent is what an earlier change has left",
    { a: "a" },
    [move("a", "b"), create("a", "new", { expected_revision: "absent" })],
    { tree: { a: "new", b: "a" } },
  ),
];

/** Makes a transaction whose last change fails, after one that would succeed. */
const fails = (title: string, tree: Tree, change: Sent, error: readonly [ErrorCode, ...string[]]): Case => {
  const [code, ...says] = error;
  const changes = [remove("first.txt"), change];
  return refuses(`nothing is changed: ${title}`, { "first.txt": "first", ...tree }, changes, { code, says });
};

const refusals: Case[] = [
  fails("create where a file is", { a: "a" }, create("a"), ["C217", "overwrite"]),
  fails("create where a folder is", { "s/": null }, create("s", "", { overwrite: true }), ["C210", "folder"]),
  fails("create in a folder that is missing", {}, create("s/a", "", { parents: false }), ["C211"]),
  fails("create with a bad mode", {}, create("a", "", { mode: "9" }), ["C210", "mode"]),
  fails("an edit of what is missing", {}, append("a", "x"), ["C211"]),
  fails("an edit of what went before", {}, append("first.txt", "x"), ["C211"]),
  fails("an edit of a folder", { "s/": null }, append("s", "x"), ["C210"]),
  fails("an edit without ops", { a: "a" }, { op: "update", path: "a", ops: [] }, ["C210", "ops"]),
  fails("a text that is not there", { a: "a" }, replace("a", "none", "x"), ["C210"]),
  fails("an edit of a read-only file", { a: { text: "a", mode: 0o444 } }, append("a", "x"), ["C216"]),
  fails("a folder that is not empty", { "s/a": "a" }, remove("s"), ["C216", "recursive"]),
  fails("the base", {}, remove(".", { recursive: true }), ["C210", "base"]),
  fails("a move of what is missing", {}, move("none", "b"), ["C211"]),
  fails("a move of what went before", {}, move("first.txt", "b"), ["C211"]),
  fails("a move onto a file", { a: "a", b: "b" }, move("a", "b"), ["C217", "overwrite"]),
  fails("a folder into itself", { "s/a": "a" }, move("s", "s/t"), ["C210", "itself"]),
  fails("a copy into itself", { "s/a": "a" }, copy("s", "s/t"), ["C210", "itself"]),
  fails("a copy of a FIFO", { p: { fifo: true } }, copy("p", "q"), ["C210"]),
  fails("a folder where a file is", { a: "a" }, folder("a"), ["C217"]),
  fails("a bad mode", { a: "a" }, chmod("a", "rw"), ["C210", "mode"]),
  fails("the mode of what is missing", {}, chmod("a", "0600"), ["C211"]),
  fails("the mode of a FIFO", { p: { fifo: true } }, chmod("p", "0600"), ["C210"]),
  fails("the mode of the base", {}, chmod(".", "0700"), ["C215"]),
  fails("outside", { "../outside/x": "x" }, move("../outside/x", "x"), ["C215"]),
  fails("to outside", { a: "a" }, copy("a", "../outside/a"), ["C215"]),
  fails("through a link that leads out", { ln: { link: "/etc" } }, create("ln/a"), ["C215"]),
  fails("a denied file", { ".env": "1" }, append(".env", "x"), ["C211"]),
  fails("a denied name", { a: "a" }, move("a", "x.pem"), ["C211"]),
  fails("a folder that holds something denied", { "s/.env": "1" }, move("s", "t"), ["C211"]),
  fails(
    "a delete of a folder that holds something denied",
    { "s/.env": "1" },
    remove("s", { recursive: true }),
    ["C211"],
  ),
  fails("another revision", { a: "a" }, append("a", "x", { expected_revision: contentRevision("b") }), [
    "C221",
  ]),
  fails(
    "a delete of another revision",
    { a: "a" },
    remove("a", { expected_revision: contentRevision("b") }),
    ["C221"],
  ),
  fails(
    "a move of another revision",
    { a: "a" },
    move("a", "b", { expected_revision: contentRevision("b") }),
    ["C221"],
  ),
  fails("a revision that is none", { a: "a" }, remove("a", { expected_revision: "a" }), [
    "C210",
    "expected_revision",
  ]),
];

const limits: Case[] = [
  refuses(
    "more changes than a call makes",
    {},
    Array.from({ length: 1001 }, (_, at) => folder(`s${at}`)),
    {
      code: "C210",
      says: ["1001", "1000"],
    },
  ),
  makes(
    "as many changes as a call makes",
    {},
    Array.from({ length: 1000 }, () => folder("s")),
    {
      tree: { "s/": null },
    },
  ),
  refuses("files that are too large together", {}, [create("a", "123456"), create("b", "123456")], {
    code: "C213",
    says: ["max_transaction_bytes"],
    config: { max_transaction_bytes: 10 },
  }),
  makes("files that are just small enough together", {}, [create("a", "12345"), create("b", "12345")], {
    tree: { a: "12345", b: "12345" },
    config: { max_transaction_bytes: 10 },
  }),
  refuses("a file that is too large", {}, [create("a", "12345678901")], {
    code: "C213",
    says: ["max_write_bytes"],
    config: { max_write_bytes: 10 },
  }),
];

const dryRuns: Case[] = [
  {
    name: "tried: several changes",
    tree: { a: "a" },
    call: { function: id, payload: { changes: [move("a", "b"), create("a", "x")], dry_run: true } },
    expect: {
      answer: {
        committed: false,
        plan,
        plan_expires_at: later,
        results: [
          { op: "move", from: "a", to: "b", moved: true },
          { op: "create", path: "a", bytes_written: 1, revision: contentRevision("x") },
        ],
      },
    },
  },
  refuses("tried: what fails", { a: "a" }, [remove("a"), append("a", "x")], {
    code: "C211",
    payload: { dry_run: true },
  }),
];

const payloads: Case[] = [
  ...notAnObject(id),
  refuses("no changes", {}, [], { code: "C210", says: ["changes", "empty"] }),
  refuses("an op that is none", {}, [{ op: "truncate", path: "a" }], {
    code: "C210",
    says: ["op", "truncate"],
  }),
  refuses("no op", {}, [{ path: "a" }], { code: "C210", says: ["op", "missing"] }),
  refuses("an op of update-file", { a: "a" }, [{ op: "insert", path: "a", at_line: 1, content: "x" }], {
    code: "C210",
    says: ["op"],
  }),
  refuses("a file without content", {}, [{ op: "create", path: "a" }], { code: "C210", says: ["content"] }),
  refuses("an empty path", {}, [create("")], { code: "C210", says: ["empty"] }),
  refuses("an answer that is none", {}, [create("a")], {
    code: "C210",
    says: ["answer"],
    payload: { answer: "bodies" },
  }),
  ...wrongTypes({
    function: id,
    field: "changes",
    takes: ["an array"],
    says: ["changes"],
    payload: (changes) => ({ changes }),
  }).filter(({ name }) => !name.includes("array")),
  ...wrongTypes({
    function: id,
    field: "dry_run",
    takes: ["a boolean"],
    says: ["dry_run"],
    payload: (value) => ({ changes: [create("a")], dry_run: value }),
  }),
  ...wrongTypes({
    function: id,
    field: "changes[0].recursive",
    takes: ["a boolean"],
    says: ["recursive"],
    payload: (value) => ({ changes: [remove("a", { recursive: value })] }),
  }),
];

export const cases: readonly Case[] = [
  ...single,
  ...withoutEffect,
  ...inOrder,
  ...refusals,
  ...limits,
  ...dryRuns,
  ...payloads,
];
