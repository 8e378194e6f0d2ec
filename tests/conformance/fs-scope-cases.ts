/** Reading calls with a scope, and invalid scopes. */
import type { Case } from "./case.ts";
import { file, outside, scopedCall, writable } from "./fs-scope-case.ts";
import { anything, type Outcome, refused } from "./roots-case.ts";

const found = (...paths: string[]): Outcome => ({
  answer: {
    content_matches: paths.map((path) => ({ path, line: 1, column: 1, text: anything })),
    path_matches: [],
    truncated: false,
  },
});

const reading: Case[] = [
  scopedCall("a path starts at the root", "read-file", { path: "a.txt" }, file("a.txt", "needle in app\n")),
  scopedCall("a link inside", "read-file", { path: "to-own" }, file("to-own", "needle in src\n")),
  scopedCall(
    "back to the root",
    "read-file",
    { path: "../app/a.txt" },
    file("../app/a.txt", "needle in app\n"),
  ),
  scopedCall("beside the root", "read-file", { path: "../top.txt" }, outside),
  scopedCall("in another folder", "read-file", { path: "../docs/d.txt" }, outside),
  scopedCall("by way of another folder", "read-file", { path: "../docs/../app/a.txt" }, outside),
  scopedCall("a link to another folder", "read-file", { path: "to-docs" }, outside),
  scopedCall("through such a link", "read-file", { path: "docs/d.txt" }, outside),
  scopedCall("a link to nothing outside is no other", "read-file", { path: "to-nothing" }, outside),
  scopedCall("what is missing outside is no other", "read-file", { path: "../docs/none" }, outside),
  scopedCall("nor what is denied there", "read-file", { path: "../docs/.env" }, outside),
  scopedCall("what is missing inside", "read-file", { path: "none" }, refused("C211")),
  scopedCall("what is denied inside", "read-file", { path: ".env" }, refused("C211")),
  scopedCall("above the base", "read-file", { path: "../../x" }, refused("C215")),
  scopedCall("an absolute path", "read-file", { path: "<base>/app/a.txt" }, refused("C210", "absolute")),
  scopedCall(
    "of several paths each is judged",
    "read-file",
    { paths: ["a.txt", "../top.txt"] },
    {
      answer: {
        results: [anything, { path: "../top.txt", success: false, error: anything }],
      },
    },
  ),
  scopedCall("search starts at the root", "search", { query: "needle" }, found("app/a.txt", "app/src/b.txt")),
  scopedCall("in a folder of it", "search", { query: "needle", path: "src" }, found("app/src/b.txt")),
  scopedCall("in another folder", "search", { query: "needle", path: "../docs" }, outside),
  scopedCall("in the base", "search", { query: "needle", path: ".." }, outside),
  scopedCall(
    "globs are compared with paths from the base",
    "search",
    { query: "needle", include_globs: ["app/src/**"] },
    found("app/src/b.txt"),
  ),
  scopedCall(
    "a folder that is granted",
    "search",
    { query: "needle", path: "src", fs_scope: { root: "app", grants: [{ path: "app/src" }] } },
    found("app/src/b.txt"),
  ),
  scopedCall(
    "not what is around it",
    "search",
    { query: "needle", fs_scope: { root: "app", grants: [{ path: "app/src" }] } },
    outside,
  ),
  scopedCall(
    "the root is listed",
    "list-folder",
    { path: "src" },
    {
      answer: {
        path: "src",
        entries: [{ name: "b.txt", kind: "file", size: 14, mtime: anything, non_accessible: false }],
        page: 1,
        page_size: 100,
        total: 1,
        has_more: false,
      },
    },
  ),
  scopedCall("the folder around it is not", "list-folder", { path: ".." }, outside),
  scopedCall("a link to another folder is not", "list-folder", { path: "docs" }, outside),
  scopedCall("nor is a tree of that", "tree", { path: "docs" }, outside),
  scopedCall("a tree of the base", "tree", { path: ".." }, outside),
  scopedCall(
    "a tree starts at the root",
    "tree",
    { max_depth: 0 },
    {
      answer: {
        root: {
          name: "app",
          path: "app",
          kind: "dir",
          size: anything,
          mtime: anything,
          non_accessible: false,
          truncated: anything,
        },
      },
    },
  ),
];

const malformed: Case[] = [
  scopedCall("a text", "read-file", { path: "a.txt", fs_scope: "app" }, refused("C210", "fs_scope")),
  scopedCall(
    "a root that is none",
    "read-file",
    { path: "a", fs_scope: { root: 7 } },
    refused("C210", "root"),
  ),
  scopedCall("grants that are none", "tree", { fs_scope: { grants: "app" } }, refused("C210", "grants")),
  scopedCall("a grant without path", "tree", { fs_scope: { grants: [{}] } }, refused("C210", "path")),
  scopedCall("a root that is missing", "tree", { fs_scope: { root: "none" } }, refused("C211")),
  scopedCall("a root that is a file", "tree", { fs_scope: { root: "top.txt" } }, refused("C210", "folder")),
  scopedCall("a root above the base", "tree", { fs_scope: { root: ".." } }, refused("C215")),
  scopedCall("a root beside the boundary", "tree", { fs_scope: { root: "docs", boundary: "app" } }, outside),
  scopedCall("a grant beside it", "tree", { fs_scope: { root: "app", grants: [{ path: "docs" }] } }, outside),
  scopedCall(
    "a grant that leads out",
    "tree",
    { fs_scope: { root: "app", grants: [{ path: "app/docs" }] } },
    outside,
  ),
  scopedCall(
    "null is none",
    "read-file",
    { path: "top.txt", fs_scope: null },
    file("top.txt", "needle at the top\n"),
  ),
  scopedCall(
    "empty is all",
    "read-file",
    { path: "top.txt", fs_scope: {} },
    file("top.txt", "needle at the top\n"),
  ),
  ...["commit", "info", "config-status"].map((id) =>
    scopedCall("takes none", id, { plan: "x" }, refused("C210", "fs_scope")),
  ),
];

const granted = scopedCall(
  "what may only be read is read",
  "read-file",
  { path: "a.txt", fs_scope: writable },
  file("a.txt", "needle in app\n"),
);

export const fsScopeCases: readonly Case[] = [...reading, granted, ...malformed];
