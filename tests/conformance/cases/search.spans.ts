/** Searches for every match of a line, and for matches that span lines. */
import type { Tree } from "../../harness/tree.ts";
import { anyCounts, type Case, failure, stoppedByMatches } from "../case.ts";

const id = "coder::search";

/** A match as `[line, column, end_line, end_column, text]` with its other fields. `end_line` is optional. */
type Match = readonly [number, number, number | undefined, number, string, object?];

const searches = (
  name: string,
  tree: Tree,
  payload: object,
  answer: { readonly truncated?: boolean; readonly [list: string]: unknown },
): Case => ({
  name,
  tree,
  call: { function: id, payload: { search_paths: false, ...payload } },
  expect: {
    answer: {
      content_matches: [],
      path_matches: [],
      index: "scan",
      truncated: false,
      ...answer,
      ...anyCounts,
      ...(answer.truncated && stoppedByMatches),
    },
  },
});

const matchOf = ([line, column, end, end_column, text, rest = {}]: Match) => ({
  path: "a",
  line,
  column,
  ...(end !== undefined && { end_line: end }),
  end_column,
  text,
  ...rest,
});

const every = (name: string, body: string | Buffer, payload: object, matches: readonly Match[]): Case =>
  searches(name, { a: body }, { every_match: true, ...payload }, { content_matches: matches.map(matchOf) });

const spans = (name: string, body: string | Buffer, payload: object, matches: readonly Match[]): Case =>
  searches(name, { a: body }, { multiline: true, ...payload }, { content_matches: matches.map(matchOf) });

const regex = (query: string) => ({ query, regex: true });

const everyMatch: Case[] = [
  every("every match of a line", "x ax\n", { query: "x" }, [
    [1, 1, undefined, 2, "x ax"],
    [1, 4, undefined, 5, "x ax"],
  ]),
  every("every match of a regex", "f1 f22 g\n", regex("f\\d+"), [
    [1, 1, undefined, 3, "f1 f22 g"],
    [1, 4, undefined, 7, "f1 f22 g"],
  ]),
  every("every match does not overlap", "aaaaa\n", { query: "aa" }, [
    [1, 1, undefined, 3, "aaaaa"],
    [1, 3, undefined, 5, "aaaaa"],
  ]),
  every("every match in any case", "Ab aB\n", { query: "AB", ignore_case: true }, [
    [1, 1, undefined, 3, "Ab aB"],
    [1, 4, undefined, 6, "Ab aB"],
  ]),
  every("columns of every match are bytes", "éxéx\n", { query: "x" }, [
    [1, 3, undefined, 4, "éxéx"],
    [1, 6, undefined, 7, "éxéx"],
  ]),
  every("every match in a line that is not UTF-8", Buffer.from("\xffx\xffx\n", "latin1"), regex("x"), [
    [1, 2, undefined, 3, "\ufffdx\ufffdx"],
    [1, 4, undefined, 5, "\ufffdx\ufffdx"],
  ]),
  every("every match of a regex with groups", "a=1, b=2\n", regex("(\\w)=(\\d)"), [
    [1, 1, undefined, 4, "a=1, b=2"],
    [1, 6, undefined, 9, "a=1, b=2"],
  ]),
  every("every empty match", "ab\n", regex("x*"), [
    [1, 1, undefined, 1, "ab"],
    [1, 2, undefined, 2, "ab"],
    [1, 3, undefined, 3, "ab"],
  ]),
  every("no empty match at the end of another", "axa\n", regex("x*"), [
    [1, 1, undefined, 1, "axa"],
    [1, 2, undefined, 3, "axa"],
    [1, 4, undefined, 4, "axa"],
  ]),
  every("every match within max_line_bytes", "xxxx\n", { query: "x", max_line_bytes: 2 }, [
    [1, 1, undefined, 2, "xx"],
    [1, 2, undefined, 3, "xx"],
  ]),
  every("every match has the lines around its line", "1\nxx\n2\n", { query: "x", context_lines_after: 1 }, [
    [2, 1, undefined, 2, "xx", { after: ["2"] }],
    [2, 2, undefined, 3, "xx", { after: ["2"] }],
  ]),
  searches(
    "the cap counts every match",
    { a: "xxx\n" },
    { query: "x", every_match: true, max_matches: 2 },
    {
      content_matches: [matchOf([1, 1, undefined, 2, "xxx"]), matchOf([1, 2, undefined, 3, "xxx"])],
      truncated: true,
    },
  ),
  searches(
    "mode counts with every match",
    { a: "xx\nx\n" },
    { query: "x", every_match: true, mode: "counts" },
    {
      files: [{ path: "a", count: 3 }],
    },
  ),
  searches(
    "mode files with every match",
    { a: "xx\nx\n" },
    { query: "x", every_match: true, mode: "files" },
    {
      files: [{ path: "a" }],
    },
  ),
];

