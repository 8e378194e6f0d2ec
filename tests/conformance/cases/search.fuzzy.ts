/** Searches for paths that contain the characters of the query in order, with the best match first. */
import type { Tree } from "../../harness/tree.ts";
import { anyCounts, anyCursor, type Case, failure, stoppedByMatches, wrongTypes } from "../case.ts";

const id = "coder::search";

const files = (...paths: string[]): Tree => Object.fromEntries(paths.map((path) => [path, ""]));

const fuzzy = { fuzzy_paths: true, search_content: false };

interface Given {
  readonly tree: Tree;
  readonly payload: Readonly<Record<string, unknown>>;
}

const finds = (
  name: string,
  { tree, payload }: Given,
  paths: readonly string[],
  rest: object = {},
): Case => ({
  name: `fuzzy_paths: ${name}`,
  tree,
  call: { function: id, payload: { ...fuzzy, ...payload } },
  expect: {
    answer: {
      content_matches: [],
      path_matches: paths.map((path) => ({ kind: "file", path })),
      index: "scan",
      truncated: false,
      ...anyCounts,
      ...rest,
    },
  },
});

const ranks = (name: string, query: string, paths: readonly string[], others: readonly string[] = []): Case =>
  finds(name, { tree: files(...paths, ...others), payload: { query } }, paths);

const order: Case[] = [
  ranks("characters in order, with others between", "srvts", ["src/server.ts"], ["src/server.js", "st"]),
  ranks("no gap is better than one", "abc", ["xabc", "xaxbc", "xaxbxc"]),
  ranks("a long gap costs more", "ab", ["xaxbxx", "xaxxxb"]),
  ranks("the beginning of a word is better", "b", ["a-b", "axb"]),
  ranks("a capital begins a word", "gu", ["xGetUser", "xgetuser"]),
  ranks("a digit begins a word", "v2", ["src/vx2", "src/vx12"]),
  ranks("the beginning of a name is better than that of a word", "b", ["a/b", "a-b"]),
  ranks("the file's name is better than a folder's", "search", ["coder/search", "search/coder"]),
  ranks("a run is better than beginnings of words", "foo", ["foo", "f-o-o"]),
  ranks("the shorter one of two", "read", ["read.md", "read.more"]),
  ranks("the first one of two", "read", ["a/read", "b/read"]),
  ranks("case does not matter", "ReAdMe", ["README", "x/readme"]),
  ranks("a capital prefers a capital", "U", ["x/User", "x/user"]),
  ranks("case does not matter in other scripts", "жук", ["Жук.md"]),
  ranks("a slash is a character", "s/m", ["s/m", "src/main"], ["sm", "main/s"]),
  ranks(
    "words match each for itself, in any order",
    "test server",
    ["server.test.ts"],
    ["server.ts", "test.ts"],
  ),
  ranks("blanks around words count for nothing", "  a  ", ["a"], ["b"]),
  ranks("nothing but a blank is that", " ", ["a b"], ["ab"]),
  ranks("the whole path", "src/main.ts", ["src/main.ts"], ["src/main.rs"]),
  ranks("characters of several units", "😀", ["a😀"], ["a😁"]),
  ranks("no character may be missing", "abcd", [], ["abc", "acbd"]),
];

const tree = files("a/x.ts", "a/y.ts", "b/x.js", "x");

