import type { ErrorCode } from "../../harness/errors.ts";
import type { TreeEntry } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith, failure, Matcher, missingWords, wrongTypes } from "../case.ts";

const id = "coder::update-file";

type Op = Readonly<Record<string, unknown>>;

const batch = batchOf(id, (files: readonly unknown[]) => ({ files }));

const str = (old_str: string, new_str: string, more: Op = {}): Op => ({
  op: "str_replace",
  old_str,
  new_str,
  ...more,
});
const all = { replace_all: true };
const insert = (at_line: number, content: string): Op => ({ op: "insert", at_line, content });
const remove = (from_line: number, to_line: number): Op => ({ op: "remove", from_line, to_line });
const replace = (pattern: string, replacement: string, more: Op = {}): Op => ({
  op: "replace",
  pattern,
  replacement,
  ...more,
});

const lineCount = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

/** Makes a case whose ops change the file `a` from the text `before` to `after`. */
const edits = (name: string, before: string, ops: readonly Op[], after: string): Case =>
  batch(name, { a: before }, [{ path: "a", ops }], {
    results: [
      { path: "a", success: true, applied: ops.length, new_line_count: lineCount(after), before, after },
    ],
    tree: before === after ? {} : { a: after },
  });

const failed = (error: unknown) => ({ path: "a", success: false, applied: 0, new_line_count: 0, error });

const refuses = (
  name: string,
  before: TreeEntry,
  ops: readonly unknown[],
  error: readonly [ErrorCode, ...string[]],
): Case =>
  batch(name, { a: before }, [{ path: "a", ops }], { results: [failed(errorWith(...error))], tree: {} });

interface Explained {
  readonly reason: string;
  /** The difference between the first candidate and the searched text. */
  readonly differs: string;
  /** The first and the last line of each candidate. */
  readonly lines: readonly (readonly [from: number, to: number])[];
  readonly says: readonly string[];
}

const explained = ({ reason, differs, lines, says }: Explained): Matcher =>
  new Matcher(`C210 ${reason} ${differs} at ${JSON.stringify(lines)} saying ${says.join(", ")}`, (value) => {
    const error = JSON.parse(String(value));
    const { candidates } = error.details;
    const texts = candidates.every(
      ({ text, similarity }: { text: unknown; similarity: number }) =>
        typeof text === "string" &&
        (reason === "not_found" ? similarity > 0 && similarity < 1 : similarity === 1),
    );
    const found = candidates.map((one: { from_line: number; to_line: number }) => [
      one.from_line,
      one.to_line,
    ]);
    return (
      error.code === "C210" &&
      error.reason === reason &&
      error.details.differs === differs &&
      Bun.deepEquals(found, lines) &&
      texts &&
      missingWords(error.message, says).length === 0
    );
  });

/** Makes a case that leaves the file `a` unchanged, with an error that explains the miss. */
const explains = (name: string, before: string, ops: readonly Op[], what: Explained): Case =>
  batch(name, { a: before }, [{ path: "a", ops }], { results: [failed(explained(what))], tree: {} });

const missing = (name: string, before: string, sent: string, what: Omit<Explained, "reason">): Case =>
  explains(name, before, [str(sent, "x")], { reason: "not_found", ...what });

const abc = "a\nb\nc\n";
const code = "function one() {\n\treturn 1;\n}\n\nfunction two() {\n\treturn 2;\n}\n";

const replacements: Case[] = [
  edits("a word", "one two\n", [str("two", "2")], "one 2\n"),
  edits("several lines", abc, [str("a\nb\n", "x\n")], "x\nc\n"),
  edits("a part of two lines", "one\ntwo\n", [str("e\nt", "-")], "on-wo\n"),
  edits("nothing in its place", "one two\n", [str(" two", "")], "one\n"),
  edits("the whole file", abc, [str(abc, "new")], "new"),
  edits("all of the file goes", abc, [str(abc, "")], ""),
  edits("what a regex would take for more", "a.c (x)* $1\n", [str("a.c (x)*", "$0")], "$0 $1\n"),
  edits("backslashes are characters", "a\\nb\n", [str("\\n", "\\t")], "a\\tb\n"),
  edits("every time", "x x\nx\n", [str("x", "yy", all)], "yy yy\nyy\n"),
  edits("every time, where it is there once", "x y\n", [str("x", "z", all)], "z y\n"),
  edits("every time, from left to right", "aaaaa", [str("aa", "b", all)], "bba"),
  edits("characters that are not ASCII", "é😀é\n", [str("😀", "ß")], "éßé\n"),
  edits("a NUL", "a\0b\n", [str("\0", "-")], "a-b\n"),
  edits("no final newline is kept", "a\nb", [str("b", "c")], "a\nc"),
  edits("a final newline may go", "a\n", [str("a\n", "a")], "a"),
  edits("a final newline may come", "a\nb", [str("b", "b\n")], "a\nb\n"),
  edits("what is put in is not looked at again", "a\n", [str("a", "aa", all)], "aa\n"),
];

