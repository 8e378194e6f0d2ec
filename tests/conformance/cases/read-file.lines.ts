/** Reads of parts of files: windows of lines, last lines, and line numbers. */
import { mtime, type Tree } from "../../harness/tree.ts";
import { type Case, failure, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::read-file";

interface Part {
  readonly content: string;
  readonly lines_returned: number;
  readonly total_lines?: number;
  readonly more_lines: boolean;
  readonly is_utf8?: boolean;
}

/** Makes a case that reads a part of the file `a`. */
const reads = (name: string, body: string | Buffer, request: object, part: Part): Case => ({
  name,
  tree: { a: body },
  call: { function: id, payload: { path: "a", ...request } },
  expect: {
    answer: { path: "a", is_utf8: true, size: Buffer.byteLength(body), mode: 0o644, mtime, ...part },
  },
});

const refuses = (name: string, request: object, ...says: string[]): Case => ({
  name,
  tree: { a: "1\n2\n3\n" },
  call: { function: id, payload: { path: "a", ...request } },
  expect: { error: failure("C210", ...says) },
});

const part = (content: string, lines: number, total: number, isMore: boolean): Part => ({
  content,
  lines_returned: lines,
  total_lines: total,
  more_lines: isMore,
});

const five = "1\n2\n3\n4\n5\n";
const long = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1}\n`).join("");

const windows: Case[] = [
  reads("a window in the middle", five, { line_from: 2, line_to: 4 }, part("2\n3\n4\n", 3, 5, true)),
  reads("a window of one line", five, { line_from: 3, line_to: 3 }, part("3\n", 1, 5, true)),
  reads("a window from a line to the end", five, { line_from: 4 }, part("4\n5\n", 2, 5, false)),
  reads("a window up to a line", five, { line_to: 2 }, part("1\n2\n", 2, 5, true)),
  reads("a window of the whole file", five, { line_from: 1, line_to: 5 }, part(five, 5, 5, false)),
  reads("a window that ends with the file", five, { line_from: 5, line_to: 5 }, part("5\n", 1, 5, false)),
  reads("a window that ends past the end", five, { line_from: 5, line_to: 99 }, part("5\n", 1, 5, false)),
  reads("a window that begins past the end", five, { line_from: 6, line_to: 9 }, part("", 0, 5, false)),
  reads("a window far past the end", five, { line_from: 4_294_967_295 }, part("", 0, 5, false)),
  reads("a window of an empty file", "", { line_from: 1, line_to: 9 }, part("", 0, 0, false)),
  reads("a window past the end of an empty file", "", { line_from: 2 }, part("", 0, 0, false)),
  reads("a last line without newline counts", "1\n2", { line_from: 2 }, part("2", 1, 2, false)),
  reads("a window before a last line without newline", "1\n2", { line_to: 1 }, part("1\n", 1, 2, true)),
  reads(
    "CRLF endings stay in a window",
    "1\r\n2\r\n3",
    { line_from: 2, line_to: 2 },
    part("2\r\n", 1, 3, true),
  ),
  reads("mixed endings stay in a window", "1\r\n2\n3\r\n", { line_from: 2 }, part("2\n3\r\n", 2, 3, false)),
  reads("a lone CR ends no line", "1\r2\n3\r", { line_from: 1, line_to: 1 }, part("1\r2\n", 1, 2, true)),
  reads(
    "form feeds and Unicode separators end no line",
    "1\f2\u2028\u2029\u0085\n3",
    { line_to: 1 },
    part("1\f2\u2028\u2029\u0085\n", 1, 2, true),
  ),
  reads("empty lines count", "\n\n\n", { line_from: 2, line_to: 2 }, part("\n", 1, 3, true)),
  reads("a byte order mark comes with line 1", "\ufeff1\n2\n", { line_to: 1 }, part("\ufeff1\n", 1, 2, true)),
  reads(
    "a byte order mark does not come with line 2",
    "\ufeff1\n2\n",
    { line_from: 2 },
    part("2\n", 1, 2, false),
  ),
  reads("a byte order mark alone is no line", "\ufeff", { line_from: 1 }, part("\ufeff", 0, 0, false)),
  reads(
    "characters of several bytes in a window",
    "é\n😀\n€\n",
    { line_from: 2, line_to: 2 },
    part("😀\n", 1, 3, true),
  ),
  reads(
    "a window of valid text in a file that is not UTF-8",
    Buffer.from("\xff\n2\n", "latin1"),
    { line_from: 2 },
    part("2\n", 1, 2, false),
  ),
  reads(
    "a window of foreign bytes",
    Buffer.from("1\n\xff\n", "latin1"),
    { line_from: 2 },
    { ...part("\ufffd\n", 1, 2, false), is_utf8: false },
  ),
  reads(
    "a window in a file of many lines",
    long,
    { line_from: 15_000, line_to: 15_001 },
    part("line 15000\nline 15001\n", 2, 20_000, true),
  ),
  reads(
    "null is no window",
    five,
    { line_from: null, line_to: null, tail: null, numbered: false },
    part(five, 5, 5, false),
  ),
];

const tails: Case[] = [
  reads("the last line", five, { tail: 1 }, part("5\n", 1, 5, false)),
  reads("the last lines", five, { tail: 3 }, part("3\n4\n5\n", 3, 5, false)),
  reads("as many last lines as there are", five, { tail: 5 }, part(five, 5, 5, false)),
  reads("more last lines than there are", five, { tail: 99 }, part(five, 5, 5, false)),
  reads("the last lines of an empty file", "", { tail: 3 }, part("", 0, 0, false)),
  reads("a last line without newline is the last line", "1\n2", { tail: 1 }, part("2", 1, 2, false)),
  reads("an empty last line is one", "1\n\n", { tail: 1 }, part("\n", 1, 2, false)),
  reads("CRLF endings stay in the last lines", "1\r\n2\r\n", { tail: 1 }, part("2\r\n", 1, 2, false)),
  reads(
    "the last lines do not have the byte order mark",
    "\ufeff1\n2\n",
    { tail: 1 },
    part("2\n", 1, 2, false),
  ),
  reads(
    "all last lines have the byte order mark",
    "\ufeff1\n2\n",
    { tail: 2 },
    part("\ufeff1\n2\n", 2, 2, false),
  ),
  reads(
    "the last lines of a file of many",
    long,
    { tail: 2 },
    part("line 19999\nline 20000\n", 2, 20_000, false),
  ),
];

const numbered: Case[] = [
  reads("numbers before all lines", "a\nb\n", { numbered: true }, part("1→a\n2→b\n", 2, 2, false)),
  reads("numbers without a final newline", "a\nb", { numbered: true }, part("1→a\n2→b", 2, 2, false)),
  reads(
    "numbers in a window are those of the file",
    five,
    { line_from: 4, line_to: 5, numbered: true },
    part("4→4\n5→5\n", 2, 5, false),
  ),
  reads(
    "numbers of the last lines are those of the file",
    five,
    { tail: 2, numbered: true },
    part("4→4\n5→5\n", 2, 5, false),
  ),
  reads(
    "numbers are not padded",
    long,
    { line_from: 9_999, line_to: 10_000, numbered: true },
    part("9999→line 9999\n10000→line 10000\n", 2, 20_000, true),
  ),
  reads("numbers before empty lines", "\n\n", { numbered: true }, part("1→\n2→\n", 2, 2, false)),
  reads("no numbers in an empty file", "", { numbered: true }, part("", 0, 0, false)),
  reads("no numbers past the end", five, { line_from: 9, numbered: true }, part("", 0, 5, false)),
  reads("numbers before CRLF lines", "a\r\nb\r\n", { numbered: true }, part("1→a\r\n2→b\r\n", 2, 2, false)),
  reads(
    "numbers stand behind a byte order mark",
    "\ufeffa\nb",
    { numbered: true },
    part("\ufeff1→a\n2→b", 2, 2, false),
  ),
  reads("arrows in the file stay", "1→a\n", { numbered: true }, part("1→1→a\n", 1, 1, false)),
  reads(
    "numbers before foreign bytes",
    Buffer.from("\xff\nb", "latin1"),
    { numbered: true },
    { ...part("1→\ufffd\n2→b", 2, 2, false), is_utf8: false },
  ),
];

/** A limit that the files of the next cases exceed, so that only parts of them can be read. */
const small = { config: { max_read_bytes: 8 } };
const fifteen = "1\n2\n3\n4\n5\n6\n7\n8";

const large: Case[] = [
  {
    ...reads(
      "a window of a large file",
      fifteen,
      { line_from: 2, line_to: 3 },
      { content: "2\n3\n", lines_returned: 2, more_lines: true },
    ),
    ...small,
  },
  {
    ...reads(
      "a window up to the end of a large file knows how many lines there are",
      fifteen,
      { line_from: 6 },
      part("6\n7\n8", 3, 8, false),
    ),
    ...small,
  },
  {
    ...reads(
      "a window past the end of a large file",
      fifteen,
      { line_from: 9, line_to: 12 },
      part("", 0, 8, false),
    ),
    ...small,
  },
  {
    ...reads(
      "a window of a large file as large as max_read_bytes",
      fifteen,
      { line_from: 1, line_to: 4 },
      { content: "1\n2\n3\n4\n", lines_returned: 4, more_lines: true },
    ),
    ...small,
  },
  {
    ...reads(
      "numbers in a window of a large file",
      fifteen,
      { line_from: 8, numbered: true },
      part("8→8", 1, 8, false),
    ),
    ...small,
  },
  {
    ...reads(
      "the last lines of a large file",
      fifteen,
      { tail: 2 },
      { content: "7\n8", lines_returned: 2, more_lines: false },
    ),
    ...small,
  },
  {
    ...reads(
      "numbers of the last lines of a large file",
      fifteen,
      { tail: 2, numbered: true },
      part("7→7\n8→8", 2, 8, false),
    ),
    ...small,
  },
  {
    ...reads(
      "a window of a large file has no revision",
      fifteen,
      { line_to: 1, revision: true },
      { content: "1\n", lines_returned: 1, more_lines: true },
    ),
    ...small,
  },
  ...(
    [
      ["a window of a large file that is too large", { line_from: 1, line_to: 5 }],
      ["a window of a large file without an end that is too large", { line_from: 2 }],
      ["too many last lines of a large file", { tail: 5 }],
      ["more last lines than a large file has", { tail: 99 }],
    ] as const
  ).map(
    ([name, request]): Case => ({
      name,
      ...small,
      tree: { a: fifteen },
      call: { function: id, payload: { path: "a", ...request } },
      expect: { error: failure("C213", "15 bytes", "max_read_bytes", "8", "line_from", "line_to", "tail") },
    }),
  ),
  ...([{ line_from: 1 }, { tail: 1 }, { stat: true }] as const).map(
    (request): Case => ({
      name: `a denied file is not told apart by its size: ${Object.keys(request)}`,
      ...small,
      tree: { ".env": "denied-secret" },
      call: { function: id, payload: { path: ".env", max_output_bytes: 0, ...request } },
      expect: { error: failure("C211", "not found") },
    }),
  ),
];

const combinations: Case[] = [
  refuses("line_from after line_to", { line_from: 3, line_to: 2 }, "line_from", "3", "line_to", "2"),
  refuses("tail with line_from", { tail: 1, line_from: 1 }, "tail", "line_from"),
  refuses("tail with line_to", { tail: 1, line_to: 1 }, "tail", "line_to"),
  refuses("base64 with line_from", { encoding: "base64", line_from: 1 }, "line_from", "base64"),
  refuses("base64 with line_to", { encoding: "base64", line_to: 1 }, "line_to", "base64"),
  refuses("base64 with tail", { encoding: "base64", tail: 1 }, "tail", "base64"),
  refuses("base64 with numbers", { encoding: "base64", numbered: true }, "numbered", "base64"),
  refuses("stat with line_from", { stat: true, line_from: 1 }, "line_from", "stat"),
  refuses("stat with tail", { stat: true, tail: 1 }, "tail", "stat"),
  refuses("stat with numbers", { stat: true, numbered: true }, "numbered", "stat"),
  refuses("stat with base64", { stat: true, encoding: "base64" }, "encoding", "stat"),
  refuses("line 0", { line_from: 0 }, "line_from", "from 1"),
  refuses("up to line 0", { line_to: 0 }, "line_to", "from 1"),
  refuses("no last lines", { tail: 0 }, "tail", "from 1"),
  refuses("a line number that is too large", { line_from: 4_294_967_296 }, "line_from", "4294967295"),
  refuses("a negative line number", { line_to: -1 }, "line_to"),
  refuses("an unknown encoding", { encoding: "utf-99" }, "encoding", "base64"),
  refuses(
    "what does not go together is refused before the file is looked for",
    { path: "none", tail: 1, line_from: 1 },
    "tail",
  ),
];

const types: Case[] = [
  ...["line_from", "line_to", "tail"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a number", "null"],
      says: [field, "whole number"],
      payload: (value) => ({ path: "a.txt", [field]: value }),
    }),
  ),
  ...wrongTypes({
    function: id,
    field: "numbered",
    takes: ["a boolean", "null"],
    says: ["numbered", "true or false"],
    payload: (value) => ({ path: "a.txt", numbered: value }),
  }),
  {
    name: "a window in the prototype is none",
    tree: { "a.txt": "1\n2\n" } satisfies Tree,
    call: { function: id, payload: payloadOf('{"path":"a.txt","__proto__":{"line_from":2}}') },
    expect: {
      answer: { path: "a.txt", is_utf8: true, size: 4, mode: 0o644, mtime, content: "1\n2\n" },
    },
  },
];

export const cases: readonly Case[] = [
  ...windows,
  ...tails,
  ...numbered,
  ...large,
  ...combinations,
  ...types,
];
