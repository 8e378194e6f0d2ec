/** Calls that involve two roots. */
import { gone } from "../harness/tree.ts";
import { type Case, errorWith } from "./case.ts";
import { anything, one, refused } from "./roots-case.ts";

const moves = (from: string, to: string, more: object = {}) => ({ files: [{ from, to, ...more }] });
const movedOne = (from: string, to: string) => ({
  answer: { results: [{ from, to, success: true, moved: true }] },
});
const copiedOne = (from: string, to: string) => ({
  answer: { results: [{ from, to, success: true, copied: true }] },
});
const notMoved = (from: string, to: string, ...error: Parameters<typeof errorWith>) => ({
  answer: { results: [{ from, to, success: false, moved: false, error: errorWith(...error) }] },
});
const sourceTree = { "application/src/": gone, "application/src/b.txt": gone };

export const crossingCases: readonly Case[] = [
  one("a file", "move", moves("app/a.txt", "lib/d/a.txt"), {
    ...movedOne("app/a.txt", "lib/d/a.txt"),
    tree: { "application/a.txt": gone, "application/library/d/a.txt": "needle in app\n" },
  }),
  one("a file over another", "move", moves("app/a.txt", "lib/l.txt", { overwrite: true }), {
    ...movedOne("app/a.txt", "lib/l.txt"),
    tree: { "application/a.txt": gone, "application/library/l.txt": "needle in app\n" },
  }),
  one("a link", "move", moves("app/to-own", "lib/to-own"), {
    ...movedOne("app/to-own", "lib/to-own"),
    tree: { "application/to-own": gone, "application/library/to-own": { link: "a.txt" } },
  }),
  one("a folder", "move", moves("app/src", "lib/d/src"), {
    ...movedOne("app/src", "lib/d/src"),
    tree: { ...sourceTree, "application/library/d/src/b.txt": "b\n" },
  }),
  one(
    "a folder, to be seen only",
    "move",
    { ...moves("app/src", "lib/src"), dry_run: true },
    movedOne("app/src", "lib/src"),
  ),
  one(
    "out of the read-only root",
    "move",
    moves("docs/read.md", "app/read.md"),
    notMoved("docs/read.md", "app/read.md", "C222", "read-only"),
  ),
  one(
    "into the read-only root",
    "move",
    moves("app/a.txt", "docs/a.txt"),
    notMoved("app/a.txt", "docs/a.txt", "C222", "read-only"),
  ),
  one("a root", "move", moves("lib", "app/lib"), notMoved("lib", "app/lib", "C222", "top folder")),
  one(
    "to a name beside the roots",
    "move",
    moves("app/src", "new"),
    notMoved("app/src", "new", "C222", "top folder"),
  ),
  one(
    "a folder that holds a root",
    "move",
    moves("app", "lib/app"),
    notMoved("app", "lib/app", "C222", "top folder"),
  ),
  one("a file out of the read-only root", "copy", moves("docs/read.md", "lib/read.md"), {
    ...copiedOne("docs/read.md", "lib/read.md"),
    tree: { "application/library/read.md": "needle in docs\n" },
  }),
  one("a folder", "copy", moves("app/src", "lib/src"), {
    ...copiedOne("app/src", "lib/src"),
    tree: { "application/library/src/b.txt": "b\n" },
  }),
  one(
    "folders",
    "make-folder",
    { paths: ["app/n/m", "docs/n", "n"] },
    {
      answer: {
        results: [
          { path: "app/n/m", success: true, created: true },
          { path: "docs/n", success: false, created: false, error: errorWith("C222", "read-only") },
          { path: "n", success: false, created: false, error: errorWith("C222", "top folder") },
        ],
      },
      tree: { "application/n/m/": null },
    },
  ),
  one(
    "changes in two roots, a folder from one into the other among them",
    "transact",
    {
      changes: [
        { op: "create", path: "app/n", content: "n" },
        { op: "move", from: "app/src", to: "lib/src" },
        { op: "create", path: "lib/src/c.txt", content: "c" },
        { op: "move", from: "app/a.txt", to: "lib/a.txt" },
      ],
    },
    {
      answer: { committed: true, transaction: anything, results: anything },
      tree: {
        ...sourceTree,
        "application/a.txt": gone,
        "application/n": "n",
        "application/library/src/b.txt": "b\n",
        "application/library/src/c.txt": "c",
        "application/library/a.txt": "needle in app\n",
      },
    },
  ),
  one(
    "nothing of what one change cannot be made of",
    "transact",
    {
      changes: [
        { op: "move", from: "app/src", to: "lib/src" },
        { op: "create", path: "docs/n", content: "n" },
      ],
    },
    refused("C222", "read-only"),
  ),
  one(
    "a folder into another root after a change in it",
    "transact",
    {
      changes: [
        { op: "create", path: "app/src/c.txt", content: "c" },
        { op: "move", from: "app/src", to: "lib/src" },
      ],
    },
    refused("C210", "in a call of its own"),
  ),
  one(
    "files of two roots",
    "apply-patch",
    {
      patch:
        "*** Begin Patch\n*** Update File: lib/l.txt\n-needle in lib\n+l\n*** Add File: app/n\n+n\n*** End Patch\n",
    },
    { answer: anything, tree: { "application/library/l.txt": "l\n", "application/n": "n\n" } },
  ),
];
