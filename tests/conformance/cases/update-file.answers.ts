import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { type Case, contentRevision, errorWith, failure, wrongTypes } from "../case.ts";

const id = "coder::update-file";

type Op = Readonly<Record<string, unknown>>;

const str = (old_str: string, new_str: string, more: Op = {}): Op => ({
  op: "str_replace",
  old_str,
  new_str,
  ...more,
});
const all = { replace_all: true };
const insert = (at_line: number, content: string): Op => ({ op: "insert", at_line, content });
const remove = (from_line: number, to_line: number): Op => ({ op: "remove", from_line, to_line });
const update = (from_line: number, to_line: number, content: string): Op => ({
  op: "update_lines",
  from_line,
  to_line,
  content,
});
const replace = (pattern: string, replacement: string, more: Op = {}): Op => ({
  op: "replace",
  pattern,
  replacement,
  ...more,
});

interface Call {
  readonly tree: Tree;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly results: readonly unknown[];
  readonly changes: Changes;
  readonly config?: Readonly<Record<string, unknown>>;
}

const answers = (name: string, { tree, payload, results, changes, config }: Call): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { answer: { results }, tree: changes },
  ...(config && { config }),
});

const lineCount = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

interface Edit {
  readonly before: string;
  readonly ops: readonly Op[];
  readonly after: string;
}

const head = ({ ops, after }: Edit) => ({
  path: "a",
  success: true,
  applied: ops.length,
  new_line_count: lineCount(after),
});

/** Makes an edit of the file `a`, whose answer in this form has these fields. */
const shows = (name: string, answer: string, edit: Edit, fields: Readonly<Record<string, unknown>>): Case =>
  answers(name, {
    tree: { a: edit.before },
    payload: { files: [{ path: "a", ops: edit.ops }], answer },
    results: [{ ...head(edit), ...fields }],
    changes: edit.before === edit.after ? {} : { a: edit.after },
  });

const echo = (name: string, edit: Edit, ...echoes: readonly unknown[]): Case =>
  shows(name, "echo", edit, { echoes, echoes_truncated: false });

const diff = (name: string, edit: Edit, text: string): Case =>
  shows(name, "diff", edit, { diff: text === "" ? "" : `--- a/a\n+++ b/a\n${text}`, diff_truncated: false });

const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => `${first + n}`);
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const ten = text(range(1, 10));