const orders: Case[] = [
  edits("one after the other", "a\n", [str("a", "b"), str("b", "c")], "c\n"),
  edits("with replace, in order", "a\n", [str("a", "b"), replace("b", "c"), str("c", "d")], "d\n"),
  edits("replace first", "a b\n", [replace("a", "b"), str("b b", "c")], "c\n"),
  edits(
    "behind line ops, wherever they stand",
    abc,
    [str("x\na", "y"), insert(1, "x"), remove(3, 3)],
    "y\nb\n",
  ),
  edits("what line ops put in is found", abc, [insert(2, "new"), str("new", "old")], "a\nold\nb\nc\n"),
];

const endings: Case[] = [
  edits("CRLF: lines sent with LF", "a\r\nb\r\nc\r\n", [str("a\nb", "x\ny\nz")], "x\r\ny\r\nz\r\nc\r\n"),
  edits("CRLF: sent with CRLF", "a\r\nb\r\nc\r\n", [str("a\r\nb", "x\r\ny")], "x\r\ny\r\nc\r\n"),
  edits("CRLF: sent with both", "a\r\nb\r\nc\r\n", [str("a\r\nb\nc", "x\ny")], "x\r\ny\r\n"),
  edits("CRLF: a word becomes two lines", "a\r\nb\r\n", [str("a", "x\ny")], "x\r\ny\r\nb\r\n"),
  edits("CRLF: every time", "a\r\nb\r\na\r\nb\r\n", [str("a\nb\n", "x\n", all)], "x\r\nx\r\n"),
  edits("CRLF: a blank line goes", "a\r\n\r\nb\r\n", [str("a\n\nb", "a\nb")], "a\r\nb\r\n"),
  edits("CRLF: no final newline", "a\r\nb", [str("a\nb", "b\na")], "b\r\na"),
  edits("CRLF becomes LF where that is said", "a\r\nb\r\n", [str("\r\n", "\n", all)], "a\nb\n"),
  edits("LF: lines sent with CRLF", abc, [str("a\r\nb\r\n", "x\r\n")], "x\nc\n"),
  edits("mixed endings are taken literally", "a\r\nb\nc\r\n", [str("b\n", "x\n")], "a\r\nx\nc\r\n"),
  edits("mixed endings: CRLF", "a\r\nb\nc\r\n", [str("a\r\nb", "x")], "x\nc\r\n"),
  edits("a lone carriage return", "a\rb\n", [str("\r", "-")], "a-b\n"),
  edits("a byte order mark stays first", "\ufeffa\nb\n", [str("a", "x")], "\ufeffx\nb\n"),
  edits("a byte order mark that is sent back", "\ufeffa\nb\n", [str("\ufeffa", "\ufeffx")], "\ufeffx\nb\n"),
  edits("a byte order mark that is sent back once", "\ufeffa\nb\n", [str("\ufeffa", "x")], "\ufeffx\nb\n"),
];

const bytes = (text: string): TreeEntry => Buffer.from(text, "latin1");

const foreign: Case[] = [
  batch(
    "bytes that are not UTF-8 stay",
    { a: bytes("\xff a \xc3\n") },
    [{ path: "a", ops: [str(" a ", "é")] }],
    {
      results: [
        {
          path: "a",
          success: true,
          applied: 1,
          new_line_count: 1,
          before: "\ufffd a \ufffd\n",
          after: "\ufffdé\ufffd\n",
        },
      ],
      tree: { a: bytes("\xff\xc3\xa9\xc3\n") },
    },
  ),
  refuses(
    "U+FFFD is not what it stands for",
    bytes("\xff\n"),
    [str("\ufffd", "x")],
    ["C210", "old_str is not in"],
  ),
];

