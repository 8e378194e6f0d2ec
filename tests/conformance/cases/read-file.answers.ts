/** Reads of data other than text, of revisions, within budgets, and of several files at once. */
import { mtime, type Tree } from "../../harness/tree.ts";
import { type Case, contentRevision, errorWith, failure, wrongTypes } from "../case.ts";

const id = "coder::read-file";

const linesOf = (body: string | Buffer): number => {
  const text = body.toString("latin1");
  return text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
};

const factsOf = (path: string, body: string | Buffer) => ({
  path,
  size: Buffer.byteLength(body),
  mode: 0o644,
  mtime,
});

/** Returns the answer to a read of a whole file with a field that came after 0.2.0. */
const whole = (path: string, body: string | Buffer, content: string, isUtf8 = true) => ({
  ...factsOf(path, body),
  is_utf8: isUtf8,
  content,
  lines_returned: linesOf(body),
  total_lines: linesOf(body),
  more_lines: false,
});

const reads = (name: string, body: string | Buffer, request: object, answer: object): Case => ({
  name,
  tree: { a: body },
  call: { function: id, payload: { path: "a", ...request } },
  expect: { answer },
});

const refuses = (name: string, tree: Tree, payload: object, error: ReturnType<typeof failure>): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { error },
});

const text = "one\ntwo\n";
const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff]);

const revisions: Case[] = [
  reads(
    "a revision is the digest of the bytes",
    text,
    { revision: true },
    { ...whole("a", text, text), revision: contentRevision(text) },
  ),
  reads(
    "the revision of an empty file",
    "",
    { revision: true },
    { ...whole("a", "", ""), revision: contentRevision("") },
  ),
  reads(
    "the revision of bytes that are not UTF-8",
    bytes,
    { revision: true, encoding: "base64" },
    { ...whole("a", bytes, bytes.toString("base64"), false), revision: contentRevision(bytes) },
  ),
  reads(
    "a window has the revision of the whole file",
    text,
    { line_from: 2, revision: true },
    { ...whole("a", text, "two\n"), lines_returned: 1, revision: contentRevision(text) },
  ),
  reads(
    "the last lines have the revision of the whole file",
    text,
    { tail: 1, revision: true },
    { ...whole("a", text, "two\n"), lines_returned: 1, revision: contentRevision(text) },
  ),
  reads("no revision", text, { revision: false }, whole("a", text, text)),
];

const agent = { config: { profile: "agent" } };
const overBudget = `${"x".repeat(65_536)}\n${"x".repeat(65_536)}`;

const profiles: Case[] = [
  {
    ...reads(
      "profile agent: a revision",
      text,
      {},
      { ...factsOf("a", text), is_utf8: true, content: text, revision: contentRevision(text) },
    ),
    ...agent,
  },
  {
    ...reads("profile agent: no revision on request", text, { revision: false }, whole("a", text, text)),
    ...agent,
  },
  {
    ...refuses(
      "profile agent: too much content",
      { a: overBudget },
      { path: "a" },
      failure(
        "C213",
        "131073 bytes in 2 lines,",
        "max_output_bytes",
        "131072",
        "line_from",
        "tail",
        "coder::search",
      ),
    ),
    ...agent,
  },
  {
    ...reads(
      "profile agent: more content on request",
      overBudget,
      { max_output_bytes: 200_000, revision: false },
      { ...whole("a", overBudget, overBudget), text_notes: ["no newline at the end"] },
    ),
    ...agent,
  },
  {
    ...reads(
      "profile agent: how a text is written",
      "\ufeffa\r\nb\nc",
      { revision: false, line_to: 9 },
      {
        ...whole("a", "\ufeffa\r\nb\nc", "\ufeffa\r\nb\nc"),
        text_notes: ["BOM", "mixed line ends: 1 CRLF, 1 LF", "no newline at the end"],
      },
    ),
    ...agent,
  },
  {
    ...reads(
      "profile agent: what is not text",
      bytes,
      { revision: false, numbered: true },
      { ...factsOf("a", bytes), is_utf8: false, binary: "PNG image" },
    ),
    ...agent,
  },
  {
    ...reads(
      "profile agent: a window of a large file that is not text",
      "abc\0def\nghi\n",
      { line_to: 1 },
      { ...factsOf("a", "abc\0def\nghi\n"), binary: "" },
    ),
    config: { profile: "agent", max_read_bytes: 10 },
  },
  reads(
    "profile contract: as much content as max_read_bytes",
    overBudget,
    {},
    { ...factsOf("a", overBudget), is_utf8: true, content: overBudget },
  ),
];

