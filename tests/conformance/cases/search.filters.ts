import type { Tree, TreeEntry } from "../../harness/tree.ts";
import { anySize, type Case, type Failure, failure } from "../case.ts";

const id = "coder::search";

type Payload = Readonly<Record<string, unknown>>;
type Config = Readonly<Record<string, unknown>>;

/** Returns a tree with empty files at these paths. */
const files = (...paths: string[]): Tree => Object.fromEntries(paths.map((path) => [path, ""]));

/** A search that matches every path. Its answer is the list of the searched files. */
const everyPath = { query: ".", regex: true, search_content: false };

interface Given {
  readonly tree: Tree;
  readonly payload?: Payload;
  readonly config?: Config;
  /** Number of files and folders that the answer reports as excluded. */
  readonly excluded?: number;
  /** The files that were not searched, as an answer in the profile `agent` reports them. */
  readonly notSearched?: readonly object[];
}

const laterFields = ["respect_gitignore", "use_default_excludes", "file_types"];

function finds(
  name: string,
  { tree, payload = {}, config = {}, excluded, notSearched }: Given,
  paths: readonly string[],
): Case {
  const isExtended = config["profile"] === "agent" || laterFields.some((field) => payload[field] != null);
  return {
    name,
    config,
    tree,
    call: { function: id, payload: { ...everyPath, ...payload } },
    expect: {
      answer: {
        content_matches: [],
        path_matches: paths.map((path) => (isExtended ? { kind: "file", path } : { path })),
        truncated: false,
        ...(isExtended && {
          index: "scan",
          ...(notSearched && { not_searched: notSearched }),
          searched: { files: paths.length, bytes: 0 },
          skipped: { too_large: 0, binary: 0, unreadable: 0, long_lines: 0, excluded: excluded ?? anySize },
        }),
      },
    },
  };
}

const refuses = (name: string, payload: Payload, error: Failure): Case => ({
  name,
  tree: files("a"),
  call: { function: id, payload: { ...everyPath, ...payload } },
  expect: { error },
});

/** Makes a search of empty files that respects ignore files. The ignore files themselves are excluded. */
const respects = (
  name: string,
  ignoring: Readonly<Record<string, TreeEntry>>,
  paths: { readonly kept: readonly string[]; readonly ignored: readonly string[] },
  given: Omit<Given, "tree"> = {},
): Case =>
  finds(
    `respect_gitignore: ${name}`,
    {
      ...given,
      tree: { ...files(...paths.kept, ...paths.ignored), ...ignoring },
      payload: { respect_gitignore: true, exclude_globs: hideIgnoreFiles, ...given.payload },
    },
    [...paths.kept].sort(),
  );

const hideIgnoreFiles = ["**/.gitignore", "**/.ignore", "**/.rgignore", "**/.git/**"];

