import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { batchOf, type Case, contentRevision, errorWith, Matcher } from "../case.ts";

const id = "coder::update-file";

interface Entry {
  readonly path: string;
  readonly ops: readonly object[];
  readonly expected_revision?: unknown;
}

const batch = batchOf(id, (files: readonly Entry[]) => ({ files, answer: "none" }));

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

const failed = (path: string, error: unknown) => ({
  path,
  success: false,
  applied: 0,
  new_line_count: 0,
  error,
});

const append = (line: number) => [{ op: "insert", at_line: line, content: "new\n" }];

const edits = (
  name: string,
  before: string,
  entry: Omit<Entry, "path" | "expected_revision">,
  after: string,
) =>
  batch(name, { a: before }, [{ path: "a", expected_revision: contentRevision(before), ...entry }], {
    results: [
      {
        path: "a",
        success: true,
        applied: entry.ops.length,
        new_line_count: after.split("\n").length - 1,
        revision: contentRevision(after),
      },
    ],
    tree: before === after ? {} : { a: after },
  });

/** Matches C221 whose window begins at the line `from` and has exactly `content`. */
const shows = (current: string, from: number, content: string) =>
  new Matcher(`C221 with ${JSON.stringify(content)} from line ${from}`, (value) => {
    const { code, reason, details } = JSON.parse(String(value));
    const { window, total_lines, size } = details;
    return (
      code === "C221" &&
      reason === "revision_mismatch" &&
      details.expected === stale &&
      details.current === contentRevision(current) &&
      size === Buffer.byteLength(current) &&
      total_lines === current.split("\n").length - 1 &&
      window.from_line === from &&
      window.content === content
    );
  });

const stale = contentRevision("what the caller has seen");

const conflicts = (
  name: string,
  current: string,
  ops: readonly object[],
  [from, content]: readonly [number, string],
): Case =>
  batch(name, { a: current }, [{ path: "a", ops, expected_revision: stale }], {
    results: [failed("a", shows(current, from, content))],
    tree: {},
  });

const refuses = (name: string, tree: Tree, entry: Entry, error: readonly [ErrorCode, ...string[]]): Case =>
  batch(name, tree, [entry], { results: [failed(entry.path, errorWith(...error))], tree: {} });

const between = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}\n`).join("");

const changes: Changes = { b: "new\n" };

export const cases: readonly Case[] = [
  edits("the expected file is edited", "a\n", { ops: append(2) }, "a\nnew\n"),
  edits(
    "an edit that changes nothing",
    "a\n",
    { ops: [{ op: "update_lines", from_line: 1, to_line: 1, content: "a\n" }] },
    "a\n",
  ),
  edits("an empty file as expected", "", { ops: append(1) }, "new\n"),
  edits(
    "an exact text",
    lines(100),
    { ops: [{ op: "str_replace", old_str: "line 50\n", new_str: "fifty\n" }] },
    lines(100).replace("line 50\n", "fifty\n"),
  ),
  conflicts("an insert: three lines on each side are shown", lines(100), append(50), [47, between(47, 53)]),
  conflicts("an insert at the start", lines(100), append(1), [1, between(1, 4)]),
  conflicts("an insert past the end", lines(10), append(50), [10, between(10, 10)]),
  conflicts(
    "a remove: its lines are shown",
    lines(100),
    [{ op: "remove", from_line: 20, to_line: 22 }],
    [17, between(17, 25)],
  ),
  conflicts(
    "several ops: from the first to the last line",
    lines(100),
    [
      { op: "update_lines", from_line: 30, to_line: 31, content: "x\n" },
      { op: "insert", at_line: 20, content: "y\n" },
    ],
    [17, between(17, 34)],
  ),
  conflicts(
    "a text that is there: its lines are shown",
    lines(100),
    [{ op: "str_replace", old_str: "line 70\nline 71\n", new_str: "x" }],
    [67, between(67, 74)],
  ),
  conflicts(
    "a text that is there no more: the likeliest lines are shown",
    lines(60).replace("line 40\n", "  const total = price * count;\n"),
    [{ op: "str_replace", old_str: "const  total = price*count;", new_str: "x" }],
    [37, `${between(37, 39)}  const total = price * count;\n${between(41, 43)}`],
  ),
  conflicts(
    "a pattern: the start of the file is shown",
    lines(3),
    [{ op: "replace", pattern: "line", replacement: "x" }],
    [1, lines(3)],
  ),
  conflicts("a file that became empty", "", append(5), [1, ""]),
  refuses("nothing is there", {}, { path: "a", ops: append(1), expected_revision: stale }, [
    "C211",
    "not found",
  ]),
  refuses("a denied file", { ".env": "x" }, { path: ".env", ops: append(1), expected_revision: stale }, [
    "C211",
    "not found",
  ]),
  refuses(
    "a folder has no revision",
    { "a/b": "x" },
    { path: "a", ops: append(1), expected_revision: stale },
    ["C210", "not a regular file"],
  ),
  ...["", "absent", stale.toUpperCase(), stale.slice(7), `${stale}0`].map((bad) =>
    refuses(
      `the revision ${JSON.stringify(bad)} is none`,
      { a: "a\n" },
      { path: "a", ops: append(1), expected_revision: bad },
      ["C210", "expected_revision", "sha256:"],
    ),
  ),
  refuses(
    "the revision is compared before the ops",
    { a: "a\n" },
    { path: "a", ops: [{ op: "remove", from_line: 7, to_line: 9 }], expected_revision: stale },
    ["C221", "revision"],
  ),
  batch(
    "a mismatch leaves the other files alone",
    { a: "a\n", b: "" },
    [
      { path: "a", ops: append(1), expected_revision: stale },
      { path: "b", ops: append(1) },
    ],
    {
      results: [
        failed("a", shows("a\n", 1, "a\n")),
        { path: "b", success: true, applied: 1, new_line_count: 1 },
      ],
      tree: changes,
    },
  ),
  batch(
    "two entries of one file: the second expects what the first left",
    { a: "a\n" },
    [
      { path: "a", ops: append(1), expected_revision: contentRevision("a\n") },
      { path: "a", ops: append(1), expected_revision: contentRevision("new\na\n") },
    ],
    {
      results: [
        { path: "a", success: true, applied: 1, new_line_count: 2, revision: contentRevision("new\na\n") },
        {
          path: "a",
          success: true,
          applied: 1,
          new_line_count: 3,
          revision: contentRevision("new\nnew\na\n"),
        },
      ],
      tree: { a: "new\nnew\na\n" },
    },
  ),
];
