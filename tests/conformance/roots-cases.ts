/** Calls of every function over several roots. */
import { gone } from "../harness/tree.ts";
import { anyCounts, type Case, errorWith } from "./case.ts";
import { anything, type Outcome, one, refused } from "./roots-case.ts";

const entry = (name: string, kind: string, isDenied = false) => ({
  name,
  kind,
  size: anything,
  mtime: anything,
  non_accessible: isDenied,
});

const page = (path: string, entries: readonly unknown[]) => ({
  path,
  entries,
  page: 1,
  page_size: 100,
  total: entries.length,
  has_more: false,
});

const file = (path: string, content: string): Outcome => ({
  answer: {
    path,
    is_utf8: true,
    size: content.length,
    mode: 0o644,
    mtime: anything,
    content,
  },
});

const reading: Case[] = [
  one(
    "the roots are the entries of the top folder",
    "list-folder",
    {},
    {
      answer: page(
        ".",
        ["app", "docs", "lib"].map((name) => entry(name, "dir")),
      ),
    },
  ),
  one(
    "a root that lies in another is denied there",
    "list-folder",
    { path: "app" },
    {
      answer: page("app", [
        entry(".env", "file", true),
        entry(".gitignore", "file"),
        entry("a.txt", "file"),
        entry("library", "dir", true),
        entry("src", "dir"),
        entry("to-docs", "symlink"),
        entry("to-own", "symlink"),
        entry("x.log", "file"),
      ]),
    },
  ),
  one("a file of each root", "read-file", { path: "app/a.txt" }, file("app/a.txt", "needle in app\n")),
  one("of a read-only root", "read-file", { path: "docs/read.md" }, file("docs/read.md", "needle in docs\n")),
  one("of one in another", "read-file", { path: "lib/l.txt" }, file("lib/l.txt", "needle in lib\n")),
  one(
    "by way of the top",
    "read-file",
    { path: "app/../lib/l.txt" },
    file("app/../lib/l.txt", "needle in lib\n"),
  ),
  one("not by the root around it", "read-file", { path: "app/library/l.txt" }, refused("C211")),
  one("a glob of a root holds in that", "read-file", { path: "docs/private/p.txt" }, refused("C211")),
  one("a link from one root into another", "read-file", { path: "app/to-docs" }, refused("C215")),
  one("beside the roots", "read-file", { path: "unserved.txt" }, refused("C211")),
  one("above the top", "read-file", { path: "app/../../x" }, refused("C215")),
  one("the top as a file", "read-file", { path: "." }, refused("C210")),
  one("a root as a file", "read-file", { path: "docs" }, refused("C210")),
  one(
    "all roots, in the order of their names",
    "search",
    { query: "needle" },
    {
      answer: {
        content_matches: ["app/a.txt", "app/x.log", "docs/read.md", "docs/y.log", "lib/l.txt"].map(
          (path) => ({
            path,
            line: 1,
            column: 1,
            text: anything,
          }),
        ),
        path_matches: [],
        truncated: false,
      },
    },
  ),
  one(
    "ignore files hold in their own root",
    "search",
    { query: "needle", respect_gitignore: true },
    {
      answer: {
        content_matches: ["app/a.txt", "docs/read.md", "docs/y.log", "lib/l.txt"].map((path) => ({
          path,
          line: 1,
          column: 1,
          text: anything,
        })),
        ...anyCounts,
        index: "scan",
        path_matches: [],
        truncated: false,
      },
    },
  ),
  one(
    "globs begin with the root",
    "search",
    { query: "needle", include_globs: ["docs/**"] },
    {
      answer: {
        content_matches: ["docs/read.md", "docs/y.log"].map((path) => ({
          path,
          line: 1,
          column: 1,
          text: anything,
        })),
        path_matches: [],
        truncated: false,
      },
    },
  ),
  one(
    "one root",
    "search",
    { query: "needle", path: "lib" },
    {
      answer: {
        content_matches: [{ path: "lib/l.txt", line: 1, column: 1, text: "needle in lib" }],
        path_matches: [],
        truncated: false,
      },
    },
  ),
];

const create = (path: string, more: object = {}) => ({ files: [{ path, content: "new", ...more }] });
const created = (path: string) => ({ path, success: true, bytes_written: 3 });

/** Paths that must not be changed, with words of the refusal. */
const kept = [
  ["a name beside the roots", "new", 'a path in \\"app/\\"'],
  ["a root", "lib", "top folder"],
  ["in the read-only root", "docs/new", "read-only"],
] as const;

const writing: Case[] = [
  one("in a root", "create-file", create("app/new"), {
    answer: { results: [created("app/new")] },
    tree: { "application/new": "new" },
  }),
  one("in one that lies in another", "create-file", create("lib/d/new", { parents: true }), {
    answer: { results: [created("lib/d/new")] },
    tree: { "application/library/d/new": "new" },
  }),
  ...kept.map(([name, path, says]) =>
    one(`a file: ${name}`, "create-file", create(path), {
      answer: {
        results: [
          { path, success: false, bytes_written: 0, error: errorWith("C222", says.replaceAll("\\", "")) },
        ],
      },
    }),
  ),
  one(
    "an edit",
    "update-file",
    { files: [{ path: "lib/l.txt", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }] },
    {
      answer: anything,
      tree: { "application/library/l.txt": "" },
    },
  ),
  one(
    "an edit in the read-only root",
    "update-file",
    { files: [{ path: "docs/read.md", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }] },
    {
      answer: {
        results: [
          {
            path: "docs/read.md",
            success: false,
            applied: 0,
            new_line_count: 0,
            error: errorWith("C222", "read-only"),
          },
        ],
      },
    },
  ),
  one(
    "files of two roots",
    "delete-file",
    { paths: ["app/a.txt", "docs/read.md", "lib", "lib/l.txt"], recursive: true },
    {
      answer: {
        results: [
          { path: "app/a.txt", success: true, removed: true },
          { path: "docs/read.md", success: false, removed: false, error: errorWith("C222", "read-only") },
          { path: "lib", success: false, removed: false, error: errorWith("C222", "top folder") },
          { path: "lib/l.txt", success: true, removed: true },
        ],
      },
      tree: { "application/a.txt": gone, "application/library/l.txt": gone },
    },
  ),
];

export const rootsCases: readonly Case[] = [...reading, ...writing];
