import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { type Case, failure, Matcher, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::replace";

const name = new Matcher(
  "the name of a transaction",
  (value) => typeof value === "string" && /^[\da-f]{16}$/.test(value),
);
const anything = new Matcher("anything", () => true);

interface Replaced {
  readonly files: readonly { readonly path: string; readonly matches: number }[];
  readonly tree: Changes;
}

const replaces = (title: string, tree: Tree, payload: object, { files, tree: changed }: Replaced): Case => ({
  name: title,
  tree,
  call: { function: id, payload },
  expect: {
    answer: {
      committed: true,
      files,
      results: files.map(() => anything),
      ...(files.length > 0 && { transaction: name }),
    },
    tree: changed,
  },
});

const tree: Tree = { "a.txt": "one two\none\n", "sub/b.txt": "One\r\none\r\n", "c.md": "three\n" };

const refuses = (title: string, payload: object, code: ErrorCode, ...says: string[]): Case => ({
  name: title,
  tree,
  call: { function: id, payload },
  expect: { error: failure(code, ...says) },
});

const one = { query: "one", replacement: "1" };

export const cases: Case[] = [
  replaces("a literal in all files", tree, one, {
    files: [
      { path: "a.txt", matches: 2 },
      { path: "sub/b.txt", matches: 1 },
    ],
    tree: { "a.txt": "1 two\n1\n", "sub/b.txt": "One\r\n1\r\n" },
  }),
  replaces(
    "a literal as whole words",
    { "a.txt": "one done one_ (one) öne\none\n" },
    { ...one, whole_word: true },
    { files: [{ path: "a.txt", matches: 3 }], tree: { "a.txt": "1 done one_ (1) öne\n1\n" } },
  ),
  replaces(
    "a regex as whole words, with its groups",
    { "a.txt": "on one ones ON\r\n" },
    { query: "(o)n|one", replacement: "<$1>", regex: true, whole_word: true, ignore_case: true },
    { files: [{ path: "a.txt", matches: 3 }], tree: { "a.txt": "<o> <> ones <O>\r\n" } },
  ),
  replaces(
    "a literal in either case",
    tree,
    { ...one, ignore_case: true, path: "sub" },
    {
      files: [{ path: "sub/b.txt", matches: 2 }],
      tree: { "sub/b.txt": "1\r\n1\r\n" },
    },
  ),
  replaces(
    "a regex with groups",
    tree,
    { query: "(one) (two)", replacement: "$2 $1", regex: true },
    {
      files: [{ path: "a.txt", matches: 1 }],
      tree: { "a.txt": "two one\none\n" },
    },
  ),
  replaces(
    "a literal is no pattern, and its replacement no template",
    { "a.txt": "a.b\naxb\n" },
    { query: "a.b", replacement: "$0" },
    {
      files: [{ path: "a.txt", matches: 1 }],
      tree: { "a.txt": "$0\naxb\n" },
    },
  ),
  replaces(
    "one file",
    tree,
    { ...one, path: "a.txt" },
    {
      files: [{ path: "a.txt", matches: 2 }],
      tree: { "a.txt": "1 two\n1\n" },
    },
  ),
  replaces(
    "globs select files",
    tree,
    { query: "e", replacement: "E", include_globs: ["*.md"], exclude_globs: ["a*"] },
    {
      files: [{ path: "c.md", matches: 2 }],
      tree: { "c.md": "thrEE\n" },
    },
  ),
  replaces("no match changes nothing", tree, { query: "none", replacement: "" }, { files: [], tree: {} }),
  replaces(
    "the expected numbers are there",
    tree,
    { ...one, expect_files: 2, expect_matches: 3 },
    {
      files: [
        { path: "a.txt", matches: 2 },
        { path: "sub/b.txt", matches: 1 },
      ],
      tree: { "a.txt": "1 two\n1\n", "sub/b.txt": "One\r\n1\r\n" },
    },
  ),
  refuses(
    "another number of matches",
    { ...one, expect_matches: 2 },
    "C210",
    "expect_matches",
    "Nothing was changed",
  ),
  refuses(
    "another number of files",
    { ...one, expect_files: 1 },
    "C210",
    "expect_files",
    "Nothing was changed",
  ),
  refuses("an empty query", { query: "", replacement: "x" }, "C210", "query"),
  refuses("equal texts", { query: "one", replacement: "one" }, "C210", "equal"),
  refuses("a bad pattern", { query: "(", replacement: "x", regex: true }, "C210"),
  refuses("a folder that is missing", { ...one, path: "none" }, "C211"),
  refuses("a folder above", { ...one, path: ".." }, "C215"),
  refuses("a missing query", { replacement: "x" }, "C210", "query"),
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "query",
    takes: ["a string"],
    says: ["query"],
    payload: (query) => ({ ...one, query }),
  }),
];