const others: Case[] = [
  finds("false is a match as without it", { tree, payload: { query: "a/y", fuzzy_paths: false } }, [
    "a/y.ts",
  ]),
  finds("includes", { tree, payload: { query: "x", include_globs: ["**/*.ts"] } }, ["a/x.ts"]),
  finds("excludes", { tree, payload: { query: "x", exclude_globs: ["x", "b/**"] } }, ["a/x.ts"]),
  finds("file types", { tree, payload: { query: "x", file_types: ["js"] } }, ["b/x.js"]),
  finds("a folder", { tree, payload: { query: "x", path: "b" } }, ["b/x.js"]),
  finds("the path above a folder counts", { tree, payload: { query: "bx", path: "b" } }, ["b/x.js"]),
  finds(
    "ignore files",
    { tree: { ...tree, ".ignore": "b\n" }, payload: { query: "x", respect_gitignore: true } },
    ["x", "a/x.ts"],
  ),
  finds(
    "what is denied is not found",
    { tree: files(".env", "secrets/env", "env"), payload: { query: "env" } },
    ["env"],
  ),
  finds(
    "links are not found",
    { tree: { "env.link": { link: "env" }, env: "" }, payload: { query: "env" } },
    ["env"],
  ),
  finds("ignore_case changes nothing", { tree: files("A"), payload: { query: "a", ignore_case: true } }, [
    "A",
  ]),
  finds(
    "the cap keeps the best",
    { tree: files("a/b", "b", "xb"), payload: { query: "b", max_matches: 1 } },
    ["b"],
    {
      truncated: true,
      ...stoppedByMatches,
    },
  ),
  finds("as many as the cap", { tree: files("a/b", "b"), payload: { query: "b", max_matches: 2 } }, [
    "b",
    "a/b",
  ]),
  finds(
    "contents are searched for the query as it is",
    { tree: { ab: "a-b\nab\n", axb: "" }, payload: { query: "ab", search_content: true } },
    ["ab", "axb"],
    { content_matches: [{ path: "ab", line: 2, column: 1, text: "ab" }] },
  ),
  {
    name: "fuzzy_paths: nothing without search_paths",
    tree: { ab: "ab" },
    call: { function: id, payload: { query: "ab", fuzzy_paths: true, search_paths: false } },
    expect: {
      answer: {
        content_matches: [{ path: "ab", line: 1, column: 1, text: "ab" }],
        path_matches: [],
        index: "scan",
        truncated: false,
        ...anyCounts,
      },
    },
  },
];

const nothingSkipped = { too_large: 0, binary: 0, unreadable: 0, long_lines: 0, excluded: 0 };

const pages: Case[] = [
  finds("a page of all", { tree, payload: { query: "x", max_bytes: 9000 } }, ["x", "a/x.ts", "b/x.js"], {
    searched: { files: 4, bytes: 0 },
    skipped: nothingSkipped,
  }),
  finds(
    "a page that max_matches ends",
    { tree, payload: { query: "x", max_bytes: 9000, max_matches: 2 } },
    ["x", "a/x.ts"],
    {
      truncated: true,
      next_cursor: anyCursor,
      searched: { files: 4, bytes: 0 },
      skipped: nothingSkipped,
      stopped_by: "max_matches",
    },
  ),
  finds("a page that max_bytes ends", { tree, payload: { query: "x", max_bytes: 0 } }, ["x"], {
    truncated: true,
    next_cursor: anyCursor,
    searched: { files: 4, bytes: 0 },
    skipped: nothingSkipped,
    stopped_by: "max_bytes",
  }),
  finds(
    "paths come before all contents",
    {
      tree: { x: "x\n", y: "x\n" },
      payload: { query: "x", max_matches: 1, max_bytes: 9000, search_content: true },
    },
    ["x"],
    {
      content_matches: [{ path: "x", line: 1, column: 1, text: "x" }],
      truncated: true,
      next_cursor: anyCursor,
      searched: { files: 2, bytes: 4 },
      skipped: nothingSkipped,
      stopped_by: "max_matches",
    },
  ),
  finds(
    "too many paths leave no room for contents",
    {
      tree: { x: "x\n", y: "x\n", xx: "" },
      payload: { query: "x", max_matches: 1, max_bytes: 9000, search_content: true },
    },
    ["x"],
    {
      truncated: true,
      next_cursor: anyCursor,
      searched: { files: 3, bytes: 0 },
      skipped: nothingSkipped,
      stopped_by: "max_matches",
    },
  ),
  finds(
    "deadline_ms does not cut a ranking",
    { tree, payload: { query: "x", deadline_ms: 0 } },
    ["x", "a/x.ts", "b/x.js"],
    {
      searched: { files: 4, bytes: 0 },
      skipped: nothingSkipped,
    },
  ),
];

const refuses = (name: string, payload: object, ...says: string[]): Case => ({
  name: `fuzzy_paths: ${name}`,
  tree,
  call: { function: id, payload: { ...fuzzy, ...payload } },
  expect: { error: failure("C210", ...says) },
});

export const cases: readonly Case[] = [
  ...order,
  ...others,
  ...pages,
  refuses("and regex", { query: "a", regex: true }, "fuzzy_paths", "regex"),
  refuses("an empty query", { query: "" }, "query"),
  refuses("a query of 257 characters", { query: "a".repeat(257) }, "257", "256"),
  finds("a query of 256 characters", { tree, payload: { query: "a".repeat(256) } }, []),
  ...wrongTypes({
    function: id,
    field: "fuzzy_paths",
    takes: ["null", "a boolean"],
    says: ["fuzzy_paths"],
    payload: (value) => ({ query: "x", fuzzy_paths: value }),
  }),
];