const multiline: Case[] = [
  spans("a literal over lines", "a\nb\nc\n", { query: "a\nb" }, [[1, 1, 2, 2, "a\nb"]]),
  spans("a regex over lines", "f(\n  1,\n)\n", regex("f\\(\\s+\\d"), [[1, 1, 2, 4, "f(\n  1,"]]),
  spans("a match in one line", "ab\ncd\n", regex("d"), [[2, 2, 2, 3, "cd"]]),
  spans("a match that ends with a newline ends in its line", "ab\ncd\n", regex("b\\n"), [[1, 2, 1, 4, "ab"]]),
  spans("a dot matches no newline", "ab\ncd\n", regex("b.c"), []),
  spans("a dot matches a newline after (?s)", "ab\ncd\n", regex("(?s)b.c"), [[1, 2, 2, 2, "ab\ncd"]]),
  spans("a match over many lines", "{\n1\n2\n}\n", regex("\\{[^}]*\\}"), [[1, 1, 4, 2, "{\n1\n2\n}"]]),
  spans("^ and $ match at the ends of each line", "ab\ncd\n", regex("^cd$"), [[2, 1, 2, 3, "cd"]]),
  spans("$ matches before CRLF", "ab\r\ncd\r\n", regex("b$"), [[1, 2, 1, 3, "ab"]]),
  spans("a match over CRLF shows it", "ab\r\ncd\r\n", regex("b\\r\\nc"), [[1, 2, 2, 2, "ab\r\ncd"]]),
  spans("\\A and \\z match at the ends of the file", "a\na", regex("\\Aa|a\\z"), [
    [1, 1, 1, 2, "a"],
    [2, 1, 2, 2, "a"],
  ]),
  spans("of matches that share a line the first one", "a\nb a\nb\n", regex("a\\nb"), [
    [1, 1, 2, 2, "a\nb a"],
  ]),
  spans("every match that shares a line", "a\nb a\nb\n", { ...regex("a\\nb"), every_match: true }, [
    [1, 1, 2, 2, "a\nb a"],
    [2, 3, 3, 2, "b a\nb"],
  ]),
  spans(
    "lines around a match over lines",
    "1\na\nb\n2\n",
    { query: "a\nb", context_lines_before: 1, context_lines_after: 1 },
    [[2, 1, 3, 2, "a\nb", { before: ["1"], after: ["2"] }]],
  ),
  spans("the lines of a match are cut together", "abc\ndef\n", { query: "c\nd", max_line_bytes: 5 }, [
    [1, 3, 2, 2, "abc\nd"],
  ]),
  spans(
    "lines longer than max_line_bytes are searched as a whole",
    "abcdef\n",
    { query: "ef", max_line_bytes: 3 },
    [[1, 5, 1, 7, "abc"]],
  ),
  spans("an empty match in each line", "a\n\nb", { ...regex("^"), every_match: true }, [
    [1, 1, 1, 1, "a"],
    [2, 1, 2, 1, ""],
    [3, 1, 3, 1, "b"],
  ]),
  spans("no line after the last newline", "a\n", { ...regex("$"), every_match: true }, [[1, 2, 1, 2, "a"]]),
  spans("nothing in an empty file", "", regex("^"), []),
  spans("in a text that is not UTF-8", Buffer.from("\xffa\nb\n", "latin1"), { query: "a\nb" }, [
    [1, 2, 2, 2, "\ufffda\nb"],
  ]),
  spans("a regex in a text that is not UTF-8", Buffer.from("\xffa\nb\n", "latin1"), regex("a\\sb"), [
    [1, 2, 2, 2, "\ufffda\nb"],
  ]),
  spans("in characters past ASCII", "é\nж\n", regex("\\w\\s\\w"), [[1, 1, 2, 3, "é\nж"]]),
  spans("in any case", "A\nB\n", { query: "a\nb", ignore_case: true }, [[1, 1, 2, 2, "A\nB"]]),
  spans("a binary", Buffer.from("a\nb\n\0"), { query: "a\nb" }, []),
  searches(
    "mode counts of matches over lines",
    { a: "a\nb\na\nb\n" },
    { ...regex("a\\nb"), multiline: true, mode: "counts" },
    {
      files: [{ path: "a", count: 2 }],
    },
  ),
  searches(
    "mode files of matches over lines",
    { a: "a\nb\n", b: "a b\n" },
    { query: "a\nb", multiline: true, mode: "files" },
    {
      files: [{ path: "a" }],
    },
  ),
  searches(
    "the cap of matches over lines",
    { a: "a\nb\na\nb\n" },
    { query: "a\nb", multiline: true, max_matches: 1 },
    {
      content_matches: [matchOf([1, 1, 2, 2, "a\nb"])],
      truncated: true,
    },
  ),
];

const refuses = (name: string, fields: object, ...says: string[]): Case => ({
  name,
  tree: { a: "x\n" },
  call: { function: id, payload: { query: "x", ...fields } },
  expect: { error: failure("C210", ...says) },
});

const wrong: Case[] = [
  refuses("every_match is a text", { every_match: "yes" }, "every_match"),
  refuses("multiline is a number", { multiline: 1 }, "multiline"),
  refuses("a bad pattern over lines", { query: "a(\n", regex: true, multiline: true }, "a("),
];

export const cases: readonly Case[] = [...everyMatch, ...multiline, ...wrong];