const stats: Case[] = [
  reads(
    "stat",
    text,
    { stat: true },
    { ...factsOf("a", text), is_utf8: true, total_lines: 2, revision: contentRevision(text) },
  ),
  reads(
    "stat without a revision",
    text,
    { stat: true, revision: false },
    { ...factsOf("a", text), is_utf8: true, total_lines: 2 },
  ),
  reads(
    "stat of an empty file",
    "",
    { stat: true },
    { ...factsOf("a", ""), is_utf8: true, total_lines: 0, revision: contentRevision("") },
  ),
  reads(
    "stat of what is not UTF-8",
    bytes,
    { stat: true },
    { ...factsOf("a", bytes), is_utf8: false, total_lines: 3, revision: contentRevision(bytes) },
  ),
  {
    ...reads("stat of a file over max_read_bytes", text, { stat: true, revision: true }, factsOf("a", text)),
    config: { max_read_bytes: 7 },
  },
  reads(
    "stat needs no room for content",
    text,
    { stat: true, revision: false, max_output_bytes: 0 },
    { ...factsOf("a", text), is_utf8: true, total_lines: 2 },
  ),
  refuses(
    "stat of a folder",
    { "d/": null },
    { path: "d", stat: true },
    failure("C210", "not a regular file"),
  ),
  refuses("stat of nothing", {}, { path: "a", stat: true }, failure("C211", "not found")),
];

const encodings: Case[] = [
  reads("base64 of bytes", bytes, { encoding: "base64" }, whole("a", bytes, "iVBORw0KGgoA/w==", false)),
  reads("base64 of text", text, { encoding: "base64" }, whole("a", text, "b25lCnR3bwo=")),
  reads("base64 of nothing", "", { encoding: "base64" }, whole("a", "", "")),
  reads("text is the usual encoding", text, { encoding: "text" }, whole("a", text, text)),
  {
    ...refuses(
      "base64 of a file over max_read_bytes",
      { a: text },
      { path: "a", encoding: "base64" },
      failure("C213", "max_read_bytes", "8 bytes"),
    ),
    config: { max_read_bytes: 7 },
  },
];

const eight = "12\n45\n78";

