/** Answers in pages: their limits and texts, and invalid cursors. */
import type { Tree } from "../../harness/tree.ts";
import { anyCursor, type Case, failure, wrongTypes } from "../case.ts";

const id = "coder::search";

/** A page of matches. `lines` are `path:line` of lines with `x` in their first column. */
interface Page {
  readonly notSearched?: readonly object[];
  readonly lines?: readonly string[];
  readonly paths?: readonly string[];
  readonly files?: readonly object[];
  readonly searched: readonly [files: number, bytes: number];
  readonly skipped?: object;
  readonly stoppedBy?: "max_matches" | "max_bytes" | "deadline";
  readonly config?: NonNullable<Case["config"]>;
}

function answerOf({ lines = [], paths = [], files, searched, skipped, stoppedBy, notSearched }: Page) {
  const [count, bytes] = searched;
  return {
    content_matches: lines.map((match) => {
      const [path, line] = match.split(":");
      return { path, line: Number(line), column: 1, text: "x" };
    }),
    path_matches: paths.map((path) => ({ kind: "file", path })),
    ...(files && { files }),
    ...(notSearched && { not_searched: notSearched }),
    index: "scan",
    truncated: stoppedBy !== undefined,
    ...(stoppedBy && { next_cursor: anyCursor, stopped_by: stoppedBy }),
    searched: { files: count, bytes },
    skipped: { too_large: 0, binary: 0, unreadable: 0, long_lines: 0, excluded: 0, ...skipped },
  };
}

const searches = (name: string, tree: Tree, payload: object, { config, ...page }: Page): Case => ({
  name,
  ...(config && { config }),
  tree,
  call: { function: id, payload: { query: "x", ...payload } },
  expect: { answer: answerOf(page) },
});

/** Two files of 4 bytes with two matches each, and a file whose path matches. */
const five: Tree = { a: "x\nx\n", b: "x\nx\n", "c-x": "none" };
const everything = { lines: ["a:1", "a:2", "b:1", "b:2"], paths: ["c-x"] } as const;
const all: Page = { ...everything, searched: [3, 12] };

