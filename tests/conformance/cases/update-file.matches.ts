import type { ErrorCode } from "../../harness/errors.ts";
import { batchOf, type Case, errorWith, failure, wrongTypes } from "../case.ts";

const id = "coder::update-file";

type Op = Readonly<Record<string, unknown>>;

const batch = batchOf(id, (files: readonly unknown[]) => ({ files }));

const replace = (pattern: string, replacement: string, more: Op = {}): Op => ({
  op: "replace",
  pattern,
  replacement,
  ...more,
});
const expecting = (pattern: string, replacement: string, expect_matches: number): Op =>
  replace(pattern, replacement, { expect_matches });
const dotted = { dot_matches_newline: true };

const edits = (name: string, before: string, ops: readonly Op[], after: string): Case =>
  batch(name, { a: before }, [{ path: "a", ops }], {
    results: [
      {
        path: "a",
        success: true,
        applied: ops.length,
        new_line_count: after.split("\n").length - 1,
        before,
        after,
      },
    ],
    tree: before === after ? {} : { a: after },
  });

const refuses = (
  name: string,
  before: string,
  ops: readonly Op[],
  error: readonly [ErrorCode, ...string[]],
): Case =>
  batch(name, { a: before }, [{ path: "a", ops }], {
    results: [{ path: "a", success: false, applied: 0, new_line_count: 0, error: errorWith(...error) }],
    tree: {},
  });

const abc = "a\nb\nc\n";

const dots: Case[] = [
  edits("a dot matches a newline", "a\nb\n", [replace("a.b", "x", dotted)], "x\n"),
  edits(
    "a dot matches no newline",
    "a\nb\n",
    [replace("a.b", "x", { dot_matches_newline: false })],
    "a\nb\n",
  ),
  edits("a region between two marks", "<\na\n>\nb\n<c>\n", [replace("<.*?>", "-", dotted)], "-\nb\n-\n"),
  edits("(?-s) takes it back", "a\nb\n", [replace("(?-s)a.b", "x", dotted)], "a\nb\n"),
  edits("with ignore_case", "A\nB\n", [replace("a.b", "x", { ...dotted, ignore_case: true })], "x\n"),
  edits("each op has its own", "a\nb\nc\n", [replace("b.c", "d", dotted), replace("a.d", "x")], "a\nd\n"),
];

const counts: Case[] = [
  edits("expect_matches of matches that are there", "x x\nx\n", [expecting("x", "y", 3)], "y y\ny\n"),
  edits("expect_matches counts matches, not lines", "xx\n", [expecting("x", "y", 2)], "yy\n"),
  edits("expect_matches of an empty match", "ab\n", [expecting("\\A", "> ", 1)], "> ab\n"),
  edits("expect_matches of what is replaced by itself", abc, [expecting("b", "b", 1)], abc),
  edits("expect_matches with groups", "k=v\n", [expecting("(\\w)=(\\w)", "$2=$1", 1)], "v=k\n"),
  edits("expect_matches 0 asserts absence of a pattern", abc, [expecting("z+", "y", 0)], abc),
  edits(
    "expect_matches counts what earlier ops left",
    "a\n",
    [replace("a", "bb"), expecting("b", "c", 2)],
    "cc\n",
  ),
  edits("expect_matches behind a byte order mark", "\ufeffa\n", [expecting("\\Aa", "b", 1)], "\ufeffb\n"),
  refuses("none where one is expected", abc, [expecting("z", "y", 1)], ["C210", "ops[0]", "1 match", "none"]),
  refuses("more than expected", "x\nx\nx\nx\n", [expecting("x", "y", 1)], ["C210", "are 4", "lines 1, 2, 3"]),
  refuses("fewer than expected", "x\ny\n", [expecting("x", "y", 2)], ["C210", "2 matches", "is 1", "line 1"]),
  refuses("one where none is expected", abc, [expecting("b", "y", 0)], ["C210", "no matches", "line 2"]),
  refuses(
    "one that is not as expected spoils the others",
    abc,
    [replace("a", "x"), expecting("b", "y", 5)],
    ["C210", "ops[1]"],
  ),
  refuses(
    "a bad template is refused, also where nothing matches",
    abc,
    [expecting("z", "$9", 0)],
    ["C210", "$9"],
  ),
];

const withOp = (op: unknown) => ({ files: [{ path: "a.txt", ops: [op] }] });

const payloads: Case[] = [
  ...wrongTypes({
    function: id,
    field: "dot_matches_newline",
    takes: ["a boolean", "null"],
    says: ["dot_matches_newline", "true or false"],
    payload: (value) => withOp(replace("a", "b", { dot_matches_newline: value })),
  }),
  ...wrongTypes({
    function: id,
    field: "replace's expect_matches",
    takes: ["a number", "null"],
    says: ["expect_matches", "whole number"],
    payload: (value) => withOp(replace("a", "b", { expect_matches: value })),
  }),
  {
    name: "expect_matches of a replace is negative",
    tree: { "a.txt": "a\n" },
    call: { function: id, payload: withOp(expecting("a", "b", -1)) },
    expect: { error: failure("C210", "expect_matches") },
  },
];

export const cases: readonly Case[] = [...dots, ...counts, ...payloads];