const ignoreFiles: Case[] = [
  respects(
    "a name, at any depth",
    { ".gitignore": "a\n" },
    { kept: ["b", "c/b"], ignored: ["a", "c/a", "d/a/x"] },
  ),
  respects(
    "a leading slash is the folder of the file",
    { "c/.gitignore": "/a\n" },
    { kept: ["a", "c/d/a"], ignored: ["c/a"] },
  ),
  respects("a slash in the middle, too", { ".gitignore": "c/a\n" }, { kept: ["d/c/a"], ignored: ["c/a"] }),
  respects("a trailing slash is for folders", { ".gitignore": "a/\n" }, { kept: ["a"], ignored: ["c/a/x"] }),
  respects(
    "a later line takes back",
    { ".gitignore": "*.log\n!keep.log\n" },
    { kept: ["keep.log"], ignored: ["a.log", "c/b.log"] },
  ),
  respects(
    "nothing is taken back in a folder that is ignored",
    { ".gitignore": "c/\n!c/a\n" },
    { kept: ["b"], ignored: ["c/a"] },
  ),
  respects(
    "a nearer file takes back",
    { ".gitignore": "a\n", "c/.gitignore": "!a\n" },
    { kept: ["c/a", "c/d/a"], ignored: ["a"] },
  ),
  respects(
    "stars stop at slashes, two do not",
    { ".gitignore": "c/*/a\nd/**/a\ne/**\n**/f\n" },
    {
      kept: ["c/a", "c/x/y/a", "d/b", "g/e/a"],
      ignored: ["c/x/a", "d/a", "d/x/y/a", "e/a", "e/x/b", "f", "g/f"],
    },
  ),
  respects(
    "classes",
    { ".gitignore": "[ab]\n[!c]x\n[0-9]y\n[]]\n" },
    { kept: ["c", "cx", "xy"], ignored: ["a", "b", "dx", "5y", "]"] },
  ),
  respects(
    "a class that is never closed is itself",
    { ".gitignore": "[a\n" },
    { kept: ["a"], ignored: ["[a"] },
  ),
  respects(
    "escaped",
    { ".gitignore": "\\#a\n\\!b\n\\*\nc\\ \n" },
    { kept: ["a", "b", "c"], ignored: ["#a", "!b", "*", "c "] },
  ),
  respects(
    "comments and blank lines",
    { ".gitignore": "#a\n\n  \nb\n" },
    { kept: ["a", "#a"], ignored: ["b"] },
  ),
  respects(
    "blanks at the end of a line, not at its beginning",
    { ".gitignore": "a  \t\n b\n" },
    { kept: ["b"], ignored: ["a", " b"] },
  ),
  respects(
    "CRLF and a byte order mark",
    { ".gitignore": "\ufeffa\r\nb\r\n" },
    { kept: ["c"], ignored: ["a", "b"] },
  ),
  respects("no newline at the end", { ".gitignore": "a\nb" }, { kept: ["c"], ignored: ["a", "b"] }),
  respects(
    "braces are alternatives, as in ripgrep",
    { ".gitignore": "*.{js,ts}\n" },
    { kept: ["a.py"], ignored: ["a.js", "a.ts"] },
  ),
  respects(
    "a question mark is a byte, as in ripgrep",
    { ".gitignore": "?\n" },
    { kept: ["é"], ignored: ["a"] },
  ),
  respects(
    "a line that is malformed has no effect",
    { ".gitignore": "[c-a]\n{a\nb\n" },
    { kept: ["a", "c"], ignored: ["b"] },
  ),
  respects(
    "nothing behind a line that is not UTF-8",
    { ".gitignore": Buffer.from("a\n\xff\nb\n", "latin1") },
    { kept: ["b"], ignored: ["a"] },
  ),
  respects(
    ".ignore is stronger than .gitignore",
    { ".gitignore": "a\n!b\n", ".ignore": "!a\nb\n" },
    { kept: ["a"], ignored: ["b"] },
  ),
  respects(
    ".rgignore is stronger than .ignore",
    { ".ignore": "a\n", ".rgignore": "!a\nb\n" },
    { kept: ["a"], ignored: ["b"] },
  ),
  respects(
    ".git/info/exclude, the weakest",
    { ".git/info/exclude": "a\nb\n", ".gitignore": "!b\n" },
    { kept: ["b"], ignored: ["a", "c/a"] },
  ),
  respects(
    "a path below goes by the files above it",
    { ".gitignore": "*.log\n/c/b\n" },
    { kept: ["c/a"], ignored: ["c/a.log", "c/b"] },
    { payload: { path: "c" } },
  ),
  respects(
    "an ignored folder is searched where path names it",
    { ".gitignore": "out/\n*.log\n" },
    { kept: ["out/a"], ignored: ["out/b.log"] },
    { payload: { path: "out" } },
  ),
  respects(
    "one that is denied counts for nothing",
    { ".gitignore": "a\n", "c/.git/info/exclude": "a\n" },
    { kept: ["a", "c/a"], ignored: [] },
    {
      config: { non_accessible_globs: ["**/.gitignore", "**/.git/**"] },
    },
  ),
  respects(
    "a link counts for nothing",
    { rules: "a\n", ".gitignore": { link: "rules" } },
    { kept: ["a"], ignored: [] },
    { payload: { exclude_globs: ["rules"] } },
  ),
  respects("a FIFO counts for nothing", { ".gitignore": { fifo: true } }, { kept: ["a"], ignored: [] }),
  respects(
    "one over 128 KiB counts for nothing",
    { ".gitignore": `a\n${"#".repeat(131_072)}` },
    { kept: ["a"], ignored: [] },
  ),
  finds(
    "respect_gitignore false",
    { tree: { ...files("a"), ".gitignore": "a\n" }, payload: { respect_gitignore: false } },
    [".gitignore", "a"],
  ),
  finds("ignore files count for nothing by default", { tree: { ...files("a"), ".gitignore": "a\n" } }, [
    ".gitignore",
    "a",
  ]),
  finds(
    "profile agent: ignore files count",
    {
      tree: { ...files("a"), ".gitignore": "a\n" },
      config: { profile: "agent" },
      excluded: 1,
      notSearched: [{ count: 1, names: ["a"], reason: "ignore_files" }],
    },
    [".gitignore"],
  ),
];