const budgets: Case[] = [
  reads("as much content as max_output_bytes", eight, { max_output_bytes: 8 }, whole("a", eight, eight)),
  refuses(
    "a byte more than max_output_bytes",
    { a: eight },
    { path: "a", max_output_bytes: 7 },
    failure(
      "C213",
      "8 bytes in 3 lines",
      "max_output_bytes",
      "7",
      "up to line 2",
      "line_from",
      "tail",
      "coder::search",
    ),
  ),
  refuses(
    "not even one line within max_output_bytes",
    { a: "0123456789\n" },
    { path: "a", max_output_bytes: 10 },
    failure("C213", "11 bytes in 1 line,", "max_output_bytes"),
  ),
  reads(
    "a window within max_output_bytes",
    eight,
    { line_to: 2, max_output_bytes: 6 },
    { ...whole("a", eight, "12\n45\n"), lines_returned: 2, more_lines: true },
  ),
  refuses(
    "a window over max_output_bytes",
    { a: eight },
    { path: "a", line_from: 2, max_output_bytes: 4 },
    failure("C213", "8 bytes in 3 lines", "5 bytes", "up to line 2"),
  ),
  refuses(
    "last lines over max_output_bytes",
    { a: eight },
    { path: "a", tail: 2, max_output_bytes: 4 },
    failure("C213", "8 bytes in 3 lines"),
  ),
  reads(
    "numbers count as content",
    "a\n",
    { numbered: true, max_output_bytes: 6 },
    whole("a", "a\n", "1→a\n"),
  ),
  refuses(
    "numbers over max_output_bytes",
    { a: "a\nb\n" },
    { path: "a", numbered: true, max_output_bytes: 11 },
    failure("C213", "12 bytes", "up to line 1"),
  ),
  refuses(
    "base64 counts as content",
    { a: "abcd" },
    { path: "a", encoding: "base64", max_output_bytes: 7 },
    failure("C213", "8 bytes"),
  ),
  refuses(
    "what is shown for foreign bytes counts as content",
    { a: Buffer.from([0xff, 0xff]) },
    { path: "a", max_output_bytes: 5 },
    failure("C213", "6 bytes"),
  ),
  reads("no content needs no room", "", { max_output_bytes: 0 }, whole("a", "", "")),
  refuses(
    "a missing file is missing whatever the budget",
    {},
    { path: "a", max_output_bytes: 0 },
    failure("C211"),
  ),
  refuses(
    "a file over max_read_bytes says how to read it",
    { a: eight },
    { path: "a" },
    failure("C213", "8 bytes", "max_read_bytes", "line_from", "tail", "stat"),
  ),
].map((one, index) => (index === 12 ? { ...one, config: { max_read_bytes: 7 } } : one));

const entry = (answer: object) => ({ success: true, ...answer });
const failed = (path: string, code: Parameters<typeof errorWith>[0], ...says: string[]) => ({
  path,
  success: false,
  error: errorWith(code, ...says),
});

const batch = (name: string, tree: Tree, request: object, results: readonly unknown[]): Case => ({
  name,
  tree,
  call: { function: id, payload: request },
  expect: { answer: { results } },
});

const some: Tree = {
  a: "1\n2\n",
  b: "3\n",
  "d/c": "",
  ".env": "denied-secret",
  ln: { link: "../outside/x" },
};
const readA = entry(whole("a", "1\n2\n", "1\n2\n"));