const refusals: Case[] = [
  refuses("an empty old_str", abc, [str("", "x")], ["C210", "empty old_str", "insert"]),
  refuses("an empty old_str in an empty file", "", [str("", "x")], ["C210", "empty old_str"]),
  refuses("the same text", abc, [str("a", "a")], ["C210", "the same"]),
  refuses("the same text, every time", abc, [str("a", "a", all)], ["C210", "the same"]),
  refuses("the same text, which is not there", abc, [str("z", "z")], ["C210", "the same"]),
  refuses("one that fails spoils those before", abc, [str("a", "x"), str("z", "y")], ["C210", "ops[1]"]),
  refuses("and the line ops", abc, [insert(1, "x"), str("z", "y")], ["C210", "ops[1]"]),
  refuses(
    "an op is looked at where the last one left the file",
    abc,
    [str("a", "x"), str("a", "y")],
    ["C210", "ops[1]"],
  ),
  {
    ...refuses(
      "a result that is too large",
      "aaaa\n",
      [str("a", "xxx", all)],
      ["C213", "max_write_bytes", "10"],
    ),
    config: { max_write_bytes: 10 },
  },
  {
    ...edits("a result as large as max_write_bytes", "aaaa\n", [str("aaaa", "xxxxxxxxx")], "xxxxxxxxx\n"),
    config: { max_write_bytes: 10 },
  },
];

const ambiguities: Case[] = [
  explains("a text that is there twice", "x\ny\nx\n", [str("x", "z")], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 1],
      [3, 3],
    ],
    says: ["2 times", "lines 1, 3", "replace_all"],
  }),
  explains("a text that is there five times", "x\n".repeat(5), [str("x\n", "z")], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
    says: ["5 times", "first in lines 1, 2, 3"],
  }),
  explains("twice in one line", "x x\n", [str("x", "z")], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 1],
      [1, 1],
    ],
    says: ["2 times", "line 1"],
  }),
  explains("places that overlap", "}\n}\n}\n", [str("}\n}\n", "}\n")], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 2],
      [2, 3],
    ],
    says: ["2 times"],
  }),
  explains("lines of a CRLF file that are there twice", "a\r\nb\r\na\r\nb\r\n", [str("a\nb\n", "x\n")], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 2],
      [3, 4],
    ],
    says: ["2 times"],
  }),
];

const misses: Case[] = [
  missing("spaces for tabs", code, "function two() {\n    return 2;\n}", {
    differs: "tabs",
    lines: [
      [5, 7],
      [1, 3],
    ],
    says: ["lines 5 to 7", "→return", "····return", "tabs"],
  }),
  missing("another indentation", "if x:\n    y()\n", "if x:\n  y()\n", {
    differs: "indent",
    lines: [[1, 2]],
    says: ["····y()", "··y()", "indentation"],
  }),
  missing("trailing blanks", "one\ntwo\n", "one  \ntwo\n", {
    differs: "trailing-space",
    lines: [[1, 2]],
    says: ['Line 1 is "one"', '"one··"'],
  }),
  missing("line endings in a mixed file", "one\r\ntwo\nthree\r\n", "one\ntwo", {
    differs: "crlf",
    lines: [[1, 2]],
    says: ['"one␍"', '"one"'],
  }),
  missing("typographic quotes", 'say "hello" now\n', "say “hello” now", {
    differs: "unicode-quotes",
    lines: [[1, 1]],
    says: ["typographic"],
  }),
  missing("escapes", "one\ttwo\nthree\n", "one\\ttwo\\nthree", {
    differs: "escape",
    lines: [[1, 2]],
    says: ["escapes"],
  }),
  missing(
    "a line left out",
    "alpha one\nbeta two\ngamma three\ndelta four\n",
    "alpha one\ngamma three\ndelta four\n",
    {
      differs: "none",
      lines: [[1, 4]],
      says: ['Line 2 is "beta·two"', '"gamma·three"'],
    },
  ),
  missing("line numbers", "one fine line\ntwo more lines\n", "1→one fine line\n2→two more lines\n", {
    differs: "none",
    lines: [[1, 2]],
    says: ["without the numbers"],
  }),
  missing("nothing alike", abc, "something else altogether", {
    differs: "none",
    lines: [],
    says: ["nor anything like it", "coder::read-file"],
  }),
  missing("an empty file", "", "anything", { differs: "none", lines: [], says: ["nor anything like it"] }),
  explains("a miss with replace_all", code, [str("  return 1;", "", all)], {
    reason: "not_found",
    differs: "tabs",
    lines: [
      [2, 2],
      [6, 6],
    ],
    says: ["ops[0]", "line 2"],
  }),
];

