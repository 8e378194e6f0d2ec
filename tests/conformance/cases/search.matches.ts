/** Searches with lines around matches, and searches that return only the names of files. */
import type { Tree } from "../../harness/tree.ts";
import { anyCounts, type Case, failure, stoppedByMatches } from "../case.ts";

const id = "coder::search";

interface Match {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

interface Answer {
  readonly content_matches?: readonly Match[];
  readonly path_matches?: readonly { readonly kind: string; readonly path: string }[];
  readonly files?: readonly { readonly path: string; readonly count?: number }[];
  readonly truncated?: boolean;
}

function searches(name: string, tree: Tree, payload: object, answer: Answer): Case {
  const { query: _query, ...fields }: Readonly<Record<string, unknown>> = { ...payload };
  const isPage = Object.values(fields).some((value) => value !== null);
  const page = { index: "scan", ...anyCounts, ...(answer.truncated && stoppedByMatches) };
  return {
    name,
    tree,
    call: { function: id, payload: { search_paths: false, ...payload } },
    expect: {
      answer: { content_matches: [], path_matches: [], truncated: false, ...answer, ...(isPage && page) },
    },
  };
}

/** Makes a search in the contents of the file `a`, whose matches are all in that file. */
const inText = (
  name: string,
  body: string | Buffer,
  payload: object,
  matches: readonly Omit<Match, "path">[],
) =>
  searches(name, { a: body }, payload, {
    content_matches: matches.map((match) => ({ path: "a", ...match })),
  });

const five = "1\n2\nx\n4\n5\n";
const at3 = { line: 3, column: 1, text: "x" };

const around: Case[] = [
  inText("lines before a match", five, { query: "x", context_lines_before: 1 }, [{ ...at3, before: ["2"] }]),
  inText("lines after a match", five, { query: "x", context_lines_after: 1 }, [{ ...at3, after: ["4"] }]),
  inText("lines on both sides", five, { query: "x", context_lines_before: 2, context_lines_after: 1 }, [
    { ...at3, before: ["1", "2"], after: ["4"] },
  ]),
  inText(
    "more lines than there are",
    five,
    { query: "x", context_lines_before: 10, context_lines_after: 10 },
    [{ ...at3, before: ["1", "2"], after: ["4", "5"] }],
  ),
  inText("no lines before the first", "x\ny\n", { query: "x", context_lines_before: 3 }, [
    { line: 1, column: 1, text: "x", before: [] },
  ]),
  inText("no lines after the last", "y\nx\n", { query: "x", context_lines_after: 3 }, [
    { line: 2, column: 1, text: "x", after: [] },
  ]),
  inText("no lines after a last line without newline", "y\nx", { query: "x", context_lines_after: 3 }, [
    { line: 2, column: 1, text: "x", after: [] },
  ]),
  inText("a last line without newline is one", "x\ny", { query: "x", context_lines_after: 3 }, [
    { line: 1, column: 1, text: "x", after: ["y"] },
  ]),
  inText(
    "empty lines are lines",
    "\n\nx\n\n\n",
    { query: "x", context_lines_before: 5, context_lines_after: 5 },
    [{ ...at3, before: ["", ""], after: ["", ""] }],
  ),
  inText(
    "no lines where 0 are requested",
    five,
    { query: "x", context_lines_before: 0, context_lines_after: 0 },
    [at3],
  ),
  inText("no lines where null is requested", five, { query: "x", context_lines_before: null }, [at3]),
  inText(
    "matches next to each other have lines of their own",
    "x\nx\n",
    { query: "x", context_lines_before: 1, context_lines_after: 1 },
    [
      { line: 1, column: 1, text: "x", before: [], after: ["x"] },
      { line: 2, column: 1, text: "x", before: ["x"], after: [] },
    ],
  ),
  inText(
    "lines around may be those around another match",
    "x\ny\nx\n",
    { query: "x", context_lines_before: 1, context_lines_after: 1 },
    [
      { line: 1, column: 1, text: "x", before: [], after: ["y"] },
      { line: 3, column: 1, text: "x", before: ["y"], after: [] },
    ],
  ),
  inText(
    "CRLF endings are no part of lines around",
    "a\r\nx\r\nb\r\n",
    { query: "x", context_lines_before: 1, context_lines_after: 1 },
    [{ line: 2, column: 1, text: "x", before: ["a"], after: ["b"] }],
  ),
  inText("a lone CR ends no line around", "a\rb\nx\n", { query: "x", context_lines_before: 2 }, [
    { line: 2, column: 1, text: "x", before: ["a\rb"] },
  ]),
  inText("a CR at the end of the file stays", "x\nb\r", { query: "x", context_lines_after: 1 }, [
    { line: 1, column: 1, text: "x", after: ["b\r"] },
  ]),
  inText(
    "lines around are cut as matches are",
    "abcdef\nxbcdef\né€é\n",
    { query: "x", max_line_bytes: 4, context_lines_before: 1, context_lines_after: 1 },
    [{ line: 2, column: 1, text: "xbcd", before: ["abcd"], after: ["é"] }],
  ),
  inText(
    "lines around that are not UTF-8 are shown with U+FFFD",
    Buffer.from("caf\xe9\nx\n\xff\n", "latin1"),
    { query: "x", context_lines_before: 1, context_lines_after: 1 },
    [{ line: 2, column: 1, text: "x", before: ["caf\ufffd"], after: ["\ufffd"] }],
  ),
  inText(
    "lines around of a match of a regex",
    "fn a() {\n  1\n}\nfn b() {\n",
    { query: "^fn \\w+", regex: true, context_lines_after: 1 },
    [
      { line: 1, column: 1, text: "fn a() {", after: ["  1"] },
      { line: 4, column: 1, text: "fn b() {", after: [] },
    ],
  ),
  searches(
    "lines around do not cross files",
    { a: "1\nx\n", b: "x\n2\n" },
    { query: "x", context_lines_before: 1, context_lines_after: 1 },
    {
      content_matches: [
        { path: "a", line: 2, column: 1, text: "x", before: ["1"], after: [] },
        { path: "b", line: 1, column: 1, text: "x", before: [], after: ["2"] },
      ],
    },
  ),
  searches(
    "lines around in several scripts",
    { a: "ж\nx\n😀\n", b: "1\nx\n2\n" },
    { query: "x", context_lines_before: 1, context_lines_after: 1 },
    {
      content_matches: [
        { path: "a", line: 2, column: 1, text: "x", before: ["ж"], after: ["😀"] },
        { path: "b", line: 2, column: 1, text: "x", before: ["1"], after: ["2"] },
      ],
    },
  ),
  searches(
    "the cap counts matches, not lines around",
    { a: "1\nx\n2\nx\n3\n" },
    { query: "x", max_matches: 1, context_lines_after: 1 },
    {
      content_matches: [{ path: "a", line: 2, column: 1, text: "x", after: ["2"] }],
      truncated: true,
    },
  ),
  searches(
    "matches of paths have no lines around",
    { x: "1\n" },
    { query: "x", search_paths: true, context_lines_after: 1 },
    {
      path_matches: [{ kind: "file", path: "x" }],
    },
  ),
  searches(
    "a file with a NUL after the lines around is a binary",
    { a: Buffer.from("x\n1\n2\n\0") },
    { query: "x", context_lines_after: 1 },
    {},
  ),
];

const onceIn = (
  name: string,
  body: string,
  payload: object,
  matches: readonly Omit<Match, "path">[],
): Case => ({ ...inText(name, body, payload, matches), config: { profile: "agent" } });

const disjoint: Case[] = [
  onceIn(
    "profile agent: lines around are shown once, and no matches among them",
    "1\nx\n3\nx\nx\n6\n",
    { query: "x", context_lines_before: 2, context_lines_after: 2 },
    [
      { line: 2, column: 1, text: "x", before: ["1"], after: ["3"] },
      { line: 4, column: 1, text: "x", before: [], after: [] },
      { line: 5, column: 1, text: "x", before: [], after: ["6"] },
    ],
  ),
  onceIn(
    "profile agent: lines before a match begin after those of the previous one",
    "x\n2\n3\n4\nx\n",
    { query: "x", context_lines_before: 3, context_lines_after: 1 },
    [
      { line: 1, column: 1, text: "x", before: [], after: ["2"] },
      { line: 5, column: 1, text: "x", before: ["3", "4"], after: [] },
    ],
  ),
  {
    ...searches(
      "profile agent: lines after the last match of a page end before the next match",
      { a: "x\n2\nx\n4\n" },
      { query: "x", max_matches: 1, context_lines_before: 1, context_lines_after: 3 },
      {
        content_matches: [{ path: "a", line: 1, column: 1, text: "x", before: [], after: ["2"] }],
        truncated: true,
      },
    ),
    config: { profile: "agent" },
  },
];

const three: Tree = { a: "x\nx x\ny\n", "b/c": "y\n", "b/d": "1\nx", z: "x\n" };

const files: Case[] = [
  searches(
    "mode files names each file once",
    three,
    { query: "x", mode: "files" },
    {
      files: [{ path: "a" }, { path: "b/d" }, { path: "z" }],
    },
  ),
  searches(
    "mode counts adds how many lines match",
    three,
    { query: "x", mode: "counts" },
    {
      files: [
        { path: "a", count: 2 },
        { path: "b/d", count: 1 },
        { path: "z", count: 1 },
      ],
    },
  ),
  searches(
    "mode content is the default",
    { a: "x\n" },
    { query: "x", mode: "content" },
    {
      content_matches: [{ path: "a", line: 1, column: 1, text: "x" }],
    },
  ),
  searches(
    "a mode of null is the default",
    { a: "x\n" },
    { query: "x", mode: null },
    {
      content_matches: [{ path: "a", line: 1, column: 1, text: "x" }],
    },
  ),
  searches("mode files finds nothing", three, { query: "none", mode: "files" }, { files: [] }),
  searches("mode counts finds nothing", three, { query: "none", mode: "counts" }, { files: [] }),
  searches(
    "the cap counts files in mode files",
    three,
    { query: "x", mode: "files", max_matches: 2 },
    {
      files: [{ path: "a" }, { path: "b/d" }],
      truncated: true,
    },
  ),
  searches(
    "as many files as the cap are not cut",
    three,
    { query: "x", mode: "files", max_matches: 3 },
    {
      files: [{ path: "a" }, { path: "b/d" }, { path: "z" }],
    },
  ),
  searches(
    "the cap counts files in mode counts, not lines",
    three,
    { query: "x", mode: "counts", max_matches: 1 },
    {
      files: [{ path: "a", count: 2 }],
      truncated: true,
    },
  ),
  searches(
    "counts go past the cap",
    { a: "x\n".repeat(5000) },
    { query: "x", mode: "counts", max_matches: 10 },
    {
      files: [{ path: "a", count: 5000 }],
    },
  ),
  searches(
    "no files where the cap is 0",
    three,
    { query: "x", mode: "files", max_matches: 0 },
    {
      files: [],
      truncated: true,
    },
  ),
  searches(
    "matches of paths have their own list in mode files",
    { x: "y\n", y: "x\n" },
    { query: "x", search_paths: true, mode: "files" },
    {
      files: [{ path: "y" }],
      path_matches: [{ kind: "file", path: "x" }],
    },
  ),
  searches(
    "mode files without contents",
    three,
    { query: "a", search_content: false, search_paths: true, mode: "files" },
    {
      files: [],
      path_matches: [{ kind: "file", path: "a" }],
    },
  ),
  searches(
    "mode files has no lines around",
    three,
    { query: "x", include_globs: ["z"], mode: "files", context_lines_after: 2 },
    {
      files: [{ path: "z" }],
    },
  ),
  searches(
    "mode counts of a regex in any case",
    { a: "X1\nx2\nX\n" },
    { query: "^x\\d", regex: true, ignore_case: true, mode: "counts" },
    {
      files: [{ path: "a", count: 2 }],
    },
  ),
  searches(
    "mode counts within max_line_bytes",
    { a: "ax\nxa\n" },
    { query: "x", max_line_bytes: 1, mode: "counts" },
    {
      files: [{ path: "a", count: 1 }],
    },
  ),
  searches(
    "modes leave out binaries and denied files",
    { a: Buffer.from("x\0"), ".env": "x\n", b: "x\n" },
    { query: "x", mode: "counts" },
    {
      files: [{ path: "b", count: 1 }],
    },
  ),
  searches(
    "mode counts with globs",
    three,
    { query: "x", include_globs: ["b/**"], mode: "counts" },
    {
      files: [{ path: "b/d", count: 1 }],
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
  refuses("more than 10 lines before", { context_lines_before: 11 }, "context_lines_before", "10"),
  refuses("more than 10 lines after", { context_lines_after: 11 }, "context_lines_after", "10"),
  refuses("fewer than no lines", { context_lines_after: -1 }, "context_lines_after"),
  refuses("a fraction of a line", { context_lines_after: 1.5 }, "context_lines_after"),
  refuses("a mode that there is not", { mode: "lines" }, "mode", "counts"),
  refuses("an empty mode", { mode: "" }, "mode", "content"),
];

export const cases: readonly Case[] = [...around, ...disjoint, ...files, ...wrong];