const pages: Case[] = [
  searches("max_bytes larger than the answer", five, { max_bytes: 100_000 }, all),
  searches("deadline_ms longer than the search", five, { deadline_ms: 20_000 }, all),
  searches("all limits together", five, { max_bytes: 9000, deadline_ms: 20_000, max_matches: 9 }, all),
  searches("nothing is found", five, { query: "none here", max_bytes: 9000 }, { searched: [3, 12] }),
  searches("an empty tree", {}, { max_bytes: 9000 }, { searched: [0, 0] }),
  searches("the largest numbers", five, { max_bytes: 4294967295, deadline_ms: 4294967295 }, all),
  searches(
    "max_bytes 0 is one match",
    five,
    { max_bytes: 0 },
    { lines: ["a:1"], searched: [1, 4], stoppedBy: "max_bytes" },
  ),
  searches(
    "max_bytes 1, the first match is a path",
    { x: "x\n" },
    { max_bytes: 1 },
    {
      paths: ["x"],
      searched: [1, 2],
      stoppedBy: "max_bytes",
    },
  ),
  searches(
    "max_bytes and one match alone",
    { a: "x\n" },
    { max_bytes: 1 },
    {
      lines: ["a:1"],
      searched: [1, 2],
      stoppedBy: "max_bytes",
    },
  ),
  searches("max_matches is the number of matches", five, { max_matches: 4, max_bytes: 9000 }, all),
  searches(
    "max_matches ends the page inside a file",
    five,
    { max_matches: 1, max_bytes: 9000 },
    {
      lines: ["a:1"],
      searched: [1, 4],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "max_matches ends the page between files",
    five,
    { max_matches: 2, max_bytes: 9000 },
    {
      lines: ["a:1", "a:2"],
      searched: [2, 8],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "max_matches of paths ends the page for contents too",
    { "a-x": "", "b-x": "", c: "x" },
    {
      max_matches: 1,
      max_bytes: 9000,
    },
    { paths: ["a-x"], searched: [2, 0], stoppedBy: "max_matches" },
  ),
  searches(
    "max_matches of contents ends the page for paths too",
    { a: "x\nx\n", "b-x": "" },
    {
      max_matches: 1,
      max_bytes: 9000,
    },
    { lines: ["a:1"], searched: [1, 4], stoppedBy: "max_matches" },
  ),
  searches(
    "max_matches 0 and something to find",
    five,
    { max_matches: 0, max_bytes: 9000 },
    {
      searched: [1, 4],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "max_matches 0 and nothing to find",
    { a: "b" },
    { max_matches: 0, max_bytes: 9000 },
    { searched: [1, 1] },
  ),
  searches(
    "without contents",
    five,
    { search_content: false, max_bytes: 9000 },
    { paths: ["c-x"], searched: [3, 0] },
  ),
  searches(
    "without paths",
    five,
    { search_paths: false, max_bytes: 9000 },
    { lines: everything.lines, searched: [3, 12] },
  ),
  searches(
    "a regex",
    five,
    { query: "^x$", regex: true, max_bytes: 9000 },
    { lines: everything.lines, searched: [3, 12] },
  ),
  searches(
    "a regex, cut",
    five,
    { query: "^x$", regex: true, max_matches: 3, max_bytes: 9000 },
    {
      lines: ["a:1", "a:2", "b:1"],
      searched: [2, 8],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "ignore_case, cut",
    five,
    { query: "X", ignore_case: true, max_matches: 3, max_bytes: 9000 },
    {
      lines: ["a:1", "a:2", "b:1"],
      searched: [2, 8],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "mode files",
    five,
    { mode: "files", search_paths: false, max_bytes: 9000 },
    {
      files: [{ path: "a" }, { path: "b" }],
      searched: [3, 12],
    },
  ),
  searches(
    "mode files, cut",
    five,
    { mode: "files", search_paths: false, max_matches: 1, max_bytes: 9000 },
    {
      files: [{ path: "a" }],
      searched: [2, 8],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "mode counts, cut",
    five,
    { mode: "counts", search_paths: false, max_matches: 1, max_bytes: 9000 },
    {
      files: [{ path: "a", count: 2 }],
      searched: [2, 8],
      stoppedBy: "max_matches",
    },
  ),
  searches(
    "one folder",
    { "s/a": "x\n", t: "x\n" },
    { path: "s", max_bytes: 9000 },
    { lines: ["s/a:1"], searched: [1, 2] },
  ),
  searches(
    "globs choose what is searched",
    five,
    { include_globs: ["b"], max_bytes: 9000 },
    {
      lines: ["b:1", "b:2"],
      searched: [1, 4],
    },
  ),
];

/** A page that ends within a line, or between matches that span lines. */
interface Span {
  readonly body: string;
  readonly payload: object;
  readonly matches: readonly (readonly [
    line: number,
    column: number,
    end: readonly [number | undefined, number],
    text: string,
  ])[];
  readonly stoppedBy?: Page["stoppedBy"];
}

function spans(name: string, { body, payload, matches, stoppedBy }: Span): Case {
  const page: Page = { searched: [1, body.length], ...(stoppedBy && { stoppedBy }) };
  return {
    name,
    tree: { a: body },
    call: { function: id, payload: { search_paths: false, max_bytes: 9000, ...payload } },
    expect: {
      answer: {
        ...answerOf(page),
        content_matches: matches.map(([line, column, [end_line, end_column], text]) => ({
          path: "a",
          line,
          column,
          ...(end_line !== undefined && { end_line }),
          end_column,
          text,
        })),
      },
    },
  };
}

const within: Case[] = [
  spans("max_matches ends the page within a line", {
    body: "x x x\n",
    payload: { query: "x", every_match: true, max_matches: 2 },
    matches: [
      [1, 1, [undefined, 2], "x x x"],
      [1, 3, [undefined, 4], "x x x"],
    ],
    stoppedBy: "max_matches",
  }),
  spans("all matches of a line are a page", {
    body: "x x\n",
    payload: { query: "x", every_match: true, max_matches: 2 },
    matches: [
      [1, 1, [undefined, 2], "x x"],
      [1, 3, [undefined, 4], "x x"],
    ],
  }),
  spans("max_bytes ends the page within a line", {
    body: "x x\n",
    payload: { query: "x", every_match: true, max_bytes: 0 },
    matches: [[1, 1, [undefined, 2], "x x"]],
    stoppedBy: "max_bytes",
  }),
  spans("max_matches ends the page between matches over lines", {
    body: "a\nb\na\nb\n",
    payload: { query: "a\nb", multiline: true, max_matches: 1 },
    matches: [[1, 1, [2, 2], "a\nb"]],
    stoppedBy: "max_matches",
  }),
  spans("max_bytes ends the page between matches over lines", {
    body: "a\nb\na\nb\n",
    payload: { query: "a\\s+b", regex: true, multiline: true, every_match: true, max_bytes: 0 },
    matches: [[1, 1, [2, 2], "a\nb"]],
    stoppedBy: "max_bytes",
  }),
  spans("matches over lines that are a page", {
    body: "a\nb\na\nb\n",
    payload: { query: "a\nb", multiline: true, max_matches: 2 },
    matches: [
      [1, 1, [2, 2], "a\nb"],
      [3, 1, [4, 2], "a\nb"],
    ],
  }),
];

const agent = { profile: "agent" };

const counts: Case[] = [
  searches(
    "a binary is skipped",
    { a: "x\n", b: "x\0" },
    { max_bytes: 9000 },
    {
      lines: ["a:1"],
      searched: [1, 2],
      skipped: { binary: 1 },
    },
  ),
  searches(
    "a NUL byte behind a match",
    { a: `${"y\n".repeat(1000)}x\n\0` },
    { max_bytes: 9000 },
    {
      searched: [0, 0],
      skipped: { binary: 1 },
    },
  ),
  searches(
    "a file over max_read_bytes is skipped",
    { a: "x\n", b: "x\n".repeat(100) },
    { max_bytes: 9000 },
    { lines: ["a:1"], searched: [1, 2], skipped: { too_large: 1 }, config: { max_read_bytes: 100 } },
  ),
  searches(
    "denied files are in no count",
    { ".env": "x", "secrets/a": "x", a: "x\n" },
    { max_bytes: 9000 },
    {
      lines: ["a:1"],
      searched: [1, 2],
    },
  ),
  searches(
    "links are in no count",
    { a: "x\n", link: { link: "a" } },
    { max_bytes: 9000 },
    {
      lines: ["a:1"],
      searched: [1, 2],
    },
  ),
  ...Object.entries({
    "a literal": { query: "x" },
    "a literal in any case": { query: "X", ignore_case: true },
    "a regex": { query: "x[0-9]?", regex: true },
    "a regex of classes": { query: "[w-z]", regex: true },
    "every match": { query: "x", every_match: true },
    "mode files": { query: "x", mode: "files" },
    "mode counts": { query: "x", mode: "counts" },
  }).map(([name, payload]) =>
    searches(
      `long lines: ${name} behind max_line_bytes`,
      { a: "aaax\naaax\n", b: "bbb\nbbbbb\n", "c.txt": "aaé x", d: "aaab\r\n" },
      { max_line_bytes: 3, max_bytes: 9000, ...payload },
      {
        ...("mode" in payload && { files: [] }),
        paths: ["c.txt"],
        searched: [4, 32],
        skipped: { long_lines: 2 },
      },
    ),
  ),
  searches(
    "long lines: matches before max_line_bytes, and behind it in the same line",
    { a: "x  x\n" },
    { max_line_bytes: 3, max_bytes: 9000, mode: "counts" },
    { files: [{ path: "a", count: 1 }], searched: [1, 5] },
  ),
  searches(
    "long lines: a file with a NUL byte in one",
    { a: "aaa\0x\n" },
    { max_line_bytes: 3, max_bytes: 9000 },
    { searched: [0, 0], skipped: { binary: 1 } },
  ),
  searches(
    "long lines: none with multiline, which searches all of each line",
    { a: "aaax\n" },
    { max_line_bytes: 3, max_bytes: 9000, mode: "files", multiline: true },
    { files: [{ path: "a" }], searched: [1, 5] },
  ),
  searches("the profile agent answers in pages", five, { search_paths: true }, { ...all, config: agent }),
  searches(
    "the profile agent and max_matches",
    five,
    { max_matches: 1 },
    { lines: ["a:1"], searched: [1, 4], stoppedBy: "max_matches", config: agent },
  ),
  searches(
    "the profile agent and max_bytes of the call",
    five,
    { max_bytes: 1 },
    { lines: ["a:1"], searched: [1, 4], stoppedBy: "max_bytes", config: agent },
  ),
];

/** Searches beside a file that is too large, whose limit the answer names. */
const overLimit = (name: string, payload: object, limit: { max_bytes: number; set_by: string }): Case =>
  searches(name, { a: "x\n", b: "x\n".repeat(100) }, payload, {
    lines: ["a:1"],
    searched: [1, 2],
    skipped: { too_large: 1 },
    notSearched: [{ count: 1, ...limit, reason: "too_large" }],
    config: { ...agent, max_read_bytes: 100 },
  });

const limits: Case[] = [
  overLimit("profile agent: max_read_bytes limits files", {}, { max_bytes: 100, set_by: "max_read_bytes" }),
  overLimit(
    "profile agent: max_file_bytes above max_read_bytes",
    { max_file_bytes: 1000 },
    { max_bytes: 100, set_by: "max_read_bytes" },
  ),
  overLimit(
    "profile agent: max_file_bytes below max_read_bytes",
    { max_file_bytes: 50 },
    { max_bytes: 50, set_by: "max_file_bytes" },
  ),
];

const refuses = (name: string, payload: object, ...says: string[]): Case => ({
  name,
  tree: five,
  call: { function: id, payload: { query: "x", ...payload } },
  expect: { error: failure("C210", ...says) },
});

const refusals: Case[] = [
  ...["", "x", "=", "a b", "../..", "AAAA", "A".repeat(32), "A".repeat(48), "A".repeat(5000), "é"].map(
    (text) =>
      refuses(
        `the cursor ${text.length > 40 ? `of ${text.length} letters` : `"${text}"`}`,
        { cursor: text },
        "cursor",
        "next_cursor",
      ),
  ),
  refuses("a cursor and an empty query", { query: "", cursor: "x" }, "query"),
  refuses("max_bytes below 0", { max_bytes: -1 }, "max_bytes"),
  refuses("max_bytes that is no whole number", { max_bytes: 1.5 }, "max_bytes"),
  refuses("max_bytes of more than 32 bits", { max_bytes: 4294967296 }, "max_bytes"),
  refuses("deadline_ms below 0", { deadline_ms: -1 }, "deadline_ms"),
  ...(["cursor", "deadline_ms", "max_bytes"] as const).flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["null", field === "cursor" ? "a string" : "a number"],
      says: [field],
      payload: (value) => ({ query: "x", [field]: value }),
    }),
  ),
];

export const cases: readonly Case[] = [...pages, ...within, ...counts, ...limits, ...refusals].map((one) => ({
  ...one,
  name: `pages: ${one.name}`,
}));