const expectations: Case[] = [
  edits("expect_matches that are there", "x x\n", [str("x", "y", { ...all, expect_matches: 2 })], "y y\n"),
  edits("expect_matches 1", "x\n", [str("x", "y", { expect_matches: 1 })], "y\n"),
  edits("expect_matches 0 asserts absence", abc, [str("z", "y", { expect_matches: 0 })], abc),
  edits("absence, and an edit", abc, [str("z", "y", { expect_matches: 0 }), str("a", "z")], "z\nb\nc\n"),
  explains("expect_matches 0 of what is there", abc, [str("b", "y", { expect_matches: 0 })], {
    reason: "match_count",
    differs: "none",
    lines: [[2, 2]],
    says: ["ops[0]", "no matches", "1, in line 2"],
  }),
  explains("too few matches", "x\nx\n", [str("x", "y", { ...all, expect_matches: 3 })], {
    reason: "match_count",
    differs: "none",
    lines: [
      [1, 1],
      [2, 2],
    ],
    says: ["3 matches", "2, first in lines 1, 2"],
  }),
  explains("too many matches", "x\nx\nx\nx\n", [str("x", "y", { ...all, expect_matches: 1 })], {
    reason: "match_count",
    differs: "none",
    lines: [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
    says: ["1 match", "4"],
  }),
  explains("expected once, and there twice", "x\nx\n", [str("x", "y", { expect_matches: 1 })], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 1],
      [2, 2],
    ],
    says: ["2 times"],
  }),
  explains("expected twice, and not unique", "x\nx\n", [str("x", "y", { expect_matches: 2 })], {
    reason: "ambiguous",
    differs: "none",
    lines: [
      [1, 1],
      [2, 2],
    ],
    says: ["replace_all"],
  }),
  explains("expected, and not there", "alpha beta\n", [str("alpha  beta", "y", { expect_matches: 1 })], {
    reason: "not_found",
    differs: "none",
    lines: [[1, 1]],
    says: ["old_str is not in"],
  }),
];

const withOp = (op: unknown) => ({ files: [{ path: "a.txt", ops: [op] }] });

const envelope = (name: string, op: unknown, ...says: string[]): Case => ({
  name,
  tree: { "a.txt": "a\n" },
  call: { function: id, payload: withOp(op) },
  expect: { error: failure("C210", ...says) },
});

const payloads: Case[] = [
  envelope("old_str is missing", { op: "str_replace", new_str: "x" }, "old_str"),
  envelope("new_str is missing", { op: "str_replace", old_str: "x" }, "new_str"),
  ...["old_str", "new_str"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a string"],
      says: [field, "string"],
      payload: (value) => withOp({ ...str("a", "b"), [field]: value }),
    }),
  ),
  ...wrongTypes({
    function: id,
    field: "replace_all",
    takes: ["a boolean"],
    says: ["replace_all", "true or false"],
    payload: (value) => withOp(str("a", "b", { replace_all: value })),
  }),
  ...wrongTypes({
    function: id,
    field: "expect_matches",
    takes: ["a number", "null"],
    says: ["expect_matches", "whole number"],
    payload: (value) => withOp(str("a", "b", { expect_matches: value })),
  }),
  envelope("expect_matches is negative", str("a", "b", { expect_matches: -1 }), "expect_matches"),
];

/** Adds the name of the op, because other ops have cases with the same names. */
const named = (one: Case): Case => ({ ...one, name: `str_replace: ${one.name}` });

export const cases: readonly Case[] = [
  replacements,
  orders,
  endings,
  foreign,
  refusals,
  ambiguities,
  misses,
  expectations,
  payloads,
].flatMap((list) => list.map(named));