const echoes: Case[] = [
  echo(
    "the echo of an insert has two lines around",
    { before: ten, ops: [insert(5, "x")], after: text([...range(1, 4), "x", ...range(5, 10)]) },
    { op_index: 0, from_line: 3, lines: ["3", "4", "x", "5", "6"] },
  ),
  echo(
    "of a removal, the lines before and behind",
    { before: ten, ops: [remove(5, 6)], after: text([...range(1, 4), ...range(7, 10)]) },
    { op_index: 0, from_line: 3, lines: ["3", "4", "7", "8"] },
  ),
  echo(
    "of an update",
    { before: ten, ops: [update(1, 1, "x\ny")], after: text(["x", "y", ...range(2, 10)]) },
    { op_index: 0, from_line: 1, lines: ["x", "y", "2", "3"] },
  ),
  echo(
    "of lines at the end",
    { before: ten, ops: [insert(11, "x")], after: text([...range(1, 10), "x"]) },
    { op_index: 0, from_line: 9, lines: ["9", "10", "x"] },
  ),
  echo(
    "of a removal of everything",
    { before: "a\n", ops: [remove(1, 1)], after: "" },
    { op_index: 0, from_line: 0, lines: [] },
  ),
  echo(
    "of a removal at the end",
    { before: ten, ops: [remove(10, 10)], after: text(range(1, 9)) },
    { op_index: 0, from_line: 8, lines: ["8", "9"] },
  ),
  echo(
    "line numbers are those after all ops",
    {
      before: ten,
      ops: [insert(1, "x\ny"), update(9, 9, "z")],
      after: text(["x", "y", ...range(1, 8), "z", "10"]),
    },
    { op_index: 0, from_line: 1, lines: ["x", "y", "1", "2"] },
    { op_index: 1, from_line: 9, lines: ["7", "8", "z", "10"] },
  ),
  echo(
    "echoes come in the order of the ops",
    { before: ten, ops: [update(9, 9, "z"), remove(1, 1)], after: text([...range(2, 8), "z", "10"]) },
    { op_index: 0, from_line: 6, lines: ["7", "8", "z", "10"] },
    { op_index: 1, from_line: 1, lines: ["2", "3"] },
  ),
  echo(
    "of a replacement of a text",
    { before: ten, ops: [str("5\n", "five\n")], after: text([...range(1, 4), "five", ...range(6, 10)]) },
    { op_index: 0, from_line: 3, lines: ["3", "4", "five", "6", "7"], total_replacements: 1 },
  ),
  echo(
    "of a replacement within a line",
    { before: "a b c\n", ops: [str(" b", "")], after: "a c\n" },
    { op_index: 0, from_line: 1, lines: ["a c"], total_replacements: 1 },
  ),
  echo(
    "of replacements whose lines meet",
    {
      before: ten,
      ops: [replace("(?m)^[27]$", "x")],
      after: text(["1", "x", ...range(3, 6), "x", ...range(8, 10)]),
    },
    { op_index: 0, from_line: 1, lines: ["1", "x", ...range(3, 6), "x", "8", "9"], total_replacements: 2 },
  ),
  echo(
    "of replacements that are apart",
    { before: ten, ops: [replace("(?m)^([19])$", "x$1")], after: text(["x1", ...range(2, 8), "x9", "10"]) },
    { op_index: 0, from_line: 1, lines: ["x1", "2", "3"], total_replacements: 2 },
    { op_index: 0, from_line: 7, lines: ["7", "8", "x9", "10"], total_replacements: 2 },
  ),
  echo(
    "of no replacement",
    { before: ten, ops: [replace("z", "x")], after: ten },
    { op_index: 0, from_line: 0, lines: [], total_replacements: 0 },
  ),
  echo(
    "an early edit is where later ones moved it",
    {
      before: ten,
      ops: [str("9\n", "nine\n"), replace("\\A", "x\ny\n")],
      after: text(["x", "y", ...range(1, 8), "nine", "10"]),
    },
    { op_index: 0, from_line: 9, lines: ["7", "8", "nine", "10"], total_replacements: 1 },
    { op_index: 1, from_line: 1, lines: ["x", "y", "1", "2"], total_replacements: 1 },
  ),
  echo(
    "lines are shown without their endings",
    { before: "a\r\nb\r\n", ops: [update(2, 2, "é")], after: "a\r\né\r\n" },
    { op_index: 0, from_line: 1, lines: ["a", "é"] },
  ),
  echo(
    "a byte order mark is not shown",
    { before: "\ufeffa\nb\n", ops: [update(1, 1, "x")], after: "\ufeffx\nb\n" },
    { op_index: 0, from_line: 1, lines: ["x", "b"] },
  ),
  echo(
    "20 lines are shown whole",
    { before: "a\n", ops: [insert(2, text(range(1, 19)))], after: text(["a", ...range(1, 19)]) },
    { op_index: 0, from_line: 1, lines: ["a", ...range(1, 19)] },
  ),
  echo(
    "of 21 lines the first and the last 8",
    { before: "a\n", ops: [insert(2, text(range(1, 20)))], after: text(["a", ...range(1, 20)]) },
    { op_index: 0, from_line: 1, lines: ["a", ...range(1, 7), ...range(13, 20)], elided: 5 },
  ),
  shows(
    "five places of a replacement are shown",
    "echo",
    {
      before: `${"a\n\n\n\n\n\n".repeat(7)}`,
      ops: [str("a", "b", all)],
      after: `${"b\n\n\n\n\n\n".repeat(7)}`,
    },
    {
      echoes: Array.from({ length: 5 }, (_, n) => ({
        op_index: 0,
        from_line: n === 0 ? 1 : n * 6 - 1,
        lines: n === 0 ? ["b", "", ""] : ["", "", "b", "", ""],
        total_replacements: 7,
      })),
      echoes_truncated: false,
    },
  ),
  shows(
    "a long line is cut",
    "echo",
    { before: "a\n", ops: [update(1, 1, "é".repeat(300))], after: `${"é".repeat(300)}\n` },
    { echoes: [{ op_index: 0, from_line: 1, lines: [`${"é".repeat(256)}…`] }], echoes_truncated: true },
  ),
  shows(
    "echoes over 4 KiB are left out",
    "echo",
    {
      before: text(Array.from({ length: 40 }, (_, n) => `${n}`.padEnd(200, "x"))),
      ops: [3, 13, 23, 33].map((line) => update(line, line, "y".repeat(200))),
      after: text(
        Array.from({ length: 40 }, (_, n) =>
          [2, 12, 22, 32].includes(n) ? "y".repeat(200) : `${n}`.padEnd(200, "x"),
        ),
      ),
    },
    {
      echoes: [0, 1, 2].map((op) => ({
        op_index: op,
        from_line: op * 10 + 1,
        lines: Array.from({ length: 5 }, (_, n) =>
          n === 2 ? "y".repeat(200) : `${op * 10 + n}`.padEnd(200, "x"),
        ),
      })),
      echoes_truncated: true,
    },
  ),
];