const batches: Case[] = [
  batch("several files", some, { paths: ["a", "b", "d/c"] }, [
    readA,
    entry(whole("b", "3\n", "3\n")),
    entry(whole("d/c", "", "")),
  ]),
  batch("one file of several", some, { paths: ["a"] }, [readA]),
  batch("the same file twice", some, { paths: ["a", "./a"] }, [
    readA,
    entry({ ...whole("a", "1\n2\n", "1\n2\n"), path: "./a" }),
  ]),
  batch("each file has its own error", some, { paths: ["none", "a", ".env", "d", "../x", "", "/a", "ln"] }, [
    failed("none", "C211", "not found"),
    readA,
    failed(".env", "C211", "not found"),
    failed("d", "C210", "not a regular file"),
    failed("../x", "C215", "leaves"),
    failed("", "C210", "empty"),
    failed("/a", "C210", "absolute"),
    failed("ln", "C215", "link"),
  ]),
  batch("a window of each file", some, { paths: ["a", "b"], line_from: 2 }, [
    entry({ ...whole("a", "1\n2\n", "2\n"), lines_returned: 1 }),
    entry({ ...whole("b", "3\n", ""), lines_returned: 0 }),
  ]),
  batch("stat of each file", some, { paths: ["a", "b"], stat: true, revision: false }, [
    entry({ ...factsOf("a", "1\n2\n"), is_utf8: true, total_lines: 2 }),
    entry({ ...factsOf("b", "3\n"), is_utf8: true, total_lines: 1 }),
  ]),
  batch("the revision of each file", some, { paths: ["b", "none"], revision: true }, [
    entry({ ...whole("b", "3\n", "3\n"), revision: contentRevision("3\n") }),
    failed("none", "C211"),
  ]),
  batch("base64 of each file", some, { paths: ["b"], encoding: "base64" }, [
    entry(whole("b", "3\n", "Mwo=")),
  ]),
  batch(
    "the largest file goes when all together are too large",
    { a: "1234", b: "12345678", c: "12" },
    { paths: ["a", "b", "c"], max_output_bytes: 8 },
    [
      entry(whole("a", "1234", "1234")),
      failed("b", "C213", "8 bytes in 1 line,", "max_output_bytes", "largest", "call of its own"),
      entry(whole("c", "12", "12")),
    ],
  ),
  batch(
    "each of several files may have its share",
    { a: "1234", b: "1234", c: "123456" },
    { paths: ["c", "a", "b"], max_output_bytes: 12 },
    [
      failed("c", "C213", "max_output_bytes"),
      entry(whole("a", "1234", "1234")),
      entry(whole("b", "1234", "1234")),
    ],
  ),
  batch(
    "a file over the whole budget says so alone",
    { a: "1234\n6789", b: "12" },
    { paths: ["a", "b"], max_output_bytes: 8 },
    [failed("a", "C213", "9 bytes in 2 lines,", "line_from"), entry(whole("b", "12", "12"))],
  ),
  batch(
    "of a line over the whole budget no part by lines is offered",
    { a: "123456789", b: "12" },
    { paths: ["a", "b"], max_output_bytes: 8 },
    [
      failed("a", "C213", "9 bytes in 1 line,", "line 1 alone takes 9 bytes", "coder::search"),
      entry(whole("b", "12", "12")),
    ],
  ),
  {
    ...batch("a file over max_read_bytes among others", { a: eight, b: "12" }, { paths: ["a", "b"] }, [
      failed("a", "C213", "8 bytes", "max_read_bytes"),
      entry(whole("b", "12", "12")),
    ]),
    config: { max_read_bytes: 7 },
  },
  {
    ...batch(
      "profile agent: files share the usual budget",
      { a: "x".repeat(100_000), b: "y".repeat(50_000) },
      { paths: ["a", "b"], revision: false },
      [
        failed("a", "C213", "131072"),
        entry({
          ...whole("b", "y".repeat(50_000), "y".repeat(50_000)),
          text_notes: ["no newline at the end"],
        }),
      ],
    ),
    ...agent,
  },
  batch(
    "files with ranges of their own",
    { a: eight, b: "1\n2\n" },
    { files: [{ path: "a" }, { path: "b", line_from: 2 }, { path: "b", tail: 1 }], line_to: 1 },
    [
      entry({ ...whole("a", eight, "12\n"), lines_returned: 1, more_lines: true }),
      ...[1, 2].map(() => entry({ ...whole("b", "1\n2\n", "2\n"), lines_returned: 1 })),
    ],
  ),
  refuses("no paths", some, { paths: [] }, failure("C210", "paths", "empty")),
  refuses("path and paths", some, { path: "a", paths: ["a"] }, failure("C210", "path", "paths")),
  refuses("neither path nor paths", some, { line_from: 1 }, failure("C210", "path", "paths")),
  refuses("null is no path", some, { paths: null }, failure("C210", "path", "paths")),
  refuses(
    "a path that is no text among others",
    some,
    { paths: ["a", 7] },
    failure("C210", "paths[1]", "string"),
  ),
  refuses(
    "fields that do not go together, for all files",
    some,
    { paths: ["a"], tail: 1, line_to: 1 },
    failure("C210", "tail"),
  ),
];

const types: Case[] = [
  ...["stat", "revision"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a boolean", "null"],
      says: [field, "true or false"],
      payload: (value) => ({ path: "a.txt", [field]: value }),
    }),
  ),
  ...wrongTypes({
    function: id,
    field: "paths",
    takes: ["an array", "null"],
    says: ["paths", "array"],
    payload: (value) => ({ paths: value }),
  }),
  ...wrongTypes({
    function: id,
    field: "max_output_bytes",
    takes: ["a number", "null"],
    says: ["max_output_bytes", "whole number"],
    payload: (value) => ({ path: "a.txt", max_output_bytes: value }),
  }),
];

export const cases: readonly Case[] = [
  ...revisions,
  ...profiles,
  ...stats,
  ...encodings,
  ...budgets,
  ...batches,
  ...types,
];