/** The counts of excluded files in answers. */
const counts: Case[] = [
  respects(
    "what is left out is counted, a folder as one",
    { ".gitignore": "*.log\nout/\n", "c/.ignore": "!b.log\n" },
    { kept: ["a", "c/b.log"], ignored: ["a.log", "b.log", "out/x", "out/y", "c/out/x", "c/d.log"] },
    { excluded: 5 },
  ),
  finds(
    "default excludes are counted, a folder as one, and a file",
    {
      tree: files("a", "dist/x", "dist/y", "b/dist/x", "z.min.js"),
      payload: { use_default_excludes: true },
      config: { default_exclude_globs: ["**/dist/**", "**/*.min.js"] },
      excluded: 3,
    },
    ["a"],
  ),
  finds(
    "what is denied is not counted, though it be ignored too",
    {
      tree: { ...files(".env", "secrets/x", "dist/.env", "a"), ".ignore": ".env\nsecrets\n" },
      payload: { respect_gitignore: true, exclude_globs: hideIgnoreFiles },
      excluded: 1,
    },
    ["a"],
  ),
  finds(
    "what globs and file types leave out is not counted: the call says so itself",
    {
      tree: files("a.ts", "b.py", "c.ts"),
      payload: { file_types: ["ts"], exclude_globs: ["c.ts"] },
      excluded: 0,
    },
    ["a.ts"],
  ),
];

const excluded = files(
  "a",
  ".git/config",
  "b/node_modules/x/index.js",
  "target/x",
  "b/dist/x",
  ".venv/x",
  "__pycache__/x",
  "distance/x",
);
const on = { use_default_excludes: true };

const excludes: Case[] = [
  finds("use_default_excludes", { tree: excluded, payload: on }, ["a", "distance/x"]),
  finds(
    "use_default_excludes keeps a file of such a name",
    { tree: files("dist", "x/target"), payload: on },
    ["dist", "x/target"],
  ),
  finds(
    "use_default_excludes: path names such a folder",
    { tree: files("dist/a", "dist/node_modules/b"), payload: { ...on, path: "dist" } },
    ["dist/a", "dist/node_modules/b"],
  ),
  finds(
    "use_default_excludes: path is inside such a folder",
    { tree: files("dist/a/target/b"), payload: { ...on, path: "dist/a" } },
    ["dist/a/target/b"],
  ),
  finds(
    "use_default_excludes: path is beside such a folder",
    { tree: files("a/dist/b", "a/c"), payload: { ...on, path: "a" } },
    ["a/c"],
  ),
  finds(
    "default_exclude_globs",
    {
      tree: files("dist/a", "gen/a", "x.min.js", "gen.js"),
      payload: on,
      config: { default_exclude_globs: ["gen/**", "**/*.min.js"] },
    },
    ["dist/a", "gen.js"],
  ),
  finds("no default excludes by default", { tree: files("dist/a") }, ["dist/a"]),
  finds(
    "profile agent: default excludes",
    {
      tree: files("dist/a", "b"),
      config: { profile: "agent" },
      excluded: 1,
      notSearched: [{ count: 1, names: ["dist/"], reason: "default_excludes" }],
    },
    ["b"],
  ),
  finds(
    "profile agent: use_default_excludes false",
    { tree: files("dist/a", "b"), config: { profile: "agent" }, payload: { use_default_excludes: false } },
    ["b", "dist/a"],
  ),
];

const named = files("a.ts", "b.tsx", "c.py", "d.rs", "Makefile", "e", "f/g.ts", "h.ts/i");

const types: Case[] = [
  finds("file_types: one", { tree: named, payload: { file_types: ["py"] } }, ["c.py"]),
  finds("file_types: several", { tree: named, payload: { file_types: ["ts", "rust"] } }, [
    "a.ts",
    "b.tsx",
    "d.rs",
    "f/g.ts",
  ]),
  finds("file_types: names without a dot", { tree: named, payload: { file_types: ["make"] } }, ["Makefile"]),
  finds("file_types: the same one twice", { tree: named, payload: { file_types: ["py", "py"] } }, ["c.py"]),
  finds("file_types: none is all", { tree: files("a", "b.c"), payload: { file_types: [] } }, ["a", "b.c"]),
  finds("file_types with globs", { tree: named, payload: { file_types: ["ts"], exclude_globs: ["f/**"] } }, [
    "a.ts",
    "b.tsx",
  ]),
  finds(
    "file_types with ignore files",
    { tree: { ...named, ".gitignore": "a.*\n" }, payload: { file_types: ["ts"], respect_gitignore: true } },
    ["b.tsx", "f/g.ts"],
  ),
  refuses("file_types: an unknown one", { file_types: ["klingon"] }, failure("C210", "klingon", "ripgrep")),
  refuses(
    "file_types: the name of something else",
    { file_types: ["constructor"] },
    failure("C210", "constructor"),
  ),
  refuses("file_types is no list", { file_types: "ts" }, failure("C210", "file_types")),
  refuses(
    "respect_gitignore is no boolean",
    { respect_gitignore: "yes" },
    failure("C210", "respect_gitignore"),
  ),
];

export const cases: readonly Case[] = [...ignoreFiles, ...counts, ...excludes, ...types];