const diffs: Case[] = [
  diff(
    "the diff of a line",
    { before: ten, ops: [update(5, 5, "five")], after: text([...range(1, 4), "five", ...range(6, 10)]) },
    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  ),
  diff(
    "of lines put in and taken out",
    { before: ten, ops: [insert(1, "x"), remove(10, 10)], after: text(["x", ...range(1, 9)]) },
    "@@ -1,3 +1,4 @@\n+x\n 1\n 2\n 3\n@@ -7,4 +8,3 @@\n 7\n 8\n 9\n-10\n",
  ),
  diff("of nothing", { before: ten, ops: [replace("z", "x")], after: ten }, ""),
  diff("of the same lines", { before: "a\nb\n", ops: [update(1, 2, "a\nb")], after: "a\nb\n" }, ""),
  diff(
    "of a replacement, and one of what that put there",
    { before: "a\nb\n", ops: [str("a", "c"), replace("c\n", "d\ne\n")], after: "d\ne\nb\n" },
    "@@ -1,2 +1,3 @@\n-a\n+d\n+e\n b\n",
  ),
  diff(
    "without a final newline",
    { before: "a", ops: [str("a", "b")], after: "b" },
    "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
  ),
  diff(
    "of a file that was empty",
    { before: "", ops: [insert(1, "a\n")], after: "a\n" },
    "@@ -0,0 +1 @@\n+a\n",
  ),
  diff(
    "of a file that becomes empty",
    { before: "a\n", ops: [remove(1, 1)], after: "" },
    "@@ -1 +0,0 @@\n-a\n",
  ),
  diff(
    "of CRLF",
    { before: "a\r\nb\r\n", ops: [str("a\n", "c\n")], after: "c\r\nb\r\n" },
    "@@ -1,2 +1,2 @@\n-a\r\n+c\r\n b\r\n",
  ),
  shows(
    "a diff over 4 KiB is cut",
    "diff",
    { before: `${"x".repeat(99)}\n`.repeat(100), ops: [remove(1, 100)], after: "" },
    {
      diff: `--- a/a\n+++ b/a\n@@ -1,100 +0,0 @@\n${`-${"x".repeat(99)}\n`.repeat(40)}`,
      diff_truncated: true,
    },
  ),
];

const oneEdit: Edit = { before: "a\nb\n", ops: [update(1, 1, "x")], after: "x\nb\n" };
const agent = { profile: "agent" };
/** The revision, which answers in the profile `agent` have in addition. */
const revision = contentRevision(oneEdit.after);

const defaults: Case[] = [
  shows("none shows nothing", "none", oneEdit, {}),
  shows("bodies are as without the field", "bodies", oneEdit, { before: "a\nb\n", after: "x\nb\n" }),
  // A file that a case before has edited or searched would have changed since, and the answer would say so.
  answers("the agent's profile shows echoes", {
    config: agent,
    tree: { e: "a\nb\n" },
    payload: { files: [{ path: "e", ops: oneEdit.ops }] },
    results: [
      {
        ...head(oneEdit),
        path: "e",
        revision,
        echoes: [{ op_index: 0, from_line: 1, lines: ["x", "b"] }],
        echoes_truncated: false,
      },
    ],
    changes: { e: "x\nb\n" },
  }),
  answers("and bodies where they are sent for", {
    config: agent,
    tree: { c: "a\nb\n" },
    payload: { files: [{ path: "c", ops: oneEdit.ops }], answer: "bodies" },
    results: [{ ...head(oneEdit), path: "c", revision, before: "a\nb\n", after: "x\nb\n" }],
    changes: { c: "x\nb\n" },
  }),
  answers("the answer can be chosen in a flat envelope too", {
    config: agent,
    tree: { d: "a\nb\n" },
    payload: { path: "d", ops: oneEdit.ops, answer: "none" },
    results: [{ ...head(oneEdit), path: "d", revision }],
    changes: { d: "x\nb\n" },
  }),
  answers("a file that fails has no echoes, and the others have theirs", {
    tree: { a: "a\nb\n", b: "b\n" },
    payload: {
      files: [
        { path: "b", ops: [remove(9, 9)] },
        { path: "a", ops: oneEdit.ops },
      ],
      answer: "echo",
    },
    results: [
      {
        path: "b",
        success: false,
        applied: 0,
        new_line_count: 0,
        error: errorWith("C210" as ErrorCode, "ops[0]"),
      },
      {
        ...head(oneEdit),
        echoes: [{ op_index: 0, from_line: 1, lines: ["x", "b"] }],
        echoes_truncated: false,
      },
    ],
    changes: { a: "x\nb\n" },
  }),
];

const payloads: Case[] = [
  ...wrongTypes({
    function: id,
    field: "answer",
    takes: ["null"],
    says: ["answer", "bodies", "echo", "diff", "none"],
    payload: (answer) => ({ files: [{ path: "a.txt", ops: [remove(1, 1)] }], answer }),
  }),
  {
    name: "answer is no form of an answer",
    tree: { "a.txt": "a\n" },
    call: { function: id, payload: { files: [{ path: "a.txt", ops: [remove(1, 1)] }], answer: "Echo" } },
    expect: { error: failure("C210", "answer", "echo") },
  },
];

export const cases: readonly Case[] = [...echoes, ...diffs, ...defaults, ...payloads];
